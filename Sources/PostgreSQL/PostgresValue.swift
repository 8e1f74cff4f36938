package import Foundation

/// A value of a type of PostgreSQL's, in the binary form in which it is sent.
package enum PostgresValue: Sendable, Hashable {
  /// NULL of a type.
  case null(PostgresOID)
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case text(String)
  case bytes(Data)
  case uuid(UUID)
  /// An instant, as microseconds since 1970 in UTC.
  case instant(Int64)
  /// Digits with a sign and a point.
  case numeric(String)
  /// A list of values of one type.
  case array(PostgresOID, [PostgresValue])

  /// Microseconds between the beginnings of 1970 and of 2000, from which PostgreSQL counts.
  package static let epoch: Int64 = 946_684_800_000_000

  /// The type.
  package var type: PostgresOID {
    switch self {
    case .null(let type): type
    case .bool: .bool
    case .int: .int8
    case .double: .float8
    case .text: .text
    case .bytes: .bytea
    case .uuid: .uuid
    case .instant: .timestamptz
    case .numeric: .numeric
    case .array(let element, _): element.list
    }
  }

  package var isNull: Bool { if case .null = self { true } else { false } }
}

/// The numbers of types, which never change for those that PostgreSQL itself has.
package enum PostgresOID: UInt32, Sendable, Hashable {
  case unknown = 0
  case bool = 16
  case bytea = 17
  case int8 = 20
  case int4 = 23
  case text = 25
  case float8 = 701
  case timestamptz = 1184
  case numeric = 1700
  case uuid = 2950
  case bools = 1000
  case byteas = 1001
  case int8s = 1016
  case float8s = 1022
  case texts = 1009
  case uuids = 2951
  case timestamptzs = 1185
  case numerics = 1231

  /// The type of lists of values of this one.
  package var list: PostgresOID {
    switch self {
    case .bool: .bools
    case .bytea: .byteas
    case .int8: .int8s
    case .text: .texts
    case .float8: .float8s
    case .timestamptz: .timestamptzs
    case .numeric: .numerics
    case .uuid: .uuids
    case .unknown, .int4, .bools, .byteas, .int8s, .float8s, .texts, .uuids, .timestamptzs, .numerics: .unknown
    }
  }
}

/// Binary forms of values, one behind the other: parameters, and rows of a binary COPY.
package struct PostgresBytes: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package var count: Int { bytes.count }

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  package mutating func append<T: FixedWidthInteger>(_ number: T) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func append(contentsOf other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

  /// A field of a COPY's row: its length and bytes.
  package mutating func appendField(_ value: PostgresValue) {
    guard !value.isNull else { return append(Int32(-1)) }
    appendSized { $0.append(value) }
  }

  package mutating func appendNull() { append(Int32(-1)) }

  package mutating func appendField(_ number: Int64) {
    append(Int32(8))
    append(number)
  }

  package mutating func appendField(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      append(Int32(truncatingIfNeeded: utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  package mutating func appendField(_ text: UnsafeRawBufferPointer) {
    append(Int32(truncatingIfNeeded: text.count))
    bytes.append(contentsOf: text)
  }

  /// The bytes of a value that isn't NULL.
  package mutating func append(_ value: PostgresValue) {
    switch value {
    case .null: break
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number): append(number)
    case .double(let number): append(number.bitPattern)
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .bytes(let data): bytes.append(contentsOf: data)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    case .instant(let microseconds): append(microseconds &- PostgresValue.epoch)
    case .numeric(let text): PostgresNumeric.append(text, to: &self)
    case .array(let type, let list):
      append(Int32(list.isEmpty ? 0 : 1))
      append(Int32(list.contains(where: \.isNull) ? 1 : 0))
      append(type.rawValue)
      guard !list.isEmpty else { return }
      append(Int32(truncatingIfNeeded: list.count))
      append(Int32(1))
      for element in list { appendField(element) }
    }
  }

  private mutating func appendSized(_ body: (inout PostgresBytes) -> Void) {
    let place = bytes.count
    append(Int32(0))
    body(&self)
    let size = Int32(truncatingIfNeeded: bytes.count - place - 4).bigEndian
    withUnsafeBytes(of: size) { for (index, byte) in $0.enumerated() { bytes[place + index] = byte } }
  }

}

/// The binary form of `numeric`: digits to the base 10,000.
///
///     number of digits, weight of the first, sign, digits behind the point (decimal), digits: 16 bits each
enum PostgresNumeric {
  private static let negative: UInt16 = 0x4000
  private static let notANumber: UInt16 = 0xC000

  /// - Parameter text: digits with a sign and a point; anything else becomes NaN.
  static func append(_ text: String, to bytes: inout PostgresBytes) {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
    let whole = rest[..<point]
    let fraction = point < rest.endIndex ? rest[(point + 1)...] : []
    guard !rest.isEmpty, whole.allSatisfy({ $0 &- 0x30 < 10 }), fraction.allSatisfy({ $0 &- 0x30 < 10 }) else {
      for part in [0, 0, notANumber, 0] as [UInt16] { bytes.append(part) }
      return
    }
    let padding = (4 - whole.count % 4) % 4
    let digits =
      Array(repeating: UInt8(ascii: "0"), count: padding) + whole + fraction
      + Array(repeating: UInt8(ascii: "0"), count: (4 - fraction.count % 4) % 4)
    var groups = stride(from: 0, to: digits.count, by: 4).map { start in
      digits[start..<start + 4].reduce(UInt16(0)) { $0 * 10 + UInt16($1 - 0x30) }
    }[...]
    var weight = (padding + whole.count) / 4 - 1
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    while groups.last == 0 { groups.removeLast() }
    bytes.append(UInt16(groups.count))
    bytes.append(Int16(groups.isEmpty ? 0 : weight))
    bytes.append(isNegative && !groups.isEmpty ? negative : 0)
    bytes.append(UInt16(fraction.count))
    for group in groups { bytes.append(group) }
  }

  /// The digits with a sign and a point; nil for NaN and infinities.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    func part(_ index: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
    }
    guard bytes.count >= 8 else { return nil }
    let (count, weight, sign) = (Int(part(0)), Int(Int16(bitPattern: part(1))), part(2))
    let scale = Int(part(3))
    guard sign == 0 || sign == negative, bytes.count >= 8 + 2 * count else { return nil }
    func group(_ place: Int) -> String {
      let text = 0..<count ~= place ? String(part(4 + place)) : "0"
      return String(repeating: "0", count: 4 - text.count) + text
    }
    var whole = ""
    if weight >= 0 { for place in 0...weight { whole += group(place) } }
    whole = String(whole.drop { $0 == "0" })
    var text = (sign == negative ? "-" : "") + (whole.isEmpty ? "0" : whole)
    if scale > 0 {
      var fraction = ""
      var place = weight + 1
      while fraction.count < scale {
        fraction += group(place)
        place += 1
      }
      text += "." + fraction.prefix(scale)
    }
    return text
  }
}
