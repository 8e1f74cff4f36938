/// A store that Core Data wrote. A job imports it as a feed of its entities, each by a query (``CoreDataSelects``).
struct CoreDataFormat: FileFormat {
  let name = FileFormatName.coreData
  let title = "Core Data"
  let endings: [String] = []
  let isTabular = true
  let rejectFormat = FileFormatName.ndjson
  let rejectEnding = ".ndjson"
  let signatures = [SQLiteFormat.signature]
  let options: [FormatOption] = []

  /// Whether a database with these tables is a Core Data store.
  static func isStore(_ tables: [String]) -> Bool { tables.contains("Z_METADATA") && tables.contains("Z_PRIMARYKEY") }

  var access: FormatAccess {
    .file(
      FileAccess(
        open: { (descriptor, log, _, _) throws(ReaderError) in
          _ = try CoreDataStore(descriptor: descriptor, log: log)
          throw .database(.wholeStore)
        },
        packed: .database(.packed), foreign: .database(.notACoreDataStore)))
  }
}

extension FileFormatName {
  package static let coreData = FileFormatName("core-data")
}
