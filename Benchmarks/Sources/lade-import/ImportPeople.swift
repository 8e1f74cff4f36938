/// Imports the standard load's CSV into a new SQLite store: entity `Person`, `id` its primary key, an index
/// on `email`, WAL.
///
/// - Returns: how many rows were inserted.
func importPeople(database: String, csv: String) async throws -> Int {
  throw NotConnected()
}

struct NotConnected: Error, CustomStringConvertible {
  var description: String { "the import isn't connected to the library yet" }
}
