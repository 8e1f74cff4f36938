/// A SQLite database: one of its tables, or a query.
struct SQLiteFormat: FileFormat {
  let name = FileFormatName.sqlite
  let title = "SQLite"
  let endings = ["sqlite", "sqlite3", "db", "sqlitedb"]
  let isTabular = true
  let rejectFormat = FileFormatName.ndjson
  let rejectEnding = ".ndjson"
  let signatures = [Self.signature]

  /// What a database begins with.
  static let signature = Array("SQLite format 3\0".utf8)
  let options: [FormatOption] = [Self.tableOption, Self.queryOption]

  static let table = FormatField<String?>(optional: "table")
  static let query = FormatField<String?>(optional: "query")
  /// The path of a Core Data store whose queries may read files beside it. No option: an import of the store sets it.
  static let coreDataStore = FormatField<String?>(optional: "core_data_store")

  /// What is checked of the cursor of an extract's rows. No option, and never stored.
  static let cursorCheck = FormatField<CursorCheck?>(optional: "cursor_check")

  // Each replaces the other, which a recipe may have given before, unless both are given together.

  private static let tableOption = FormatOption(
    "table", changing: table, help: "the table whose rows are the records"
  ) { (value, given, options) throws(ReaderError) in
    guard let name = try value.text() else { return }
    options.table = name
    if !given.contains("query") { options.query = nil }
  }

  private static let queryOption = FormatOption(
    "query", changing: query, help: "the SELECT whose rows are the records"
  ) { (value, given, options) throws(ReaderError) in
    guard let statement = try value.text(orEmpty: true) else { return }
    options.query = statement
    if !given.contains("table") { options.table = nil }
  }

  var access: FormatAccess {
    .file(
      FileAccess(
        open: { (descriptor, log, options, position) throws(ReaderError) in
          try SQLiteReader(descriptor: descriptor, log: log, options: options, from: position)
        },
        packed: .database(.packed), foreign: .database(.notADatabase)))
  }

  /// Refuses a table and a query at once, and texts that are neither.
  func validate(_ options: ReaderOptions) throws(ReaderError) {
    if options.table != nil, options.query != nil {
      throw .invalidOption(name: "query", reason: "there is a table as well; give one of them")
    }
    for (name, text) in [("table", options.table), ("query", options.query)] {
      guard let text else { continue }
      guard (1...(64 << 10)).contains(text.utf8.count), !text.utf8.contains(0) else {
        throw .invalidOption(name: name, reason: "it is empty, longer than 64 KiB, or has a zero byte in it")
      }
    }
  }
}

extension FileFormatName {
  package static let sqlite = FileFormatName("sqlite")
}

extension ReaderOptions {
  /// SQLite: the table whose rows are the records; nil: the only one, unless there is a query.
  package var table: String? {
    get { self[SQLiteFormat.table] }
    set { self[SQLiteFormat.table] = newValue }
  }

  /// SQLite: the path of a Core Data store, for a query of ours that reads values in files beside it.
  var coreDataStore: String? {
    get { self[SQLiteFormat.coreDataStore] }
    set { self[SQLiteFormat.coreDataStore] = newValue }
  }

  /// SQLite: what is checked of the cursor of an extract's rows.
  var cursorCheck: CursorCheck? {
    get { self[SQLiteFormat.cursorCheck] }
    set { self[SQLiteFormat.cursorCheck] = newValue }
  }

  /// SQLite: a SELECT whose rows are the records. It may only read, and use functions that do nothing but compute.
  package var query: String? {
    get { self[SQLiteFormat.query] }
    set { self[SQLiteFormat.query] = newValue }
  }
}
