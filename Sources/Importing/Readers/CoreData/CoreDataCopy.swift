import CSQLite
import CoreDataStores
import Foundation

/// Puts the values that a Core Data store has in files beside it into a copy of it, which then is complete in itself.
///
/// For a program that runs with the rights of the files' owner, such as `ladectl`.
package enum CoreDataCopy {
  /// Whether there are such files beside a database.
  package static func hasFiles(besideStore path: String) -> Bool {
    folder(path).size > 0
  }

  private static func folder(_ path: String) -> ExternalFolder {
    ExternalFolder(ofCoreDataStoreAt: URL(fileURLWithPath: path))
  }

  /// Takes the values into a copy. A value whose file can't be read keeps its reference, so that an import names the file.
  /// - Parameters:
  ///   - copy: the path of a whole copy that is open nowhere.
  ///   - source: the path of the store.
  /// - Returns: whether the copy could be written.
  package static func complete(copy: String, from source: String) -> Bool {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(copy, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nil)
    guard let connection = opened else { return false }
    defer { sqlite3_close(connection) }
    guard code == SQLITE_OK else { return false }
    let files = CopiedFiles(folder(source))
    return withExtendedLifetime(files) {
      guard lade_set_triggers(connection, 0) == SQLITE_OK, files.register(on: connection),
        run(
          "PRAGMA trusted_schema = OFF; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
          connection)
      else { return false }
      for (table, column) in columns(connection) {
        let (table, column) = (SQLiteDatabase.quoted(table), SQLiteDatabase.quoted(column))
        // A reference is 1 byte, a UUID and a zero.
        let isDone = run(
          "UPDATE \(table) SET \(column) = ifnull(\(CopiedFiles.function)(\(column)), \(column)) "
            + "WHERE typeof(\(column)) = 'blob' AND length(\(column)) = 38 AND substr(\(column), 1, 1) = x'02'",
          connection)
        guard isDone else { return false }
      }
      return true
    }
  }

  private static func run(_ sql: String, _ connection: OpaquePointer) -> Bool {
    sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
  }

  /// The columns of objects that may hold bytes.
  private static func columns(_ connection: OpaquePointer) -> [(table: String, column: String)] {
    let sql =
      "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' "
      + "AND c.type = 'BLOB' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'Z_ENT')"
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
    defer { sqlite3_finalize(statement) }
    var found: [(table: String, column: String)] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let table = sqlite3_column_text(statement, 0), let column = sqlite3_column_text(statement, 1) {
        found.append((String(cString: table), String(cString: column)))
      }
    }
    return found
  }
}

/// The function that reads a file into a row's own form: 1 and the bytes.
private final class CopiedFiles {
  static let function = "lade_core_data_row"
  private let folder: ExternalFolder

  init(_ folder: ExternalFolder) { self.folder = folder }

  func register(on connection: OpaquePointer) -> Bool {
    let result = sqlite3_create_function_v2(
      connection, Self.function, 1, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
      { context, _, arguments in
        guard let context, let files = sqlite3_user_data(context), let argument = arguments?[0] else { return }
        let start = sqlite3_value_blob(argument)
        let stored = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))
        Unmanaged<CopiedFiles>.fromOpaque(files).takeUnretainedValue().answer(stored, context)
      }, nil, nil, nil)
    return result == SQLITE_OK
  }

  private func answer(_ stored: UnsafeRawBufferPointer, _ context: OpaquePointer) {
    // What can't be read stays as it is, and the import says so.
    guard let name = CoreDataValue.fileName(in: stored), let data = try? folder.mapped(name) else {
      return sqlite3_result_null(context)
    }
    (Data([1]) + data).withUnsafeBytes {
      sqlite3_result_blob64(
        context, $0.baseAddress, sqlite3_uint64($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
  }
}
