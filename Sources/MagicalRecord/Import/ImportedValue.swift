public import Foundation

/// A JSON value to import. A number without a fraction is an integer, any other a decimal.
public enum ImportedValue: Sendable, Hashable {
  /// `null`: the key is there and has no value.
  case null
  /// A boolean.
  case bool(Bool)
  /// A whole number of 64 bits.
  case int(Int64)
  /// Any other number of up to 38 digits.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// A list.
  case array([ImportedValue])
  /// Values by key.
  case object([String: ImportedValue])

  /// Reads JSON, also with comments and trailing commas as JSON5 has them.
  /// - Throws: `JSONDecoder`'s error for malformed text.
  public init(json: Data) throws {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    self = try decoder.decode(ImportedValue.self, from: json)
  }

  /// The value at a key path of object keys; for a list, the values in each element. nil where a key doesn't exist. Source: `value(forKeyPath:)` of Foundation's collections, which MagicalRecord looks data up by.
  public func value(forKeyPath path: String) -> ImportedValue? {
    value(along: path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...])
  }

  func value(along keys: ArraySlice<String>) -> ImportedValue? {
    guard let key = keys.first else { return self }
    switch self {
    case .object(let values): return values[key]?.value(along: keys.dropFirst())
    case .array(let elements):
      let found = elements.compactMap { $0.value(along: keys) }
      return found.isEmpty ? nil : .array(found)
    case .null, .bool, .int, .decimal, .string: return nil
    }
  }

  /// Whether it is `null`.
  public var isNull: Bool { self == .null }
}

extension ImportedValue: Codable {
  /// Reads any value.
  public init(from decoder: any Decoder) throws {
    if let list = try? decoder.unkeyedContainer() {
      self = .array(try ImportedValue.elements(list))
    } else if let values = try? decoder.container(keyedBy: Name.self) {
      var object: [String: ImportedValue] = [:]
      for key in values.allKeys { object[key.stringValue] = try values.decode(ImportedValue.self, forKey: key) }
      self = .object(object)
    } else {
      self = try ImportedValue.scalar(decoder.singleValueContainer())
    }
  }

  // A decoder reveals a value's kind only by refusing the others.
  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> ImportedValue {
    if container.decodeNil() { return .null }
    if let bool = try? container.decode(Bool.self) { return .bool(bool) }
    if let int = try? container.decode(Int64.self) { return .int(int) }
    if let decimal = try? container.decode(Decimal.self) { return .decimal(decimal) }
    return .string(try container.decode(String.self))
  }

  private static func elements(_ container: any UnkeyedDecodingContainer) throws -> [ImportedValue] {
    var container = container
    var elements: [ImportedValue] = []
    while !container.isAtEnd { elements.append(try container.decode(ImportedValue.self)) }
    return elements
  }

  /// Writes the value as JSON.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements): try elements.encode(to: encoder)
    case .object(let values): try values.encode(to: encoder)
    case .null, .bool, .int, .decimal, .string:
      var container = encoder.singleValueContainer()
      switch self {
      case .bool(let bool): try container.encode(bool)
      case .int(let int): try container.encode(int)
      case .decimal(let decimal): try container.encode(decimal)
      case .string(let string): try container.encode(string)
      case .null, .array, .object: try container.encodeNil()
      }
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension ImportedValue: ExpressibleByDictionaryLiteral {
  /// Keys are strings.
  public typealias Key = String
  /// Values are of any kind.
  public typealias Value = ImportedValue
  /// Values by key; of equal keys the last one is used.
  public init(dictionaryLiteral elements: (String, ImportedValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}

extension ImportedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A list.
  public init(arrayLiteral elements: ImportedValue...) { self = .array(elements) }
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A number, as it would be written.
  public init(floatLiteral value: Double) { self = Decimal(string: "\(value)").map(ImportedValue.decimal) ?? .null }
}
