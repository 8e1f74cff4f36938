/// A source that routes each read to the stores that hold the rows: as they are, or snapshots of them.
protocol RoutingSource: ObjectSource {
  /// The stores.
  var map: StoreMap { get }
  /// The reader of a store; nil for a store that isn't part of the source.
  func reader(of store: PersistentStore) throws -> (any StoreReader)?
}

extension RoutingSource {
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    if let only = try onlyReader(of: fetch) { return try only.rows(fetch) }
    return try MergedFetch(fetch, readers(of: fetch)).rows()
  }

  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    if let only = try onlyReader(of: fetch) { return try only.eachRow(fetch, take) }
    for row in try MergedFetch(fetch, readers(of: fetch)).rows() { take(row) }
  }

  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    if let only = try onlyReader(of: fetch) { return try only.ids(fetch) }
    return try MergedFetch(fetch, readers(of: fetch)).ids()
  }

  func count(_ fetch: StoreFetch) throws -> Int {
    if let only = try onlyReader(of: fetch) { return try only.count(fetch) }
    return try MergedFetch(fetch, readers(of: fetch)).count()
  }

  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    if let only = try onlyReader(of: query.fetch) { return try only.dictionaries(query) }
    return try MergedQuery(query, readers(of: query.fetch)).dictionaries()
  }

  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    if let only = try onlyReader(of: query.fetch) { return try only.eachDictionary(query, take) }
    for row in try MergedQuery(query, readers(of: query.fetch)).dictionaries() { try take(row) }
  }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    if let only = ids.first, ids.count == 1 {
      return only.isTemporaryID ? [] : try reader(holding: only).rows(with: ids)
    }
    let saved = ids.contains(where: \.isTemporaryID) ? ids.filter { !$0.isTemporaryID } : ids
    return try parts(of: saved, byHierarchy: true).flatMap { ids in try reader(holding: ids[0]).rows(with: ids) }
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    if id.isTemporaryID || relationship.isUnstored { return relationship.emptyValue }
    return try reader(holding: id).relatedIDs(of: id, relationship)
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try parts(of: ids.filter { !$0.isTemporaryID }, byHierarchy: false).flatMap { ids in
      try reader(holding: ids[0]).relatedRows(of: ids, relationship)
    }
  }

  // MARK: Stores

  /// The reader of the only store that a fetch is for; nil when there are several.
  private func onlyReader(of fetch: StoreFetch) throws -> (any StoreReader)? {
    guard fetch.affectedStores == nil else { return nil }
    let stores = map.stores(of: fetch.entity, includesSubentities: fetch.includesSubentities)
    return stores.count == 1 ? try reader(of: stores[0]) : nil
  }

  private func readers(of fetch: StoreFetch) throws -> [any StoreReader] {
    let readers = try map.stores(for: fetch).compactMap { try reader(of: $0) }
    guard !readers.isEmpty else { throw ManagedObjectError.noStore(entity: fetch.entity.name) }
    return readers
  }

  private func reader(holding id: ManagedObjectID) throws -> any StoreReader {
    guard let reader = try reader(of: map.store(holding: id)) else { throw PersistentStoreError.notReachable(id) }
    return reader
  }

  /// IDs grouped by store, and by hierarchy if asked for.
  private func parts(of ids: [ManagedObjectID], byHierarchy: Bool) throws -> [[ManagedObjectID]] {
    guard let first = ids.first else { return [] }
    let map = map
    var finder = StoreFinder(map, [:])
    let place = try finder.place(of: first)
    let root = first.entity.rootEntity.index
    if try ids.allSatisfy({
      try finder.place(of: $0) == place && (!byHierarchy || $0.scope.entity.rootEntity.index == root)
    }) {
      return [ids]
    }
    var parts: [[ManagedObjectID]] = []
    var places: [[Int]: Int] = [:]
    for id in ids {
      let key = [try finder.place(of: id), byHierarchy ? id.entity.rootEntity.index : 0]
      if let known = places[key] {
        parts[known].append(id)
      } else {
        places[key] = parts.count
        parts.append([id])
      }
    }
    return parts
  }
}

extension PersistentStoreCoordinator {
  /// The stores that a request is for.
  /// - Throws: ``ManagedObjectError/noStore(entity:)``, ``PersistentStoreError/notHeld(entity:stores:)``.
  func stores(for fetch: StoreFetch) throws -> [PersistentStore] {
    let stores = try map.stores(for: fetch)
    guard !stores.isEmpty else { throw ManagedObjectError.noStore(entity: fetch.entity.name) }
    return stores
  }
}

extension StoreMap {
  /// The stores that a fetch is for; none when none holds the entity.
  /// - Throws: ``PersistentStoreError/notHeld(entity:stores:)`` when the stores that it names hold nothing of the entity.
  func stores(for fetch: StoreFetch) throws -> [PersistentStore] {
    let all = stores(of: fetch.entity, includesSubentities: fetch.includesSubentities)
    guard let affected = fetch.affectedStores else { return all }
    let found = all.filter { affected.contains($0.identifier) }
    guard !found.isEmpty else {
      throw PersistentStoreError.notHeld(entity: fetch.entity.name, stores: affected.sorted())
    }
    return found
  }
}
