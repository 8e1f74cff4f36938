import ManagedObjects

/// The keys of kept references, gathered by relationship so that each relationship is looked up once.
///
/// They are found by the model, not by the columns of a source: a run that goes on at the end of a JSON file has met none.
struct PendingKeys {
  private let model: ManagedObjectModel
  private let options: MappingOptions
  private var wanted: [RelationshipDescription: (attribute: AttributeDescription, texts: [String: Value])] = [:]
  private var converters: [RelationshipDescription: ValueConverter] = [:]

  init(model: ManagedObjectModel, options: MappingOptions) {
    self.model = model
    self.options = options
  }

  /// Adds the keys of one row.
  mutating func add(_ keys: [String: String], entity: String) throws {
    for (name, text) in keys {
      guard let relationship = model.entitiesByName[entity]?.propertiesByName[name] as? RelationshipDescription else {
        continue
      }
      let attribute = try wanted[relationship]?.attribute ?? key(of: relationship)
      // As ``Value/plainText`` writes a value: dates by ISO 8601, whatever the file's own format was.
      let converter = try converters[relationship] ?? ValueConverter(attribute: attribute, dateFormat: nil)
      converters[relationship] = converter
      wanted[relationship, default: (attribute, [:])].texts[text] = Self.value(of: text, converter)
    }
  }

  /// The objects that the store has of them, by relationship and text.
  func find(_ resolver: ReferenceResolver) throws -> [RelationshipDescription: [String: ManagedObjectID]] {
    try wanted.mapValues { _ in [:] as [String: ManagedObjectID] }.merging(
      wanted.map { relationship, keys in
        let found = try resolver.find(
          relationship, by: keys.attribute, keys: Set(keys.texts.values.filter { !$0.isNull }))
        return (relationship, keys.texts.compactMapValues { found[$0] })
      }
    ) { $1 }
  }

  private func key(of relationship: RelationshipDescription) throws -> AttributeDescription {
    switch RecordMapping.key(of: relationship, options) {
    case .success(let attribute): return attribute
    case .failure(let problem):
      throw MappingError.badRelationship(
        entity: relationship.entity.name, relationship: relationship.name, reason: problem.reason)
    }
  }

  private static func value(of text: String, _ converter: ValueConverter) -> Value {
    var text = text
    return text.withUTF8 { buffer in
      do {
        return try converter.convert(text: UnsafeRawBufferPointer(buffer))
      } catch {
        // It was a value of the attribute when it was kept. If the model has changed since, nothing has this key.
        return .null
      }
    }
  }
}
