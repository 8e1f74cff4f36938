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

  /// Refuses a rule of something that none of the entities has that a feed's files may be of, what is said of one of them and
  /// can't be, and what fits none of them.
  /// - Throws: ``MappingError``.
  package func check(ofFeed entities: [EntityDescription]) throws(MappingError) {
    let unknown = properties.keys.filter { name in
      !entities.contains { Self.isProperty(name, of: $0) || name.hasPrefix($0.name + ".") }
    }
    guard unknown.isEmpty else {
      throw MappingError.badFeed(
        reason: "none of the entities (\(entities.map(\.name).joined(separator: ", "))) has a "
          + unknown.sorted().joined(separator: ", ") + ", of which the recipe speaks")
    }
    var failure: MappingError?
    var fitting = 0
    for entity in entities {
      var ofIt = MappingOptions()
      ofIt.properties = properties.filter { $0.key.hasPrefix(entity.name + ".") }
      if !ofIt.properties.isEmpty { try ofIt.narrowed(to: entity).check(against: entity) }
      do throws(MappingError) {
        try narrowed(to: entity).check(against: entity)
        fitting += 1
      } catch {
        failure = failure ?? error
      }
    }
    // Of what is said of all, as a filter is, an entity that no file is of may have no use.
    if fitting == 0, let failure { throw failure }
  }

  private static func isProperty(_ name: String, of entity: EntityDescription) -> Bool {
    let first = name.split(separator: ".").first.map(String.init) ?? name
    return entity.propertiesByName[first] != nil
  }
}
