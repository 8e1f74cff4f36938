extension ResolvedPath {
  /// Follows `names` from `entity`. `objectID` and `SELF` name the object itself where no property has that name.
  /// - Throws: ``FetchPredicateError`` when a name isn't known or can't be gone through.
  package init(_ names: [String], in entity: EntityDescription) throws(FetchPredicateError) {
    var steps: [RelationshipDescription] = []
    var entity = entity
    let path = names.joined(separator: ".")
    // A dictionary result's columns may be called by a key path.
    if names.count > 1, let column = entity.propertiesByName[path] as? AttributeDescription {
      self.init(steps: [], end: .attribute(column))
      return
    }
    var index = 0
    while index < names.count {
      let found = entity.property(beginning: names[index...])
      index += found?.length ?? 1
      let name = names[index - 1]
      let isLast = index == names.count
      guard let property = found?.property else {
        if isLast, name == "objectID" || name.uppercased() == "SELF" {
          self.init(to: entity, over: steps)
          return
        }
        let known = entity.properties.map(\.name)
        throw .unknownProperty(
          name: name, entity: entity.name, nearest: NearestName.of(name, among: known), known: known)
      }
      guard let relationship = property as? RelationshipDescription else {
        guard isLast, let attribute = property as? AttributeDescription else {
          throw .notTraversable(path: path, name: name, entity: entity.name, isToMany: false)
        }
        self.init(steps: steps, end: .attribute(attribute))
        return
      }
      guard !relationship.isToMany else {
        throw .notTraversable(path: path, name: name, entity: entity.name, isToMany: true)
      }
      if isLast {
        self.init(steps: steps, end: .relationship(relationship))
        return
      }
      steps.append(relationship)
      entity = relationship.destinationEntity
    }
    self.init(to: entity, over: steps)
  }

  /// The ID of the object that `steps` lead to: the value of the last step.
  private init(to entity: EntityDescription, over steps: [RelationshipDescription]) {
    if let last = steps.last {
      self.init(steps: Array(steps.dropLast()), end: .relationship(last))
    } else {
      self.init(steps: [], end: .objectID(entity))
    }
  }

  /// What an error calls the end of the path: `Person.age`, or the path's entity for the object itself.
  var name: String {
    switch end {
    case .attribute(let attribute): return "\(attribute.entity.name).\(attribute.name)"
    case .relationship(let relationship): return "\(relationship.entity.name).\(relationship.name)"
    case .objectID(let entity): return "SELF (\(entity.name))"
    }
  }

  /// What an error says the values are.
  var typeName: String {
    switch end {
    case .attribute(let attribute): return attribute.type.rawValue
    case .relationship(let relationship): return "a relationship to \(relationship.destinationEntity.name)"
    case .objectID: return "an object"
    }
  }
}
