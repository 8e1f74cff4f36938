/// The value of one option of a job: the same whether YAML, JSON or a command line says it.
package indirect enum OptionValue: Codable, Sendable, Hashable {
  case string(String)
  case int(Int)
  case double(Double)
  case bool(Bool)
  case list([OptionValue])
  case map([String: OptionValue])

  /// Reads a value of any of these types.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Only trying shows which type is there: a decoder throws, and not always a DecodingError, if it is another one.
    // An error further inside is rethrown, with its place.
    func value<T: Decodable>(_ type: T.Type) throws -> T? {
      do {
        return try container.decode(type)
      } catch let error as DecodingError where error.depth > decoder.codingPath.count {
        throw error
      } catch {
        return nil
      }
    }
    if let flag = try value(Bool.self) {
      self = .bool(flag)
    } else if let number = try value(Int.self) {
      self = .int(number)
    } else if let number = try value(Double.self) {
      self = .double(number)
    } else if let text = try value(String.self) {
      self = .string(text)
    } else if let list = try value([OptionValue].self) {
      self = .list(list)
    } else if let map = try value([String: OptionValue].self) {
      self = .map(map)
    } else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription:
          "an option is a string, a number, true or false, a list of such values, or an object of them")
    }
  }

  /// Writes it as plain JSON.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .bool(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .map(let value): try container.encode(value)
    }
  }
}

extension DecodingError {
  /// How many keys lead to the error.
  fileprivate var depth: Int {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath.count
    @unknown default: 0
    }
  }
}
