package import ManagedObjects

/// What in a model keeps records from being imported, or has no effect although it looks as if it had one. A model with such
/// parts can be used all the same.
package enum ModelAdvice {
  /// The keys of user info that mean something to imports and stores. Any other key is the user's own.
  private static let entityKeys = ["primaryKey", "mappedFileName"]
  private static let attributeKeys = ["mappedKeyName", "dateFormat", "dateStorage"]
  private static let relationshipKeys = [
    "mappedKeyName", "relatedByAttribute", "mappedSeparator", "mappedKeyTemplate", "columnName",
  ]

  /// A sentence for each such part.
  /// - Parameter imported: the entities that are imported into; nil if any may be.
  package static func on(_ model: ManagedObjectModel, imported: Set<String>? = nil) -> [String] {
    var advice: [String] = []
    for entity in model.entities {
      let definition = entity.definition
      advice += misspelt(definition.userInfo, known: entityKeys, of: entity.name)
      for attribute in definition.attributes {
        let name = "\(entity.name).\(attribute.name)"
        if attribute.type == .undefined, !attribute.isTransient {
          advice.append("\(name) has the type Undefined, which no store can hold: give it an attributeType")
        }
        advice += misspelt(attribute.userInfo, known: attributeKeys, of: name)
      }
      for relationship in definition.relationships {
        advice += misspelt(relationship.userInfo, known: relationshipKeys, of: "\(entity.name).\(relationship.name)")
      }
      guard !entity.isAbstract, imported?.contains(entity.name) != false else { continue }
      for relationship in entity.relationships
      where relationship.isToMany && !relationship.isOptional && !relationship.isTransient {
        advice.append(
          "\(entity.name).\(relationship.name) is to-many and required, so a record of \(entity.name) that brings no "
            + "\(relationship.destinationEntity.name) with it is rejected: set optional=\"YES\" unless every record "
            + "brings some")
      }
    }
    return advice
  }

  /// The keys that differ from one that is known by a few letters. MagicalRecord numbers its keys: `mappedKeyName.1`.
  private static func misspelt(_ userInfo: [String: String], known: [String], of name: String) -> [String] {
    userInfo.keys.sorted().compactMap { key in
      guard !known.contains(key), !known.contains(where: { key.hasPrefix($0 + ".") }),
        let nearest = NearestName.of(key, among: known)
      else { return nil }
      return "\(name)'s userInfo key \(key) isn't known and has no effect; did you mean \(nearest)?"
    }
  }
}
