extension ModelReader {
  /// Reads one relationship.
  mutating func readRelationship(_ element: ModelElement) throws -> RelationshipDefinition {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    let destination = try attributes.required("destinationEntity")
    let isToMany = try attributes.flag("toMany")
    let maximum = try attributes.count("maxCount")
    var relationship = RelationshipDefinition(
      name, to: destination, inverse: attributes.nonEmpty("inverseName"), isToMany: isToMany,
      isOrdered: try attributes.flag("ordered"), isOptional: try attributes.flag("optional"),
      minimumCount: try attributes.count("minCount") ?? 0, maximumCount: isToMany ? maximum : 1)
    if !isToMany, let maximum, maximum != 1 {
      warn(element.line, "\(name) has maxCount \(maximum) and isn't toMany; it is read as to-one")
    }
    if let rule = attributes.text("deletionRule") {
      guard let known = DeleteRule(rawValue: rule) else {
        throw attributes.malformed(
          "\(name)'s deletionRule is “\(rule)”; it can be No Action, Nullify, Cascade or Deny")
      }
      relationship.deleteRule = known
    }
    if let entity = attributes.nonEmpty("inverseEntity"), entity != destination {
      warn(
        element.line, "\(name) leads to \(destination), but its inverse is said to be of \(entity); the former counts")
    }
    relationship.isTransient = try attributes.flag("transient")
    relationship.renamingIdentifier = attributes.nonEmpty("elementID")
    relationship.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    // Old files mark every relationship as `indexed`; stores index foreign keys anyway.
    attributes.ignore("syncable", "indexed", "spotlightIndexingEnabled", "storedInTruthFile")
    finish(attributes)
    for child in element.children {
      switch child.name {
      case "userInfo": relationship.userInfo.merge(try readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    return relationship
  }
}
