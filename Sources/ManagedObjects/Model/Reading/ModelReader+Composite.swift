extension ModelReader {
  /// The element names of composite types at the top level of a model.
  static let compositeElements: Set<String> = ["composite", "compositeType", "compositeAttribute"]

  /// Reads the model's composite types, nested ones first.
  mutating func readComposites(_ elements: [ModelElement]) throws {
    var waiting = elements.filter { Self.compositeElements.contains($0.name) }
    while !waiting.isEmpty {
      let names = Set(waiting.compactMap { $0.attributes["name"] })
      let ready = waiting.filter { element in
        !element.children.contains { names.contains(compositeName(in: $0.attributes) ?? "") }
      }
      guard !ready.isEmpty else {
        throw ModelError.malformed(
          file: file, line: waiting[0].line,
          reason: "the composite types \(names.sorted().joined(separator: ", ")) contain each other")
      }
      for element in ready { try readCompositeType(element) }
      waiting.removeAll { element in ready.contains { $0 === element } }
    }
  }

  private mutating func readCompositeType(_ element: ModelElement) throws {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    attributes.ignore("elementID", "versionHashModifier", "syncable")
    finish(attributes)
    var members: [AttributeDefinition] = []
    for child in element.children {
      switch child.name {
      case "attribute": members.append(try readAttribute(child).0)
      case "userInfo": _ = try readUserInfo(child)
      default: warnUnknown(child, in: element)
      }
    }
    guard composites.updateValue(members, forKey: name) == nil else {
      throw attributes.malformed("a second composite type is named \(name)")
    }
  }

  /// Adds the elements of the composite type to an attribute.
  mutating func readComposite(
    of attribute: inout AttributeDefinition, from attributes: inout ElementAttributes
  ) throws {
    for key in Self.compositeNameKeys { attributes.ignore(key) }
    guard let name = compositeName(in: attributes.element.attributes) else {
      warn(attributes.element.line, "the composite attribute \(attribute.name) doesn't say which composite type it has")
      return
    }
    guard let members = composites[name] else {
      throw attributes.malformed("\(attribute.name) has the composite type \(name), which isn't in the model")
    }
    attribute.compositeName = name
    attribute.compositeElements = members
  }

  private static let compositeNameKeys = ["compositeName", "compositeAttributeName", "compositeType", "elementName"]

  private func compositeName(in attributes: [String: String]) -> String? {
    for key in Self.compositeNameKeys {
      if let name = attributes[key], !name.isEmpty { return name }
    }
    return nil
  }
}
