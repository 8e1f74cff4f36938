import ManagedObjects

extension EntityWriter {
  /// The accessor of an attribute.
  mutating func accessor(of attribute: AttributeDescription) -> [String] {
    let slot = attribute.slot
    if attribute.type == .transformable { return transformable(attribute) }
    if attribute.type == .objectID {
      let id = type("ManagedObjectID", of: "ManagedObjects")
      return property(
        attribute, id + "?", get: "if case .object(let id) = value(at: \(slot)) { id } else { nil }",
        set: "setValue(newValue.map { .object($0) } ?? .null, at: \(slot))")
    }
    let type = valueType(of: attribute)
    let isDerived = attribute.definition.derivationExpression != nil
    if attribute.definition.usesScalarValueType {
      if attribute.type == .date {
        let date = self.type("Date", of: "Foundation")
        return property(
          attribute, self.type("Double"), get: "(self[\(slot)] as \(date)?)?.timeIntervalSinceReferenceDate ?? 0",
          set: isDerived ? nil : "self[\(slot)] = \(date)(timeIntervalSinceReferenceDate: newValue)")
      }
      if let zero = Self.zero(of: attribute.type) {
        return property(
          attribute, type, get: "self[\(slot)] ?? \(zero)", set: isDerived ? nil : "self[\(slot)] = newValue")
      }
    }
    return property(attribute, type + "?", get: "self[\(slot)]", set: isDerived ? nil : "self[\(slot)] = newValue")
  }

  private func valueType(of attribute: AttributeDescription) -> String {
    switch attribute.type {
    case .integer16: return type("Int16")
    case .integer32: return type("Int32")
    case .integer64: return type("Int64")
    case .double: return type("Double")
    case .float: return type("Float")
    case .boolean: return type("Bool")
    case .string: return type("String")
    case .decimal: return type("Decimal", of: "Foundation")
    case .date: return type("Date", of: "Foundation")
    case .binaryData: return type("Data", of: "Foundation")
    case .uuid: return type("UUID", of: "Foundation")
    case .uri: return type("URL", of: "Foundation")
    case .transformable, .objectID, .composite, .undefined: return type("Value", of: "ManagedObjects")
    }
  }

  /// What a plain number or boolean is where there is no value; nil for types that have no plain form.
  private static func zero(of type: AttributeType) -> String? {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float: return "0"
    case .boolean: return "false"
    case .string, .decimal, .date, .binaryData, .uuid, .uri, .transformable, .objectID, .composite, .undefined:
      return nil
    }
  }

  /// Of the type that the model names; data, when it names none.
  private mutating func transformable(_ attribute: AttributeDescription) -> [String] {
    let slot = attribute.slot
    guard let declared = attribute.definition.attributeValueClassName else {
      warnings.append(
        "\(entity.name).\(attribute.name) is transformable and names no class, so that its accessor gives data: enter "
          + "a Codable type as its custom class")
      let data = type("Data", of: "Foundation")
      return property(attribute, data + "?", get: "self[\(slot)]", set: "self[\(slot)] = newValue")
    }
    let name = declared.hasPrefix(".") ? String(declared.dropFirst()) : declared
    return property(
      attribute, name + "?", get: "transformable(\(slot))", set: "setTransformable(newValue, \(slot))")
  }
}
