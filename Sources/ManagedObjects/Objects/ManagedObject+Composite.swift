extension ManagedObject {
  /// The values of a composite's elements by name; null when all of them are null.
  final func value(of composite: CompositeAttributeDescription) -> Value {
    var values: [String: Value] = [:]
    for (name, element) in composite.elements {
      let value: Value
      switch element {
      case .attribute(let attribute): value = self.value(at: attribute.slot)
      case .composite(let inner): value = self.value(of: inner)
      }
      if !value.isNull { values[name] = value }
    }
    return values.isEmpty ? .null : .composite(values)
  }

  /// Sets every element of a composite, to nil where it isn't named: a composite is one value.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)`` or
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)``, before anything is changed.
  final func setValue(_ value: Value, of composite: CompositeAttributeDescription) throws {
    var changes: [(AttributeDescription, Value)] = []
    try collect(value, of: composite, into: &changes)
    for (attribute, value) in changes { setValue(value, at: attribute.slot) }
  }

  private final func collect(
    _ value: Value, of composite: CompositeAttributeDescription, into changes: inout [(AttributeDescription, Value)]
  ) throws {
    let values: [String: Value]
    switch value {
    case .null: values = [:]
    case .composite(let given): values = given
    default:
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: composite.name, expected: AttributeType.composite.rawValue, found: value.typeName
      )
    }
    let names = Set(composite.elements.map(\.name))
    if let unknown = values.keys.filter({ !names.contains($0) }).min() {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: "\(composite.name).\(unknown)")
    }
    for (name, element) in composite.elements {
      let value = values[name] ?? .null
      switch element {
      case .composite(let inner): try collect(value, of: inner, into: &changes)
      case .attribute(let attribute):
        guard value.fits(attribute.type) else {
          throw ManagedObjectError.wrongType(
            entity: entity.name, property: attribute.name, expected: attribute.type.rawValue, found: value.typeName)
        }
        changes.append((attribute, value))
      }
    }
  }
}
