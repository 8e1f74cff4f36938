package import Foundation
import Yams

/// A value of a JSON or YAML document, to compare and to walk through.
package indirect enum DocumentValue: Decodable, Equatable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([DocumentValue])
  case object([String: DocumentValue])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([DocumentValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: DocumentValue].self))
    }
  }

  package init(json: Data) throws { self = try JSONDecoder().decode(DocumentValue.self, from: json) }

  package init(yaml: String) throws { self.init(try Yams.load(yaml: yaml)) }

  private init(_ value: Any?) {
    switch value {
    case let flag as Bool: self = .bool(flag)
    case let number as Int: self = .int(Int64(number))
    case let number as Double: self = .double(number)
    case let text as String: self = .string(text)
    case let list as [Any]: self = .array(list.map(DocumentValue.init))
    case let map as [String: Any]: self = .object(map.mapValues(DocumentValue.init))
    default: self = .null
    }
  }

  /// What an object has under a name; null where it has nothing, or isn't an object.
  package subscript(name: String) -> DocumentValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  package var members: [String: DocumentValue] { if case .object(let members) = self { members } else { [:] } }
  package var elements: [DocumentValue] { if case .array(let elements) = self { elements } else { [] } }
  package var text: String? { if case .string(let text) = self { text } else { nil } }
}
