extension MappingModel {
  /// Data of the source that no mapping takes over: each removed entity, and each stored property that isn't a source. Properties
  /// that are derived, or that follow from the other end of a relationship, aren't lost.
  package var losses: [MigrationObstacle] {
    entityMappings.flatMap { mapping -> [MigrationObstacle] in
      guard let name = mapping.sourceEntityName, let source = sourceModel.entitiesByName[name], !source.isAbstract
      else {
        return []
      }
      if mapping.destinationEntityName == nil {
        return [
          MigrationObstacle(
            name, problem: "isn't in the model any more, and its objects would be lost", remedy: MappingModel.remedy)
        ]
      }
      let used = Set((mapping.attributeMappings + mapping.relationshipMappings).compactMap(\.sourceName))
      return source.properties.filter { $0.isLost(unless: used) }.map {
        MigrationObstacle(
          name, $0.name, problem: "isn't in the model any more, and its values would be lost",
          remedy: MappingModel.remedy)
      }
    }
  }

  private static let remedy =
    "put it back (under a new name, with the old one as its renaming identifier), or, if the loss is meant, name it in "
    + "permittedMigrationLosses (laded: migration.allow_loss of the store)"
}

extension PropertyDescription {
  fileprivate func isLost(unless used: Set<String>) -> Bool {
    if used.contains(name) || isTransient || isDerived { return false }
    if let relationship = self as? RelationshipDescription {
      return !relationship.isToMany || relationship.isManyToMany
    }
    return true
  }
}
