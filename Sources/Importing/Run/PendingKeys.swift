import ManagedObjects

/// The keys of pending references, collected by relationship so that each relationship needs one fetch.
///
/// They are interpreted by the model, not by the columns of a source: a run that resumes at the end of a JSON file hasn't
/// read any columns.
struct PendingKeys {
  private let model: ManagedObjectModel
  private let options: MappingOptions
  private var wanted: [RelationshipDescription: (key: ReferenceKey, texts: [String: Value])] = [:]
  private var found: [RelationshipDescription: [Value: ManagedObjectID]] = [:]
  /// What to-many relationships will hold. Fetched together and retained, so that it isn't read again one by one.
  private var members: [ManagedObject] = []
  private var converters: [RelationshipDescription: ValueConverter] = [:]

  init(model: ManagedObjectModel, options: MappingOptions) {
    self.model = model
    self.options = options
  }

  /// Adds the keys of one row.
  mutating func add(_ keys: [String: [String]], entity: String) throws {
    for (name, texts) in keys {
      guard let relationship = model.entitiesByName[entity]?.propertiesByName[name] as? RelationshipDescription else {
        continue
      }
      let key = try wanted[relationship]?.key ?? self.key(of: relationship)
      // As ``Value/plainText`` writes a value: dates by ISO 8601, whatever the file's own format was.
      let converter = try converters[relationship] ?? Self.converter(of: key.attributes[0])
      converters[relationship] = converter
      for text in texts {
        wanted[relationship, default: (key, [:])].texts[text] =
          key.isCompound ? .string(text) : Self.value(of: text, converter)
      }
    }
  }

  /// Reads what ``Value/plainText`` wrote.
  private static func converter(of key: AttributeDescription) throws -> ValueConverter {
    guard key.type == .binaryData else { return try ValueConverter(attribute: key, dateFormat: nil) }
    var rule = PropertyRule()
    rule.binaryEncoding = .base64
    return try ValueConverter(attribute: key, rule: rule)
  }

  /// Finds the store's objects with these keys.
  mutating func find(_ resolver: ReferenceResolver) throws {
    for (relationship, keys) in wanted {
      let values = Set(keys.texts.values.filter { !$0.isNull })
      found[relationship] = try resolver.find(relationship, by: keys.key, keys: values)
      members += try resolver.members(relationship, by: keys.key, keys: values)
    }
  }

  /// The object of a key, if it was found or has been created.
  func known(_ relationship: RelationshipDescription, _ text: String) -> ManagedObjectID? {
    wanted[relationship]?.texts[text].flatMap { found[relationship]?[$0] }
  }

  /// The object of a key: found, or created now if the recipe says so; nil if there is none.
  ///
  /// - Parameter created: counts created objects by relationship.
  mutating func target(
    _ relationship: RelationshipDescription, _ text: String, in context: ManagedObjectContext,
    created: inout [String: Int64]
  ) throws -> ManagedObjectID? {
    guard let keys = wanted[relationship], let key = keys.texts[text], !key.isNull else { return nil }
    if let known = found[relationship]?[key] { return known }
    guard options.properties[relationship.name]?.creates == true else { return nil }
    let placeholder = PlaceholderObject(relationship, by: keys.key)
    guard placeholder.obstacle(from: relationship) == nil, placeholder.failure(key) == nil else { return nil }
    let id = try context.insert(placeholder.entity, values: placeholder.values(key)).objectID
    created[relationship.name, default: 0] += 1
    for (other, keys) in wanted where placeholder.isFound(by: other, keys.key) && found[other]?[key] == nil {
      found[other, default: [:]][key] = id
    }
    return id
  }

  /// How a message shows the key that a text means.
  func shown(_ relationship: RelationshipDescription, _ text: String) -> String {
    guard let key = wanted[relationship]?.key, key.isCompound else { return text.shown }
    return key.shown(.string(text))
  }

  private func key(of relationship: RelationshipDescription) throws -> ReferenceKey {
    switch ReferenceMapping.referenceKey(of: relationship, options) {
    case .success(let key): return key
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
        // It was a value of the attribute when it was kept. If the model has changed, no object has this key.
        return .null
      }
    }
  }
}
