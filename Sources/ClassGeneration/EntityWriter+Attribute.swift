import ManagedObjects

extension EntityWriter {
  /// The accessor of an attribute that isn't composite.
  mutating func accessor(of attribute: AttributeDescription) -> [String] {
    if attribute.type == .transformable, attribute.definition.attributeValueClassName == nil {
      warnings.append(
        "\(entity.name).\(attribute.name) is transformable and names no class, so that its accessor gives data: enter "
          + "a Codable type as its custom class")
    }
    let code = AttributeCode(attribute.definition, in: "self", slot: "\(attribute.slot)", generator)
    return property(attribute.name, code.type, get: code.get, set: code.set)
  }

  /// The accessor of a composite attribute: its elements as one value.
  func accessor(of composite: CompositeAttributeDescription) -> [String] {
    guard let first = composite.attributes.first, let type = generator.structName(of: composite.definition) else {
      return []
    }
    return property(
      composite.name, type + "?", get: "\(type)(self, \(first.slot))",
      set: "\(type).set(newValue, in: self, \(first.slot))")
  }
}
