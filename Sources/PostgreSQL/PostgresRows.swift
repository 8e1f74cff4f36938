import CPostgreSQL
package import Foundation

/// Rows that were received, in binary form or as text, as they were asked for.
package final class PostgresRows {
  private let result: OpaquePointer
  /// The number of rows.
  package let count: Int

  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  /// The number of rows that the statement has changed.
  package var changed: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

  package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) != 0 }

  /// The bytes of a value that isn't NULL. They live as long as this.
  package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)), count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  /// A `bigint`, or an `integer`.
  package func int(_ row: Int, _ column: Int) -> Int64 {
    let bytes = bytes(row, column)
    if bytes.count == 4 { return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))) }
    return bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
  }

  package func optionalInt(_ row: Int, _ column: Int) -> Int64? { isNull(row, column) ? nil : int(row, column) }

  package func double(_ row: Int, _ column: Int) -> Double { Double(bitPattern: UInt64(bitPattern: int(row, column))) }

  package func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }

  package func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

  package func optionalText(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : text(row, column)
  }

  package func data(_ row: Int, _ column: Int) -> Data { Data(bytes(row, column)) }

  package func uuid(_ row: Int, _ column: Int) -> UUID {
    let bytes = bytes(row, column)
    return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : UUID(uuid: Self.nothing)
  }

  /// A `timestamptz`, as microseconds since 1970.
  package func instant(_ row: Int, _ column: Int) -> Int64 { int(row, column) &+ PostgresValue.epoch }

  /// A `numeric`'s digits; nil for NaN.
  package func numeric(_ row: Int, _ column: Int) -> String? { PostgresNumeric.text(bytes(row, column)) }

  private static let nothing: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

/// A row that was received as text.
package final class PostgresRow {
  private let result: OpaquePointer

  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  /// The number of its columns.
  package var count: Int { Int(PQnfields(result)) }

  /// Lends a value's text, which ends with a zero; nil for null.
  package func withText<R>(_ column: Int, _ body: (UnsafeBufferPointer<CChar>?) throws -> R) rethrows -> R {
    let column = Int32(column)
    guard PQgetisnull(result, 0, column) == 0, let start = PQgetvalue(result, 0, column) else { return try body(nil) }
    return try body(UnsafeBufferPointer(start: start, count: Int(PQgetlength(result, 0, column))))
  }

  /// A value's text; nil for null.
  package func text(_ column: Int) -> String? {
    withText(column) { $0.map { String(decoding: $0.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self) } }
  }
}

/// The bytes of a `bytea` in its hexadecimal form.
package enum PostgresByteText {
  /// Lends them; nil when there is no memory.
  package static func withBytes<R>(
    of text: UnsafeBufferPointer<CChar>, _ body: (UnsafeRawBufferPointer?) throws -> R
  ) rethrows -> R {
    guard let start = text.baseAddress else { return try body(nil) }
    var count = 0
    let data = start.withMemoryRebound(to: UInt8.self, capacity: text.count + 1) { PQunescapeBytea($0, &count) }
    guard let data else { return try body(nil) }
    defer { PQfreemem(data) }
    return try body(UnsafeRawBufferPointer(start: data, count: count))
  }
}
