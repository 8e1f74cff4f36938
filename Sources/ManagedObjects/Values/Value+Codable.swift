import Foundation

extension Value: Codable {
  private enum CodingKeys: String, CodingKey {
    case type
    case text
  }

  /// Reads what ``encode(to:)`` wrote.
  /// - Throws: `DecodingError` for an unknown type, or text that doesn't fit it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    let text = try container.decode(String.self, forKey: .text)
    guard let value = Self.value(type, text) else {
      throw DecodingError.dataCorruptedError(
        forKey: .text, in: container, debugDescription: "“\(text)” isn't a value of type \(type)")
    }
    self = value
  }

  /// Writes an attribute's value losslessly, as its type and its text.
  /// - Throws: `EncodingError` for the values of relationships, which mean nothing outside their store.
  public func encode(to encoder: any Encoder) throws {
    guard let (type, text) = typeAndText else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "a relationship's value can't be encoded"))
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(type, forKey: .type)
    try container.encode(text, forKey: .text)
  }

  /// The type's name and the value's text; nil for a relationship's value.
  var typeAndText: (String, String)? {
    switch self {
    case .null: return ("null", "")
    case .bool(let value): return ("boolean", value ? "1" : "0")
    case .int(let value): return ("integer", String(value))
    case .double(let value): return ("double", value.description)
    case .decimal(let value): return ("decimal", value.description)
    case .string(let value): return ("string", value)
    case .date(let value): return ("date", value.timeIntervalSinceReferenceDate.description)
    case .data(let value): return ("data", value.base64EncodedString())
    case .uuid(let value): return ("uuid", value.uuidString)
    case .uri(let value): return ("uri", value.absoluteString)
    default: return nil
    }
  }

  private static func value(_ type: String, _ text: String) -> Value? {
    switch type {
    case "null": return .null
    case "boolean": return .bool(text == "1")
    case "integer": return Int64(text).map(Value.int)
    case "double": return Double(text).map(Value.double)
    case "decimal": return text == "NaN" ? .decimal(.nan) : Decimal(string: text).map(Value.decimal)
    case "string": return .string(text)
    case "date": return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case "data": return Data(base64Encoded: text).map(Value.data)
    case "uuid": return UUID(uuidString: text).map(Value.uuid)
    case "uri": return URL(string: text).map(Value.uri)
    default: return nil
    }
  }
}
