package import ManagedObjects

// A recipe of a feed says of a property what is so in every entity that has one of that name, or, by `Entity.property`, in
// one of them.

extension MappingOptions {
  /// What is said of one entity of a feed.
  func narrowed(to entity: EntityDescription) -> MappingOptions {
    var narrow = self
    narrow.properties = properties.filter { Self.isProperty($0.key, of: entity) }
    for (name, rule) in properties where name.hasPrefix(entity.name + ".") {
      narrow.properties[String(name.dropFirst(entity.name.count + 1))] = rule
    }
    return narrow
  }

  /// Refuses a rule of something that none of the entities has that a feed's files may be of.
  /// - Throws: ``MappingError/badFeed(reason:)``.
  package func check(ofFeed entities: [EntityDescription]) throws(MappingError) {
    let unknown = properties.keys.filter { name in
      !entities.contains { Self.isProperty(name, of: $0) || name.hasPrefix($0.name + ".") }
    }
    guard !unknown.isEmpty else { return }
    throw MappingError.badFeed(
      reason: "none of the entities (\(entities.map(\.name).joined(separator: ", "))) has a "
        + unknown.sorted().joined(separator: ", ") + ", of which the recipe speaks")
  }

  private static func isProperty(_ name: String, of entity: EntityDescription) -> Bool {
    let first = name.split(separator: ".").first.map(String.init) ?? name
    return entity.propertiesByName[first] != nil
  }
}
