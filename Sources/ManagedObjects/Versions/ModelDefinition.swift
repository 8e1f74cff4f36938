import Foundation
import Synchronization

/// The definitions of a model as plain values. A store keeps them, so that it can be opened with a later version of the model
/// without the file of the earlier one.
package struct ModelDefinition: Codable, Sendable, Hashable {
  package var entities: [EntityDefinition]
  package var configurations: [String: [String]] = [:]
  package var fetchRequestTemplates: [FetchRequestTemplateDefinition] = []
  package var versionIdentifier: String?

  /// The definitions of `model`.
  package init(_ model: ManagedObjectModel) {
    entities = model.entities.map(\.definition)
    configurations = model.configurations
    fetchRequestTemplates = model.fetchRequestTemplates.values.sorted { $0.name < $1.name }
    versionIdentifier = model.versionIdentifier
  }

  /// Reads a text of ``text()``, also one that was written before a definition had all its present fields: those get the
  /// values of a new definition.
  /// - Throws: ``MigrationError/unreadableModel(store:reason:)``.
  package init(text: String, store: String) throws {
    do {
      let written = try JSONDecoder().decode(JSONNode.self, from: Data(text.utf8))
      let whole = try written.completed(with: Self.blanks())
      self = try JSONDecoder().decode(ModelDefinition.self, from: JSONEncoder().encode(whole))
    } catch {
      throw MigrationError.unreadableModel(store: store, reason: "\(error)")
    }
  }

  /// The definitions as JSON. Equal definitions have equal texts.
  package func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// The models that were made of definitions, by their texts: a model is never freed, and a program may open stores that were
  /// made by the same one again and again.
  private static let models = Mutex<[String: ManagedObjectModel]>([:])

  /// The model of the definitions, one for all equal ones. Its objects have no classes of their own.
  package func model() throws -> ManagedObjectModel {
    let text = try text()
    if let known = Self.models.withLock({ $0[text] }) { return known }
    let model = try ManagedObjectModel(
      entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates,
      versionIdentifier: versionIdentifier)
    return Self.models.withLock { models in
      if let known = models[text] { return known }
      models[text] = model
      return model
    }
  }

  /// A definition without content for each key that holds a list of them.
  private static func blanks() throws -> [String: JSONNode] {
    let attribute = try JSONNode(encoding: AttributeDefinition("", .undefined))
    return [
      "entities": try JSONNode(encoding: EntityDefinition("")), "attributes": attribute, "compositeElements": attribute,
      "relationships": try JSONNode(encoding: RelationshipDefinition("", to: "")),
      "fetchedProperties": try JSONNode(encoding: FetchedPropertyDefinition("", entityName: "", predicateFormat: nil)),
      "indexes": try JSONNode(encoding: FetchIndexDefinition("", elements: [])),
      "elements": try JSONNode(encoding: FetchIndexDefinition.Element(property: nil)),
      "fetchRequestTemplates": try JSONNode(
        encoding: FetchRequestTemplateDefinition("", entityName: "", predicateFormat: nil)),
    ]
  }
}

/// JSON of any shape.
private enum JSONNode: Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONNode])
  case object([String: JSONNode])

  init(encoding value: some Encodable) throws {
    self = try JSONDecoder().decode(JSONNode.self, from: JSONEncoder().encode(value))
  }

  /// Tries each kind in turn: a failure only means that the node is of another kind.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONNode].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONNode].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The same JSON, with the missing fields of every list's objects filled in from the list's blank.
  func completed(with blanks: [String: JSONNode]) -> JSONNode {
    guard case .object(let members) = self else { return self }
    var result: [String: JSONNode] = [:]
    for (key, member) in members {
      guard case .array(let items) = member, case .object(let blank)? = blanks[key] else {
        result[key] = member
        continue
      }
      result[key] = .array(
        items.map { item in
          guard case .object(let fields) = item else { return item }
          return JSONNode.object(blank.merging(fields) { $1 }).completed(with: blanks)
        })
    }
    return .object(result)
  }
}
