/// JSON that is written member by member, for what is written thousands of times a second: the general encoder makes a tree
/// of boxes first, and takes five times as long. What it writes is what ``WireFormat/encode(_:pretty:sorted:)`` would.
struct JSONObjectText {
  private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func member(_ key: some CodingKey, _ value: String) {
    begin(key)
    write(value)
  }

  mutating func member(_ key: some CodingKey, _ value: some BinaryInteger) {
    begin(key)
    bytes.append(contentsOf: String(value).utf8)
  }

  mutating func member(_ key: some CodingKey, _ value: Bool) {
    begin(key)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// A value that is JSON already.
  mutating func member(_ key: some CodingKey, json: some Sequence<UInt8>) {
    begin(key)
    bytes.append(contentsOf: json)
  }

  mutating func end() { bytes.append(UInt8(ascii: "}")) }

  private mutating func begin(_ key: some CodingKey) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    write(key.stringValue)
    bytes.append(UInt8(ascii: ":"))
  }

  /// A string with the escapes that RFC 8259 asks for.
  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
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

  private static let digits = Array("0123456789abcdef".utf8)
}
