/// What can be said of an import: by a recipe of the configuration beside its own keys, and by the options of a ticket or a
/// submission.
enum ImportOptionKey: String, CaseIterable {
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
  var isOperators: Bool { self == .maximumExpansion || self == .maximumUnpackedBytes }
}
