extension EntityDescription {
  /// The fetched property of that name, the entity's own or inherited. Source: `NSFetchedPropertyDescription`.
  public func fetchedProperty(named name: String) -> FetchedPropertyDefinition? {
    definition.fetchedProperties.first { $0.name == name } ?? superentity?.fetchedProperty(named: name)
  }
}

extension ManagedObject {
  /// The objects that a fetched property finds now, with the context's unsaved changes.
  ///
  /// In its predicate `$FETCH_SOURCE` is this object, and `$FETCH_SOURCE.city.name` a value of it or of an object that
  /// its to-one relationships lead to. `$FETCHED_PROPERTY.name` and `$FETCHED_PROPERTY.userInfo.key` are the property's in the
  /// model. The objects may be in another store than this one.
  ///
  /// Source: fetched properties in Core Data's programming guide. Core Data keeps the result of the first access until the
  /// object is refreshed. Here each call fetches, so keep a result that is needed more than once.
  /// - Throws: ``FetchTemplateError/unknownFetchedProperty(entity:name:)``, an error in the property's predicate, or the
  ///   store's error.
  public final func fetchedObjects<T: ManagedObject>(forKey key: String) throws -> [T] {
    confinement.check()
    guard let property = entity.fetchedProperty(named: key) else {
      throw FetchTemplateError.unknownFetchedProperty(entity: entity.name, name: key)
    }
    guard state != .detached, let context = confinement.context else { return [] }
    var request: FetchRequest<T> = try property.request.request()
    request.predicate = request.predicate.map { predicate in
      predicate.replacing { path in
        let names = path.split(separator: ".").map(String.init)
        switch names.first {
        case "FETCH_SOURCE": return constant(along: names.dropFirst())
        case "FETCHED_PROPERTY": return property.constant(along: names.dropFirst())
        default: return nil
        }
      }
    }
    let missing = request.predicate?.variables ?? []
    guard missing.isEmpty else {
      throw FetchTemplateError.missingVariables(template: "\(entity.name).\(key)", names: missing.sorted())
    }
    return try context.fetch(request)
  }

  /// The objects that a fetched property finds now, for a typed class's accessor. Empty after an error, which the context's next
  /// call that can throw throws; ``fetchedObjects(forKey:)`` throws it itself.
  public final func fetchedObjects<T: ManagedObject>(_ key: String) -> [T] {
    do {
      return try fetchedObjects(forKey: key)
    } catch {
      confinement.context?.rowSource.deferError(error)
      return []
    }
  }

  /// The value that names lead to from this object, as a constant; nil when they lead to none.
  private final func constant(along names: ArraySlice<String>) -> FetchPredicate.Expression? {
    if names.isEmpty || names == ["objectID"] || names == ["self"] { return .constant(.object(id)) }
    guard let (property, length) = entity.property(beginning: names) else { return nil }
    let rest = names.dropFirst(length)
    guard let relationship = property as? RelationshipDescription else {
      return rest.isEmpty ? .constant(value(at: property.slot)) : nil
    }
    if relationship.isToMany {
      return rest.isEmpty ? resolved(relationship).objectIDs.map { .constants($0.map(Value.object)) } : nil
    }
    guard let other: ManagedObject = object(relationship.slot) else { return .constant(.null) }
    return other.constant(along: rest)
  }
}

extension FetchedPropertyDefinition {
  /// The request that it fetches.
  fileprivate var request: FetchRequestTemplateDefinition {
    var request = FetchRequestTemplateDefinition(
      name, entityName: entityName, predicateFormat: predicateFormat, fetchLimit: fetchLimit)
    request.includesSubentities = includesSubentities
    return request
  }

  /// The model's value for names of it.
  fileprivate func constant(along names: ArraySlice<String>) -> FetchPredicate.Expression? {
    if names == ["name"] { return .constant(.string(name)) }
    guard names.first == "userInfo", names.count > 1 else { return nil }
    return .constant(userInfo[names.dropFirst().joined(separator: ".")].map { .string($0) } ?? .null)
  }
}
