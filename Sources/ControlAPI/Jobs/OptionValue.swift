/// A value of one of a job's options.
package indirect enum OptionValue: Codable, Sendable, Hashable {
  case string(String)
  case int(Int)
  case bool(Bool)
  case list([OptionValue])
  case map([String: OptionValue])

  /// Reads whichever of them it is.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .int(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([OptionValue].self) {
      self = .list(value)
    } else if let value = try? container.decode([String: OptionValue].self) {
      self = .map(value)
    } else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription:
          "an option is a string, an integer, true or false, a list of such values, or an object of them")
    }
  }

  /// Writes it as plain JSON.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .bool(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .map(let value): try container.encode(value)
    }
  }
}
