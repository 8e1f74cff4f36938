/// A source that asks the store of each entity: as it is, or a snapshot of it.
protocol RoutingSource: ObjectSource {
  /// What holds the entity's rows.
  /// - Throws: ``ManagedObjectError/noStore(entity:)``.
  func reader(of entity: EntityDescription) throws -> any StoreReader
}

extension RoutingSource {
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try reader(of: fetch.entity).rows(fetch) }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try reader(of: fetch.entity).ids(fetch) }
  func count(_ fetch: StoreFetch) throws -> Int { try reader(of: fetch.entity).count(fetch) }

  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try reader(of: query.fetch.entity).dictionaries(query)
  }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    if let only = ids.first, ids.count == 1 {
      return only.isTemporaryID ? [] : try reader(of: only.entity).rows(with: ids)
    }
    return try Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.entity.rootEntity).flatMap { _, ids in
      try reader(of: ids[0].entity).rows(with: ids)
    }
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    if id.isTemporaryID || relationship.isUnstored { return relationship.emptyValue }
    return try reader(of: id.entity).relatedIDs(of: id, relationship)
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    let saved = ids.filter { !$0.isTemporaryID }
    guard let first = saved.first else { return [] }
    return try reader(of: first.entity).relatedRows(of: saved, relationship)
  }
}
