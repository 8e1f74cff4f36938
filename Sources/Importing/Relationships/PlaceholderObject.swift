import ManagedObjects

/// An object that is created because a record refers to it by a key that no object has. It holds the key and the model's
/// defaults, nothing else.
struct PlaceholderObject {
  let entity: EntityDescription
  let key: ReferenceKey

  init(_ relationship: RelationshipDescription, by key: ReferenceKey) {
    entity = relationship.destinationEntity
    self.key = key
  }

  /// Why no key would make a valid object; nil if objects can be created. Checked before the first record, so that a recipe
  /// that can't work doesn't fail halfway.
  ///
  /// - Parameter relationship: the one that refers to them. Its inverse is set by the objects that refer.
  func obstacle(from relationship: RelationshipDescription) -> String? {
    if entity.isAbstract {
      return "\(entity.name) is abstract, so none can be created on the way: let the relationship lead to an entity "
        + "that inherits from it, or leave creates out"
    }
    let inverse = relationship.inverseRelationship?.name
    let values = entity.initialValues
    let attributes = entity.attributes.filter {
      !$0.isOptional && !isKey($0) && !$0.isTransient && $0.definition.derivationExpression == nil
        && values[$0.slot].isNull
    }
    let references = entity.relationships.filter { relationship in
      guard relationship.name != inverse else { return false }
      return !relationship.isOptional || (relationship.isToMany && relationship.definition.minimumCount > 0)
    }
    let composites = entity.compositeAttributesByName.values.filter { composite in
      !composite.isOptional && composite.attributes.allSatisfy { !isKey($0) && values[$0.slot].isNull }
    }
    let needed = attributes.map(\.name) + composites.map(\.name).sorted() + references.map(\.name)
    if !needed.isEmpty {
      return "\(entity.name) can't be created on the way by \(key.name) alone, since it must have "
        + "\(needed.joined(separator: ", ")): make that optional, give it a default, or leave creates out"
    }
    let clash = entity.uniquenessConstraints.first { constraint in
      !constraint.contains { isKey($0) || values[$0.slot].isNull }
    }
    if let clash {
      return "of \(entity.name) only one can be created on the way, since all would have the same "
        + "\(clash.map(\.name).joined(separator: "+")): take the default away, or leave creates out"
    }
    return nil
  }

  /// The values of the object with a key.
  func values(_ value: Value) -> ContiguousArray<Value> {
    var values = entity.initialValues
    for (attribute, part) in zip(key.attributes, key.parts(of: value) ?? []) { values[attribute.slot] = part }
    return values
  }

  private func isKey(_ attribute: AttributeDescription) -> Bool { key.attributes.contains { $0 === attribute } }

  /// Why the model refuses a key. ``obstacle(from:)`` has checked the other properties.
  func failure(_ value: Value) -> ValidationFailure? {
    var failures: [ValidationFailure] = []
    entity.validationRules.check(values(value), of: nil, into: &failures)
    return failures.first { failure in key.attributes.contains { $0.name == failure.property } }
  }

  /// Whether a relationship that finds its objects by an attribute would find these objects.
  func isFound(by relationship: RelationshipDescription, _ other: ReferenceKey) -> Bool {
    other.attributes.map(\.name) == key.attributes.map(\.name) && entity.isKindOf(relationship.destinationEntity)
  }
}
