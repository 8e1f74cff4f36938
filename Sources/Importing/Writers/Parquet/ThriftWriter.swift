/// Writes structures of Thrift's compact protocol.
struct ThriftWriter {
  private(set) var bytes: [UInt8] = []
  /// The number of the last field of each structure that is open.
  private var fields: [Int] = []

  mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func zigzag(_ value: Int64) { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }

  /// A structure, with the fields that `body` writes.
  mutating func structure(_ body: (inout ThriftWriter) -> Void) {
    fields.append(0)
    body(&self)
    fields.removeLast()
    bytes.append(0)
  }

  private mutating func head(_ field: Int, _ type: ThriftReader.FieldType) {
    let last = fields.last ?? 0
    if field > last, field - last <= 15 {
      bytes.append(UInt8(field - last) << 4 | type.rawValue)
    } else {
      bytes.append(type.rawValue)
      zigzag(Int64(field))
    }
    if !fields.isEmpty { fields[fields.count - 1] = field }
  }

  mutating func i32(_ field: Int, _ value: Int) {
    head(field, .i32)
    zigzag(Int64(value))
  }

  mutating func i64(_ field: Int, _ value: Int64) {
    head(field, .i64)
    zigzag(value)
  }

  mutating func i8(_ field: Int, _ value: Int8) {
    head(field, .byte)
    bytes.append(UInt8(bitPattern: value))
  }

  mutating func flag(_ field: Int, _ value: Bool) { head(field, value ? .yes : .no) }

  mutating func binary(_ field: Int, _ value: some Collection<UInt8>) {
    head(field, .binary)
    varint(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func structure(_ field: Int, _ body: (inout ThriftWriter) -> Void) {
    head(field, .structure)
    structure(body)
  }

  /// The head of a list, whose elements follow.
  mutating func list(_ field: Int, of type: ThriftReader.FieldType, count: Int) {
    head(field, .list)
    if count < 15 {
      bytes.append(UInt8(count) << 4 | type.rawValue)
    } else {
      bytes.append(0xF0 | type.rawValue)
      varint(UInt64(count))
    }
  }

  /// Elements of a list, or structures that were written before.
  mutating func raw(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
  mutating func text(element: String) {
    varint(UInt64(element.utf8.count))
    bytes.append(contentsOf: element.utf8)
  }
}
