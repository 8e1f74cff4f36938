import Glibc
package import Importing
import PostgreSQL

/// What a PostgreSQL database holds at one moment: a transaction that only reads, on a level where it sees one snapshot. Rows come
/// one by one, so memory is bounded by the longest of them.
package final class PostgresSnapshot: SourceSnapshot {
  private let connection: PostgresConnection
  private let selection: String
  private let types: [PostgresType]
  private var row: PostgresRow?
  /// The columns of its rows.
  package let columns: [String]

  /// Connects, and begins.
  /// - Parameters:
  ///   - string: as libpq takes it.
  ///   - password: nil where none is needed.
  package init(
    _ string: String, password: String?, _ selection: IncrementalSource.Selection, _ watch: ExtractionWatch
  ) throws {
    do {
      connection = try PostgresConnection(string, password: password) { try watch.check() }
    } catch let error as PostgresError {
      throw ExtractionError.noServer(reason: error.message)
    }
    switch selection {
    case .table(let name):
      let parts = name.split(separator: ".", maxSplits: 1).map { Self.quoted(String($0)) }
      self.selection = "SELECT * FROM " + parts.joined(separator: ".")
    // A comment at its end ends with the line.
    case .query(let query): self.selection = IncrementalSource.Selection.statement(query) + "\n"
    }
    let connection = connection
    let query = self.selection
    let described = try Self.translating {
      try connection.run(
        """
        BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
        SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL IntervalStyle = 'iso_8601';
        SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1
        """)
      return try connection.describe(query)
    }
    guard described.parameters == 0 else { throw ExtractionError.badSelection(reason: "the query has parameters") }
    guard !described.columns.isEmpty else { throw ExtractionError.badSelection(reason: "the query isn't a SELECT") }
    columns = described.columns.map(\.name)
    types = described.columns.map { PostgresType($0.type) }
  }

  /// Connects, and begins.
  package static let open: OpenPostgres = { string, password, selection, watch in
    try PostgresSnapshot(string, password: password, selection, watch)
  }

  /// Begins to read rows.
  package func select(_ range: CursorRange, by cursor: Int) throws {
    row = nil
    let name = Self.quoted(columns[cursor])
    let rows = "SELECT * FROM (\(selection)) AS lade_rows WHERE"
    guard let cast = types[cursor].cast else {
      throw ExtractionError.badSelection(
        reason: "“\(columns[cursor])” can't be a cursor: it is neither a number nor a date, time, text or UUID")
    }
    let order = types[cursor].isText ? " COLLATE \"C\"" : ""
    switch range {
    case .unordered(let bound):
      var isWanted = "\(name) IS NULL"
      switch (types[cursor], bound) {
      case (.day, _?), (.time, _?), (.zoned, _?): isWanted += " OR \(name) = '-infinity'"
      case (.text, let bound?) where bound.isTime: isWanted += " OR \(name)\(order) < '0-'"
      default: break
      }
      try begin("\(rows) \(isWanted)", nil)
    case .from(nil): try begin("\(rows) \(name) IS NOT NULL ORDER BY \(name)\(order)", nil)
    case .from(let bound?):
      var text = bound.description
      if case (.integer, .real(let number)) = (types[cursor], bound) {
        text = String(Int64(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max))
      }
      try begin("\(rows) \(name)\(order) >= $1::\(cast) ORDER BY \(name)\(order)", text)
    }
  }

  /// Moves to the next row.
  package func next() throws -> Bool {
    row = try Self.translating { try connection.nextRow() }
    return row != nil
  }

  /// A value of the row, if it can be a cursor's.
  package func value(_ column: Int) -> CursorValue? {
    guard let text = row?.text(column) else { return nil }
    switch types[column] {
    case .integer: return Int64(text).map { .integer($0) }
    case .real: return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
    case .numeric:
      // Never more than the number itself, or rows with it would be passed.
      return Int64(text).map { .integer($0) } ?? Double(text).flatMap { $0.isFinite ? .real($0.nextDown) : nil }
    case .zoned: return .text(PostgresType.utc(text))
    default: return .text(text)
    }
  }

  /// Writes the row.
  package func copy(into writer: ExtractWriter) throws {
    guard let row else { return }
    for column in columns.indices {
      try row.withText(column) { bytes in
        guard let bytes else { return try writer.setNull(column) }
        try put(bytes, of: types[column], at: column, into: writer)
      }
    }
    try writer.endRow()
  }

  /// Nothing: the transaction saw one snapshot.
  package func finish() throws {}

  private func put(
    _ bytes: UnsafeBufferPointer<CChar>, of type: PostgresType, at column: Int, into writer: ExtractWriter
  ) throws {
    switch type {
    case .boolean:
      return try writer.set(column, to: bytes.first == CChar(bitPattern: UInt8(ascii: "t")) ? 1 : 0 as Int64)
    case .integer:
      if let start = bytes.baseAddress, let number = Int64(String(cString: start)) {
        return try writer.set(column, to: number)
      }
    case .real:
      if let start = bytes.baseAddress, let number = Double(String(cString: start)), number.isFinite {
        return try writer.set(column, to: number)
      }
    case .bytes:
      return try PostgresByteText.withBytes(of: bytes) { data in
        guard let data else { throw ExtractionError.failed(reason: "there is no memory") }
        try writer.set(column, toBytes: data)
      }
    case .zoned:
      if let start = bytes.baseAddress {
        return try PostgresType.utc(String(cString: start)).utf8CString.withUnsafeBufferPointer {
          try writer.set(column, to: UnsafeBufferPointer(rebasing: $0.dropLast()))
        }
      }
    case .numeric, .day, .time, .text, .uuid, .other: break
    }
    try writer.set(column, to: bytes)
  }

  private func begin(_ query: String, _ parameter: String?) throws {
    try Self.translating { try connection.beginText(query, parameter) }
  }

  private static func translating<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PostgresError {
      // A syntax error or an access rule, something that isn't there, a write.
      if error.state.hasPrefix("42") || error.state.hasPrefix("3F") || error.state == "25006" {
        throw ExtractionError.badSelection(reason: error.message)
      }
      throw ExtractionError.failed(reason: error.message)
    }
  }

  private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// The types of PostgreSQL that become something else than a text, or that a cursor can have.
enum PostgresType {
  case boolean, integer, real, numeric, bytes
  case day, time
  /// A time with a zone.
  case zoned
  case text, uuid, other

  /// - Parameter type: its number, which never changes for those that PostgreSQL itself has.
  init(_ type: UInt32) {
    switch type {
    case 16: self = .boolean
    case 20, 21, 23: self = .integer
    case 700, 701: self = .real
    case 1700: self = .numeric
    case 17: self = .bytes
    case 1082: self = .day
    case 1114: self = .time
    case 1184: self = .zoned
    case 19, 25, 1042, 1043: self = .text
    case 2950: self = .uuid
    default: self = .other
    }
  }

  var isText: Bool { if case .text = self { true } else { false } }

  /// The type of the value that a cursor is compared with; nil for what can't be one.
  var cast: String? {
    switch self {
    case .integer: "bigint"
    case .real: "float8"
    case .numeric: "numeric"
    case .day: "date"
    case .time: "timestamp"
    case .zoned: "timestamptz"
    case .text: "text"
    case .uuid: "uuid"
    case .boolean, .bytes, .other: nil
    }
  }

  /// A time in UTC as ISO 8601 writes it.
  static func utc(_ text: String) -> String { text.hasSuffix("+00") ? String(text.dropLast(3)) + "Z" : text }
}
