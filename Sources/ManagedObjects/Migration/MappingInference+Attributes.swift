extension MappingInference {
  mutating func attributeMapping(
    _ attribute: AttributeDescription, _ entity: EntityDescription, _ source: EntityDescription
  ) -> PropertyMapping {
    guard let origin: AttributeDescription = origin(of: attribute, in: entity) else {
      return newAttribute(attribute, entity)
    }
    let policy = "keep the type, or write an entity migration policy"
    if !attribute.type.takes(origin.type) {
      note(entity, attribute, "is \(attribute.type.rawValue) and was \(origin.type.rawValue)", policy)
    }
    guard origin.isOptional, !attribute.isOptional, attribute.definition.derivationExpression == nil else {
      return PropertyMapping(attribute.name, .property(origin.name))
    }
    // A primary key's values are checked row by row.
    if attribute === entity.primaryKey { return PropertyMapping(attribute.name, .property(origin.name)) }
    if attribute.defaultValue.isNull {
      note(entity, attribute, "is required, was optional and has no default", "give it a default value")
    }
    return PropertyMapping(attribute.name, .propertyOrValue(origin.name, attribute.defaultValue))
  }

  private mutating func newAttribute(
    _ attribute: AttributeDescription, _ entity: EntityDescription
  ) -> PropertyMapping {
    if attribute !== entity.primaryKey, !attribute.isOptional, attribute.defaultValue.isNull,
      attribute.definition.derivationExpression == nil
    {
      note(entity, attribute, "is new and required, and has no default", "give it a default value, or make it optional")
    }
    return PropertyMapping(attribute.name, .value(attribute.defaultValue))
  }
}

extension AttributeType {
  /// Whether every value of `other` is also a value of this type, stored in the same form.
  func takes(_ other: AttributeType) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.integer32, .integer16), (.integer64, .integer16), (.integer64, .integer32), (.double, .float): return true
    default: return false
    }
  }
}
