package import ManagedObjects

/// The version of a model that takes a file, as far as the recipe's contract lets the model evolve.
package struct SchemaEvolution: Sendable, Hashable {
  /// New attributes that one file may bring.
  package static let mostAttributesOfFile = 100
  /// Attributes that an entity may have with those that files have brought. A table has at most 2,000 columns.
  package static let mostAttributes = 1_000
  /// New entities that one file may bring.
  package static let mostEntitiesOfFile = 20
  /// Entities that a model may have with those that files have brought.
  package static let mostEntities = 500

  /// What changes, for a person: `Person.shoe, Integer 64`.
  package let changes: [String]
  /// The file `contents` of the version.
  package let xml: String

  /// The version of a model that takes a file; nil if the model takes it as it is, or the contract lets nothing evolve.
  ///
  /// - Parameter model: may have the entities of imports in it.
  /// - Throws: ``MappingError/cannotEvolve(reason:)`` if a version can't take all of the file.
  package init?(of model: ManagedObjectModel, for difference: SchemaDifference, _ contract: SchemaContract)
    throws(MappingError)
  {
    guard difference.others == 0 else {
      throw .cannotEvolve(reason: "it differs from the model in more than \(SchemaDifference.limit) ways")
    }
    let own = model.entities.filter { !ImportModel.entities.contains($0.name) }
    var draft = Draft(own.map(\.definition))
    for change in difference.changes {
      switch change.subject {
      case .columns where contract.columns == .evolve && change.values > 0: try draft.add(change)
      case .types where contract.types == .evolve: draft.widen(change)
      default: break
      }
    }
    if contract.entities == .evolve { try draft.add(difference.newEntities) }
    guard !draft.changes.isEmpty else { return nil }
    try draft.check()
    changes = draft.changes
    xml = ModelFileWriter(model, entities: draft.definitions).xml
    do {
      // The model may be wrong with it, as where a predicate compares what is a text now.
      let read = try ManagedObjectModel(xml: xml, file: "the new version")
      guard draft.isSame(as: read.entities.map(\.definition)) else {
        throw MappingError.cannotEvolve(reason: "its model has something that a model file can't hold")
      }
    } catch let error as MappingError {
      throw error
    } catch {
      throw .cannotEvolve(reason: "\(error)")
    }
  }

  /// Definitions that change.
  private struct Draft {
    private(set) var definitions: [EntityDefinition]
    private(set) var changes: [String] = []
    private var added: [String: AttributeDefinition] = [:]
    private var widened: Set<String> = []
    private let countBefore: Int

    init(_ definitions: [EntityDefinition]) {
      self.definitions = definitions
      countBefore = definitions.count
    }

    /// Adds the attribute for a column. Two files of an entity may both have it.
    mutating func add(_ change: SchemaDifference.Change) throws(MappingError) {
      let column = change.column ?? ""
      guard let attribute = change.definition, let entity = change.entity,
        let place = definitions.firstIndex(where: { $0.name == entity })
      else {
        throw .cannotEvolve(
          reason: "no attribute can take the values of the column \(column): name it in ignored_columns")
      }
      let key = "\(entity).\(attribute.name)"
      if let other = added[key] {
        guard other.type != attribute.type || other.userInfo != attribute.userInfo,
          let slot = definitions[place].attributes.firstIndex(where: { $0.name == attribute.name })
        else { return }
        definitions[place].attributes[slot].type = .string
        definitions[place].attributes[slot].userInfo["dateFormat"] = nil
      } else {
        added[key] = attribute
        definitions[place].attributes.append(attribute)
      }
      guard added.count <= SchemaEvolution.mostAttributesOfFile else {
        throw .cannotEvolve(
          reason: "it has more than \(SchemaEvolution.mostAttributesOfFile) new columns: add them to the model by hand")
      }
      changes.removeAll { $0.hasPrefix(key + ", ") }
      let type = definitions[place].attributes.first { $0.name == attribute.name }?.type ?? attribute.type
      changes.append("\(key), \(type.rawValue)")
    }

    /// Gives an attribute a wider type, where there is one. What doesn't fit that either is rejected.
    mutating func widen(_ change: SchemaDifference.Change) {
      guard let name = change.attribute, let entity = change.entity, let type = change.newType,
        let (place, slot) = owner(of: name, entity)
      else { return }
      // Another file of the entity may need a wider one.
      guard Self.width(type) > Self.width(definitions[place].attributes[slot].type) else { return }
      let key = "\(definitions[place].name).\(name)"
      definitions[place].attributes[slot].type = type
      widened.insert(key)
      changes.removeAll { $0.hasPrefix(key + ": ") }
      changes.append("\(key): \(change.type?.rawValue ?? "") to \(type.rawValue)")
    }

    private static func width(_ type: AttributeType) -> Int {
      switch type {
      case .boolean, .integer16, .float: 0
      case .integer32: 1
      case .integer64, .double: 2
      case .decimal: 3
      case .string: 5
      default: 4
      }
    }

    /// Adds the entities of files that belonged to none.
    mutating func add(_ entities: [EntityDefinition]) throws(MappingError) {
      guard entities.count <= SchemaEvolution.mostEntitiesOfFile else {
        throw .cannotEvolve(
          reason: "it has more than \(SchemaEvolution.mostEntitiesOfFile) new entities: add them to the model by hand")
      }
      let known = Set(definitions.map { $0.name.lowercased() })
      for entity in entities {
        guard !known.contains(entity.name.lowercased()), !ImportModel.entities.contains(entity.name) else {
          throw .cannotEvolve(reason: "it has a new entity \(entity.name), and the model has another of this name")
        }
        definitions.append(entity)
        changes.append("\(entity.name), new")
      }
    }

    func check() throws(MappingError) {
      guard definitions.count == countBefore || definitions.count <= SchemaEvolution.mostEntities else {
        throw .cannotEvolve(reason: "its model would have more than \(SchemaEvolution.mostEntities) entities")
      }
      for entity in definitions where entity.attributes.count > SchemaEvolution.mostAttributes {
        guard entity.attributes.contains(where: { added["\(entity.name).\($0.name)"] != nil }) else { continue }
        throw .cannotEvolve(
          reason: "\(entity.name) would have more than \(SchemaEvolution.mostAttributes) attributes")
      }
    }

    /// Whether definitions that were written and read again are these. A default of another type is.
    func isSame(as others: [EntityDefinition]) -> Bool {
      func plain(_ definitions: [EntityDefinition]) -> [EntityDefinition] {
        definitions.map { entity in
          var entity = entity
          for slot in entity.attributes.indices where widened.contains("\(entity.name).\(entity.attributes[slot].name)")
          {
            entity.attributes[slot].defaultValue = .null
            entity.attributes[slot].minimumValue = .null
            entity.attributes[slot].maximumValue = .null
          }
          return entity
        }.sorted { $0.name < $1.name }
      }
      return plain(definitions) == plain(others)
    }

    /// Where an attribute is declared: in an entity, or in one that it inherits from.
    private func owner(of attribute: String, _ entity: String) -> (Int, Int)? {
      var name: String? = entity
      while let next = name, let place = definitions.firstIndex(where: { $0.name == next }) {
        if let slot = definitions[place].attributes.firstIndex(where: { $0.name == attribute }) { return (place, slot) }
        name = definitions[place].parent
      }
      return nil
    }
  }
}
