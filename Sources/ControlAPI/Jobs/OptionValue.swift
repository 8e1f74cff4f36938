/// A value of one of a job's options.
package enum OptionValue: Codable, Sendable, Hashable {
  case string(String)
  case int(Int)
  case bool(Bool)
  case strings([String])

  /// Reads whichever of the four it is.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .int(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([String].self) {
      self = .strings(value)
    } else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an option is a string, an integer, true or false, or a list of strings")
    }
  }

  /// Writes it as plain JSON.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .bool(let value): try container.encode(value)
    case .strings(let value): try container.encode(value)
    }
  }
}
