/// What options of an import are called wherever somebody writes them: in a recipe of the configuration beside its own keys, as
/// options of a ticket or a submission, and, those of reading, on the command line of `ladectl model infer`.
package enum ImportOptionKey: String, CaseIterable, Sendable {
  // Of the whole.
  case atomic
  case dryRun = "dry_run"
  case allowEmpty = "allow_empty"
  case skipKnownFiles = "skip_known_files"
  case rejectLimit = "reject_limit"
  case rejectShare = "reject_share"
  case batchSize = "batch_size"
  // Of reading.
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
  // Of the way from records to objects.
  case properties, nulls, trim, filter
  case ignoredColumns = "ignored_columns"
  case unknownColumns = "unknown_columns"

  /// Whether only the configuration may say it: they bound what a file may cost, and whoever hands in a file doesn't choose that.
  package var isOperators: Bool { self == .maximumExpansion || self == .maximumUnpackedBytes }

  /// Whether it says how a file is read: what can be said before there is a model.
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
