import Spelling

/// A path from an object to a value.
package struct ResolvedPath: Sendable, Hashable {
  /// Where a path ends.
  package enum End: Sendable, Hashable {
    case attribute(AttributeDescription)
    /// A to-one relationship: the ID of the object at its other end.
    case relationship(RelationshipDescription)
    /// The object itself: its ID.
    case objectID(EntityDescription)
    /// The name of the object's entity, which is this entity or a subentity.
    case entityName(EntityDescription)
    /// A composite attribute as a whole, which can only be compared with nil.
    case composite(CompositeAttributeDescription)
  }

  /// Where the path begins: 0 for the evaluated object, otherwise the ``ResolvedCollection/number`` of the collection whose
  /// object it begins at.
  package let origin: Int

  /// The to-one relationships to follow first, in order.
  package let steps: [RelationshipDescription]
  /// What to read from the last object.
  package let end: End

  package init(origin: Int = 0, steps: [RelationshipDescription], end: End) {
    self.origin = origin
    self.steps = steps
    self.end = end
  }

  /// Whether the path ends at an object.
  var isSelf: Bool {
    if case .objectID = end { return true }
    return false
  }

  /// The path in the format language.
  package var text: String { (steps.map(\.name) + [endName]).joined(separator: ".") }

  private var endName: String {
    switch end {
    case .attribute(let attribute): return attribute.name
    case .relationship(let relationship): return relationship.name
    case .objectID: return "objectID"
    case .entityName: return "entity.name"
    case .composite(let composite): return composite.name
    }
  }

  /// The kind of the values.
  package var kind: ValueKind {
    switch end {
    case .attribute(let attribute): return ValueKind(attribute.type)
    case .relationship, .objectID: return .object
    case .entityName: return .string
    case .composite: return .opaque
    }
  }

  /// The entity of the objects whose IDs the values are, nil for other values.
  var objectEntity: EntityDescription? {
    switch end {
    case .relationship(let relationship): return relationship.destinationEntity
    case .objectID(let entity): return entity
    case .attribute, .entityName, .composite: return nil
    }
  }
}

extension ResolvedPath {
  /// Follows `names` from `entity`. `objectID` and `SELF` name the object itself where no property has that name, and
  /// `entity` and `entity.name` its entity's name.
  /// - Throws: ``FetchPredicateError`` when a name is unknown or can't be traversed.
  package init(
    _ names: [String], in entity: EntityDescription, origin: Int = 0
  ) throws(FetchPredicateError) {
    var steps: [RelationshipDescription] = []
    var entity = entity
    let path = names.joined(separator: ".")
    // Columns of a dictionary result may be named by a key path.
    if names.count > 1, let column = entity.propertiesByName[path] as? AttributeDescription {
      self.init(origin: origin, steps: [], end: .attribute(column))
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
          self.init(to: entity, over: steps, origin)
          return
        }
        if name == "entity", isLast || names[index...].elementsEqual(["name"]) {
          self.init(origin: origin, steps: steps, end: .entityName(entity))
          return
        }
        let rest = names[(index - 1)...].joined(separator: ".")
        if let composite = entity.compositeAttributesByName[rest] {
          self.init(origin: origin, steps: steps, end: .composite(composite))
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
        self.init(origin: origin, steps: steps, end: .attribute(attribute))
        return
      }
      guard !relationship.isToMany else {
        throw .notTraversable(path: path, name: name, entity: entity.name, isToMany: true)
      }
      if isLast {
        self.init(origin: origin, steps: steps, end: .relationship(relationship))
        return
      }
      steps.append(relationship)
      entity = relationship.destinationEntity
    }
    self.init(to: entity, over: steps, origin)
  }

  /// The ID of the object that `steps` lead to: the value of the last step.
  private init(to entity: EntityDescription, over steps: [RelationshipDescription], _ origin: Int) {
    if let last = steps.last {
      self.init(origin: origin, steps: Array(steps.dropLast()), end: .relationship(last))
    } else {
      self.init(origin: origin, steps: [], end: .objectID(entity))
    }
  }

  /// The end of the path in error messages: `Person.age`, or the path's entity for the object itself.
  var name: String {
    switch end {
    case .attribute(let attribute): return "\(attribute.entity.name).\(attribute.name)"
    case .relationship(let relationship): return "\(relationship.entity.name).\(relationship.name)"
    case .objectID(let entity): return "SELF (\(entity.name))"
    case .entityName(let entity): return "the entity of \(entity.name)"
    case .composite(let composite): return composite.name
    }
  }

  /// The type of the values in error messages.
  var typeName: String {
    switch end {
    case .attribute(let attribute): return attribute.type.rawValue
    case .relationship(let relationship): return "a relationship to \(relationship.destinationEntity.name)"
    case .objectID: return "an object"
    case .entityName: return "String"
    case .composite: return AttributeType.composite.rawValue
    }
  }
}
