/// The keys of an import's options, wherever they are written: in a recipe of the configuration, as options of a ticket or a
/// submission, and, those of reading, on the command line of `ladectl model infer`.
///
/// The keys of reading aren't listed here: every registered file format adds its own (``FileFormats/options``).
package struct ImportOptionKey: RawRepresentable, CaseIterable, Sendable, Hashable {
  package let rawValue: String

  /// The key with this name; nil if there is none.
  package init?(rawValue: String) {
    guard Self.ofImport.contains(rawValue) || FileFormats.standard.option(rawValue) != nil else { return nil }
    self.init(rawValue)
  }

  private init(_ name: String) { rawValue = name }

  // Of the whole.
  package static let atomic = ImportOptionKey("atomic")
  package static let dryRun = ImportOptionKey("dry_run")
  package static let allowEmpty = ImportOptionKey("allow_empty")
  package static let skipKnownFiles = ImportOptionKey("skip_known_files")
  package static let lineage = ImportOptionKey("lineage")
  package static let rejectLimit = ImportOptionKey("reject_limit")
  package static let rejectShare = ImportOptionKey("reject_share")
  package static let batchSize = ImportOptionKey("batch_size")
  package static let keepFailed = ImportOptionKey("keep_failed")
  package static let set = ImportOptionKey("set")
  package static let from = ImportOptionKey("from")
  private static let ofWhole = [
    atomic, dryRun, allowEmpty, skipKnownFiles, lineage, rejectLimit, rejectShare, batchSize, keepFailed, set, from,
  ]

  // Of the way from records to objects.
  package static let key = ImportOptionKey("key")
  package static let properties = ImportOptionKey("properties")
  package static let nulls = ImportOptionKey("nulls")
  package static let trim = ImportOptionKey("trim")
  package static let filter = ImportOptionKey("filter")
  package static let ignoredColumns = ImportOptionKey("ignored_columns")
  package static let schema = ImportOptionKey("schema")
  private static let ofMapping = [key, properties, nulls, trim, filter, ignoredColumns, schema]

  private static let ofImport = Set((ofWhole + ofMapping).map(\.rawValue))

  /// All keys: of the whole, of reading, of mapping.
  package static var allCases: [ImportOptionKey] {
    ofWhole + FileFormats.standard.options.map { ImportOptionKey($0.key) } + ofMapping
  }

  /// Whether only the configuration may give it (``FormatOption/isOperators``).
  package var isOperators: Bool {
    self == .keepFailed || self == .from || FileFormats.standard.option(rawValue)?.isOperators ?? false
  }

  /// Whether it says how a file is read, which can be said before there is a model.
  package var isOfReading: Bool { !Self.ofImport.contains(rawValue) }
}
