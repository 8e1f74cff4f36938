/// The rows of a binary COPY.
package struct PostgresCopy {
  private static let start: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  /// Rows are sent in parts of about this size.
  private static let part = 1 << 16

  private let send: ([UInt8]) throws -> Void
  private var bytes = PostgresBytes()

  init(_ send: @escaping ([UInt8]) throws -> Void) {
    self.send = send
    bytes.append(contentsOf: Self.start)
  }

  /// Adds a row, whose fields `fill` appends.
  package mutating func row(fields: Int, _ fill: (inout PostgresBytes) throws -> Void) throws {
    bytes.append(Int16(truncatingIfNeeded: fields))
    try fill(&bytes)
    if bytes.count >= Self.part { try flush() }
  }

  mutating func finish() throws {
    bytes.append(Int16(-1))
    try flush()
  }

  private mutating func flush() throws {
    try send(bytes.bytes)
    bytes.removeAll()
  }
}
