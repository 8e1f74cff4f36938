package import ManagedObjects

// To-one relationships: where their keys come from, and of which attribute they are.
extension RecordMapping {
  /// A to-one relationship whose key a column, several or the recipe give; nil when nothing does.
  static func reference(
    _ relationship: RelationshipDescription, _ rules: MappingRules, _ columns: [String: Int], mayNest: Bool
  ) throws -> Reference? {
    let info = relationship.userInfo
    let rule = rules.options.properties[relationship.name]
    func failure(_ reason: String) -> MappingError {
      .badRelationship(entity: rules.entity.name, relationship: relationship.name, reason: reason)
    }
    let constant = rules.constantKeys[relationship.slot]
    let defaultKey = rules.defaultKeys[relationship.slot]
    var template: KeyTemplate?
    do {
      template = rule?.column == nil && constant == nil ? try info["mappedKeyTemplate"].map(KeyTemplate.init) : nil
    } catch {
      throw failure("\(error)")
    }
    var column = constant == nil ? columns[rule?.column ?? info["mappedKeyName"] ?? relationship.name] : nil
    if let parts = template?.columns {
      column = nil
      if !parts.allSatisfy({ columns[$0] != nil }) { template = nil }
    }
    if column == nil, template == nil, constant == nil, defaultKey == nil { return nil }
    let key: AttributeDescription
    switch Self.key(of: relationship, rules.options) {
    case .success(let attribute): key = attribute
    case .failure(let problem):
      // Objects need no key; a key alone is rejected with its record.
      if mayNest, template == nil, rule?.key == nil, relationship.userInfo["relatedByAttribute"] == nil { return nil }
      throw failure(problem.reason)
    }
    do {
      let converter = try rules.converter(of: key, for: relationship.name)
      return Reference(
        relationship: relationship, key: key, converter: converter, column: column, template: template,
        creates: rule?.creates == true ? KeyedObject(relationship, by: key) : nil,
        needsObject: needsObject(relationship, rule), constant: constant, defaultKey: defaultKey)
    } catch {
      throw failure("\(error)")
    }
  }

  /// Why there is no attribute by which a relationship's objects could be found.
  struct KeyProblem: Error {
    let reason: String
  }

  /// The attribute of the destination by which a relationship's objects are found where no recipe says another; nil when
  /// there is none whose values could be read from a text.
  package static func key(of relationship: RelationshipDescription) -> AttributeDescription? {
    guard case .success(let key) = key(of: relationship, MappingOptions()), !key.isTransient else { return nil }
    switch key.type {
    case .transformable, .objectID, .composite, .undefined: return nil
    default: return key
    }
  }

  /// The attribute of the destination by which a relationship's objects are found.
  static func key(
    of relationship: RelationshipDescription, _ options: MappingOptions
  ) -> Result<AttributeDescription, KeyProblem> {
    let destination = relationship.destinationEntity
    let single = destination.uniquenessConstraints.first { $0.count == 1 }?.first
    let given = options.properties[relationship.name]?.key
    guard let name = given ?? relationship.userInfo["relatedByAttribute"] ?? single?.name else {
      return .failure(
        KeyProblem(
          reason: "the source has its key, but neither recipe nor model say by which attribute of "
            + "\(destination.name): name it as the relationship's key in the recipe, or set relatedByAttribute"))
    }
    guard let key = destination.propertiesByName[name] as? AttributeDescription else {
      return .failure(
        KeyProblem(
          reason: "\(given == nil ? "relatedByAttribute" : "the recipe's key") names \(name), "
            + "which isn't an attribute of \(destination.name)"))
    }
    return .success(key)
  }
}
