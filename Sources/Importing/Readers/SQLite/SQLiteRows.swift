import CSQLite

/// The rows that a statement gives, one after another.
final class SQLiteRows {
  let columns: [String]
  private let database: SQLiteDatabase
  private let statement: OpaquePointer

  init(_ database: SQLiteDatabase, _ statement: OpaquePointer) {
    self.database = database
    self.statement = statement
    columns = (0..<sqlite3_column_count(statement)).map { index in
      sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
    }
  }

  deinit { sqlite3_finalize(statement) }

  /// Goes to the next row; false if there is none.
  func next() throws(ReaderError) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW:
      database.beginRow()
      return true
    case SQLITE_DONE: return false
    default: throw .database(database.failure)
    }
  }

  func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

  func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

  func bytes(_ column: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    append(column, to: &bytes)
    return bytes
  }

  /// Appends a value as text: numbers as JSON writes them, blobs as Base64. Says what it is.
  @discardableResult
  func append(_ column: Int, to output: inout [UInt8]) -> Cell.Kind {
    let column = Int32(column)
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER:
      output.append(contentsOf: String(sqlite3_column_int64(statement, column)).utf8)
      return .number
    case SQLITE_FLOAT:
      let number = sqlite3_column_double(statement, column)
      output.append(contentsOf: number.description.utf8)
      return number.isFinite ? .number : .text
    case SQLITE_TEXT:
      // In this order: the text is made first, and then its bytes are counted.
      if let text = sqlite3_column_text(statement, column) {
        output.append(
          contentsOf: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
      }
      return .text
    case SQLITE_BLOB:
      if let blob = sqlite3_column_blob(statement, column) {
        let count = Int(sqlite3_column_bytes(statement, column))
        Base64.append(UnsafeRawBufferPointer(start: blob, count: count), to: &output)
      }
      return .text
    default: return .null
    }
  }
}
