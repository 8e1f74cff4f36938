import ControlAPI
import ControlServer
import Jobs
import ManagedObjects

extension DaemonBackend {
  func groups(_ query: GroupQuery, by peer: Peer) async throws -> ObjectGroups {
    let (store, entity) = try target(ObjectQuery(entity: query.entity, store: query.store))
    let path = try ObjectColumns.groupPath(query.by, of: entity)
    var request = FetchRequest<ManagedObject>(entityName: query.entity)
    if let format = query.predicate {
      let predicate = try FetchPredicate(where: format, of: entity, in: store)
      try permissions.check(predicate, by: peer)
      request.predicate = predicate
    }
    request.propertiesToGroupBy = [query.by]
    request.propertiesToFetch = [
      .property(query.by), .expression(ExpressionDescription(Self.groupCount, .count())),
    ]
    request.sortDescriptors = [FetchSortDescriptor(Self.groupCount, ascending: false)]
    // Objects and binary data have no order.
    if let attribute = path.properties.last as? AttributeDescription, attribute.type.isOrdered {
      request.sortDescriptors.append(FetchSortDescriptor(query.by))
    }
    request.fetchLimit = query.limit + 1
    return try await reading(store, by: peer) { [request] context in
      let rows = try context.fetchDictionaries(request)
      let groups = try rows.prefix(query.limit).map { row in
        let value = row.value(forKey: query.by) ?? .null
        var count = 0
        if case .int(let number)? = row.value(forKey: Self.groupCount) { count = Int(number) }
        guard case .object(let id) = value, let relationship = path.properties.last as? RelationshipDescription else {
          return ObjectGroups.Group(value: JSONValue(value), count: count)
        }
        var shown = JSONValue.int(id.number)
        let other = relationship.destinationEntity
        if let key = other.keyAttribute, let object = try EditPlan.object(id.number, of: other, in: context) {
          shown = JSONValue(object.value(at: key.slot))
        }
        return ObjectGroups.Group(value: shown, number: id.number, count: count)
      }
      return ObjectGroups(entity: query.entity, by: query.by, groups: groups, hasMore: rows.count > query.limit)
    }
  }

  /// The name of a column that no property has.
  private static let groupCount = "lade.count"
}

extension AttributeType {
  /// Whether a store can sort by values of the type.
  fileprivate var isOrdered: Bool {
    switch self {
    case .binaryData, .transformable, .objectID, .composite, .undefined: false
    default: true
    }
  }
}
