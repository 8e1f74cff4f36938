extension ModelReader {
  /// Reads one entity with its properties.
  mutating func readEntity(_ element: ModelElement) throws {
    var attributes = ElementAttributes(element, file: file)
    var entity = EntityDefinition(
      try attributes.required("name"), parent: attributes.nonEmpty("parentEntity"),
      isAbstract: try attributes.flag("isAbstract"),
      className: className(attributes.nonEmpty("representedClassName")))
    entity.codeGenerationType = attributes.nonEmpty("codeGenerationType")
    entity.renamingIdentifier = attributes.nonEmpty("elementID")
    entity.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    attributes.ignore("syncable", "coreSpotlightDisplayNameExpression")
    finish(attributes)

    var oldIndexes: [FetchIndexDefinition] = []
    for child in element.children {
      switch child.name {
      case "attribute":
        let (attribute, isIndexed) = try readAttribute(child)
        entity.attributes.append(attribute)
        if isIndexed { oldIndexes.append(index(over: [attribute.name])) }
      case "relationship": entity.relationships.append(try readRelationship(child))
      case "fetchedProperty": entity.fetchedProperties.append(try readFetchedProperty(child))
      case "uniquenessConstraints": entity.uniquenessConstraints += try readConstraints(child)
      case "fetchIndex": entity.indexes.append(try readIndex(child))
      case "compoundIndexes": oldIndexes += try readCompoundIndexes(child)
      case "userInfo": entity.userInfo.merge(try readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    for index in oldIndexes where !entity.indexes.contains(where: { $0.elements == index.elements }) {
      entity.indexes.append(index)
    }
    contents.entities.append(entity)
  }

  /// `.Name` is Xcode's way to write “in the current module”; `NSManagedObject` means no class of its own.
  private func className(_ name: String?) -> String? {
    guard let name, name != "NSManagedObject" else { return nil }
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  private mutating func readFetchedProperty(_ element: ModelElement) throws -> FetchedPropertyDefinition {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    // A fetched property is never stored, so these have no effect.
    attributes.ignore("optional", "transient", "syncable", "elementID", "versionHashModifier", "indexed")
    finish(attributes)
    var request: FetchRequestTemplateDefinition?
    var userInfo: [String: String] = [:]
    for child in element.children {
      switch child.name {
      case "fetchRequest":
        var inner = ElementAttributes(child, file: file)
        request = try readFetchRequest(&inner)
        finish(inner)
      case "userInfo": userInfo.merge(try readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    guard let request else { throw attributes.malformed("the fetched property \(name) has no fetchRequest") }
    var property = FetchedPropertyDefinition(
      name, entityName: request.entityName, predicateFormat: request.predicateFormat, userInfo: userInfo)
    property.fetchLimit = request.fetchLimit
    property.includesSubentities = request.includesSubentities
    return property
  }
}
