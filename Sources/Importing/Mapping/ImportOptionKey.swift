/// The names of import options, wherever they are written: in a recipe of the configuration beside its own keys, as options of
/// a ticket or a submission, and, for those of reading, on the command line of `ladectl model infer`.
package enum ImportOptionKey: String, CaseIterable, Sendable {
  // The import as a whole.
  case atomic
  case dryRun = "dry_run"
  case allowEmpty = "allow_empty"
  case skipKnownFiles = "skip_known_files"
  case rejectLimit = "reject_limit"
  case rejectShare = "reject_share"
  case batchSize = "batch_size"
  // Reading.
  case format, member, encoding
  case fallbackEncoding = "fallback_encoding"
  case maximumExpansion = "maximum_expansion"
  case maximumUnpackedBytes = "maximum_unpacked_bytes"
  case delimiter, quote, escape
  case tsvEscapes = "tsv_escapes"
  case comment
  case skipLines = "skip_lines"
  case header, columns, fields
  case fieldUnit = "field_unit"
  case fieldTrim = "field_trim"
  case shortLines = "short_lines"
  case root, record, table, query
  // From records to objects.
  case properties, nulls, trim, filter
  case ignoredColumns = "ignored_columns"
  case unknownColumns = "unknown_columns"

  /// Whether only the configuration may set it: it bounds what a file may cost, which the submitter doesn't choose.
  package var isOperators: Bool { self == .maximumExpansion || self == .maximumUnpackedBytes }

  /// Whether it concerns the reading of a file, and so can be set before there is a model.
  package var isOfReading: Bool {
    switch self {
    case .format, .member, .encoding, .fallbackEncoding, .maximumExpansion, .maximumUnpackedBytes, .delimiter, .quote,
      .escape, .tsvEscapes, .comment, .skipLines, .header, .columns, .fields, .fieldUnit, .fieldTrim, .shortLines,
      .root,
      .record, .table, .query:
      true
    case .atomic, .dryRun, .allowEmpty, .skipKnownFiles, .rejectLimit, .rejectShare, .batchSize, .properties, .nulls,
      .trim, .filter, .ignoredColumns, .unknownColumns:
      false
    }
  }
}
