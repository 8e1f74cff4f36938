import ManagedObjects

/// Reads numbers in a client's predicate as the objects that they are of: `objectID == 12`, `manager.objectID == 3`,
/// `ANY orders.objectID IN {1, 2}`. No other text stands for an object. Within a `SUBQUERY` a number stays one.
struct ObjectNumbers {
  let coordinator: PersistentStoreCoordinator

  /// - Parameter entity: that of the objects that the predicate is asked of.
  func resolved(_ predicate: FetchPredicate, of entity: EntityDescription) throws -> FetchPredicate {
    switch predicate {
    case .constant: return predicate
    case .and(let parts): return .and(try parts.map { try resolved($0, of: entity) })
    case .or(let parts): return .or(try parts.map { try resolved($0, of: entity) })
    case .not(let inner): return .not(try resolved(inner, of: entity))
    case .comparison(var comparison):
      if let other = destination(of: comparison.left, from: entity) {
        comparison.right = try objects(comparison.right, of: other)
      } else if let other = destination(of: comparison.right, from: entity) {
        comparison.left = try objects(comparison.left, of: other)
      }
      return .comparison(comparison)
    }
  }

  /// The entity of the objects that an expression such as `manager.objectID` yields; nil for any other expression.
  private func destination(
    of expression: FetchPredicate.Expression, from entity: EntityDescription
  ) -> EntityDescription? {
    if case .evaluatedObject = expression { return entity }
    guard case .keyPath(let names) = expression, let last = names.last, ObjectColumns.Path.isNumber(last) else {
      return nil
    }
    var here = entity
    for name in names.dropLast() {
      guard let relationship = here.propertiesByName[name] as? RelationshipDescription else { return nil }
      here = relationship.destinationEntity
    }
    return here.propertiesByName[last] == nil ? here : nil
  }

  private func objects(
    _ expression: FetchPredicate.Expression, of entity: EntityDescription
  ) throws -> FetchPredicate.Expression {
    switch expression {
    case .constant(let value): .constant(try object(value, of: entity))
    case .constants(let values): .constants(try values.map { try object($0, of: entity) })
    default: expression
    }
  }

  private func object(_ value: Value, of entity: EntityDescription) throws -> Value {
    guard case .int(let number) = value else { return value }
    return .object(try coordinator.managedObjectID(entity: entity.name, number: number))
  }
}
