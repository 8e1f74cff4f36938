import FoundationEssentials

/// An encoder that writes JSON straight into bytes, for lists of thousands of jobs: Foundation's encoder builds a tree of
/// boxes first. It writes what ``WireFormat/encode(_:pretty:sorted:)`` writes on one line.
///
/// A container's end is written when the value it belongs to has been encoded, so a type must finish one nested container
/// before it begins the next. The compiler's Codable code does, and all types of the wire do.
final class WireEncoder: Encoder {
  private var bytes: [UInt8] = []
  /// The closing brackets of the containers that are open, innermost last.
  private var open: [UInt8] = []
  /// Whether the innermost container has a member already.
  private var hasMember: [Bool] = []
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// A value as JSON.
  static func bytes(of value: some Encodable, capacity: Int = 1024) throws -> [UInt8] {
    let writer = WireEncoder()
    writer.bytes.reserveCapacity(capacity)
    try writer.write(value)
    return writer.bytes
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    begin(UInt8(ascii: "{"), UInt8(ascii: "}"))
    return KeyedEncodingContainer(Members<Key>(writer: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    begin(UInt8(ascii: "["), UInt8(ascii: "]"))
    return Elements(writer: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: self) }

  private func begin(_ opening: UInt8, _ closing: UInt8) {
    bytes.append(opening)
    open.append(closing)
    hasMember.append(false)
  }

  fileprivate func separate() {
    if hasMember[hasMember.count - 1] { bytes.append(UInt8(ascii: ",")) } else { hasMember[hasMember.count - 1] = true }
  }

  fileprivate func write(key: some CodingKey) {
    separate()
    write(key.stringValue)
    bytes.append(UInt8(ascii: ":"))
  }

  fileprivate func write<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let text as String: write(text)
    case let number as Int64: write(integer: number)
    case let number as Int: write(integer: number)
    case let date as Date: write(WireFormat.text(of: date))
    case let flag as Bool: write(flag: flag)
    case let number as Double: try write(double: number)
    default:
      let depth = open.count
      let start = bytes.count
      try value.encode(to: self)
      while open.count > depth {
        bytes.append(open.removeLast())
        hasMember.removeLast()
      }
      if bytes.count == start { bytes.append(contentsOf: "{}".utf8) }
    }
  }

  fileprivate func write(flag: Bool) { bytes.append(contentsOf: (flag ? "true" : "false").utf8) }

  fileprivate func write(integer number: some BinaryInteger) { bytes.append(contentsOf: String(number).utf8) }

  /// Numbers have several spellings; Foundation's is the one of the rest of the interface.
  private func write(double number: Double) throws { bytes.append(contentsOf: try WireFormat.encode(number)) }

  fileprivate func writeNull() { bytes.append(contentsOf: "null".utf8) }

  /// A string with the escapes that RFC 8259 requires.
  fileprivate func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if !text.utf8.contains(where: Self.isEscaped) {
      bytes.append(contentsOf: text.utf8)
      bytes.append(UInt8(ascii: "\""))
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Self.digits[Int(byte >> 4)])
        bytes.append(Self.digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: WireEncoder
    let codingPath: [any CodingKey] = []

    mutating func encodeNil(forKey key: Key) {
      writer.write(key: key)
      writer.writeNull()
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      writer.write(key: key)
      try writer.write(value)
    }

    // What most members are, without looking for their types.

    mutating func encode(_ value: String, forKey key: Key) throws {
      writer.write(key: key)
      writer.write(value)
    }

    mutating func encode(_ value: Int, forKey key: Key) throws {
      writer.write(key: key)
      writer.write(integer: value)
    }

    mutating func encode(_ value: Int64, forKey key: Key) throws {
      writer.write(key: key)
      writer.write(integer: value)
    }

    mutating func encode(_ value: Bool, forKey key: Key) throws {
      writer.write(key: key)
      writer.write(flag: value)
    }

    mutating func nestedContainer<Other: CodingKey>(
      keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
      writer.write(key: key)
      return writer.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      writer.write(key: key)
      return writer.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { writer }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
      writer.write(key: key)
      return writer
    }
  }

  private struct Elements: UnkeyedEncodingContainer {
    let writer: WireEncoder
    let codingPath: [any CodingKey] = []
    private(set) var count = 0

    init(writer: WireEncoder) { self.writer = writer }

    private mutating func next() {
      writer.separate()
      count += 1
    }

    mutating func encodeNil() {
      next()
      writer.writeNull()
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
      next()
      try writer.write(value)
    }

    mutating func nestedContainer<Other: CodingKey>(keyedBy type: Other.Type) -> KeyedEncodingContainer<Other> {
      next()
      return writer.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      next()
      return writer.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
      next()
      return writer
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let writer: WireEncoder
    let codingPath: [any CodingKey] = []

    mutating func encodeNil() { writer.writeNull() }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
      // A type whose encode(to:) is this call would come back here for ever; the rest of the integers end here.
      if let number = value as? any BinaryInteger { writer.write(integer: number) } else { try writer.write(value) }
    }
  }
}

extension WireFormat {
  /// A value as JSON on one line, written as fast as can be: for lists of jobs.
  package static func bytes(of value: some Encodable) throws -> [UInt8] { try WireEncoder.bytes(of: value) }
}
