extension MigrationManager {
  /// Runs the migration, and saves.
  /// - Throws: what a policy or value throws, ``ManagedObjectError/validation(_:)`` with every object of the new store
  ///   that isn't valid, or a store's error.
  package func run() throws {
    let steps = Double(mappingModel.entityMappings.count * 2)
    for (index, mapping) in mappingModel.entityMappings.enumerated() {
      try createInstances(mapping)
      migrationProgress = Double(index + 1) / steps
    }
    for (index, mapping) in mappingModel.entityMappings.enumerated() {
      try createRelationships(mapping)
      migrationProgress = 0.5 + Double(index + 1) / steps
    }
    for mapping in mappingModel.entityMappings {
      try policy(of: mapping).performCustomValidation(forMapping: mapping, manager: self)
    }
    try flush(checking: .nothing)
    try validate()
    for mapping in mappingModel.entityMappings { try policy(of: mapping).end(mapping, manager: self) }
    try flush(checking: .everything)
    currentEntityMapping = nil
  }

  private enum Check {
    case nothing
    case attributes
    case everything
  }

  private func policy(of mapping: EntityMapping) -> EntityMigrationPolicy {
    currentEntityMapping = mapping
    if let known = policies[mapping.name] { return known }
    let new = (mapping.entityMigrationPolicy ?? EntityMigrationPolicy.self).init()
    policies[mapping.name] = new
    return new
  }

  private func createInstances(_ mapping: EntityMapping) throws {
    let policy = policy(of: mapping)
    try policy.begin(mapping, with: self)
    if mapping.mappingType != .remove, let name = mapping.sourceEntityName {
      var request = FetchRequest<ManagedObject>(entityName: name)
      request.includesSubentities = false
      request.fetchLimit = batchSize
      while true {
        let objects = try sourceContext.fetch(request)
        for object in objects {
          if let cancellation { throw cancellation }
          try policy.createDestinationInstances(forSource: object, in: mapping, manager: self)
        }
        try flush(checking: .attributes)
        guard objects.count == batchSize else { break }
        request.fetchOffset += batchSize
      }
    }
    try policy.endInstanceCreation(forMapping: mapping, manager: self)
    try flush(checking: .attributes)
  }

  private func createRelationships(_ mapping: EntityMapping) throws {
    let policy = policy(of: mapping)
    for (index, id) in (associations[mapping.name]?.order ?? []).enumerated() {
      if let cancellation { throw cancellation }
      try policy.createRelationships(
        forDestination: destinationContext.existingObject(with: id), in: mapping, manager: self)
      if index % batchSize == batchSize - 1 { try flush(checking: .nothing) }
    }
    try policy.endRelationshipCreation(forMapping: mapping, manager: self)
    try flush(checking: .nothing)
  }

  /// Saves the new objects and releases all objects. Objects have no relationships yet when they are first saved.
  private func flush(checking check: Check) throws {
    if let cancellation { throw cancellation }
    switch check {
    case .everything: try destinationContext.save()
    case .nothing: try destinationContext.saveValidated()
    case .attributes:
      var failures: [ValidationFailure] = []
      for object in destinationContext.insertedObjects { object.validate(into: &failures) }
      failures.removeAll { failure in
        destinationModel.entitiesByName[failure.entityName]?.relationshipsByName[failure.property] != nil
      }
      guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
      try destinationContext.saveValidated()
    }
    sourceContext.reset()
    destinationContext.reset()
  }

  /// Validates every new object, after its relationships are set.
  private func validate() throws {
    var failures: [ValidationFailure] = []
    for mapping in mappingModel.entityMappings {
      for (index, id) in (associations[mapping.name]?.order ?? []).enumerated() {
        let object = try destinationContext.existingObject(with: id)
        for relationship in object.entity.relationships
        where relationship.isToMany
          && (relationship.definition.minimumCount > 0 || relationship.definition.maximumCount > 0)
        {
          _ = object.value(forKey: relationship.name)
        }
        object.validate(into: &failures)
        if index % batchSize == batchSize - 1 { destinationContext.reset() }
      }
      destinationContext.reset()
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}

extension ManagedObjectContext {
  /// Gives a new object the ID with that number, which no other object has.
  func setNumber(_ number: Int64, of object: ManagedObject) throws {
    let id = try persistentStoreCoordinator.managedObjectID(entity: object.entity.name, number: number)
    registry.note(id, for: object.id)
    registry.rename(object, to: id)
  }
}
