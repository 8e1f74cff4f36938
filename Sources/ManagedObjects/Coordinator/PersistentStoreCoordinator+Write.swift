// A save is one transaction in each store that it concerns, one store after the other, in the order of their addition. As in
// Core Data, a store's part stays written when a later store refuses its own: the context counts that part as saved, and
// keeps the rest as changes.

extension PersistentStoreCoordinator {
  /// Writes saves one after the other, and numbers them: followers receive them in that order. A store has one writer at a time
  /// anyway.
  /// - Throws: ``PartialWriteError`` when a store has written its part and another refuses.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try saving.withLock {
      var result: StoreWriteResult
      do {
        result = try writeParts(of: changes)
      } catch var error as PartialWriteError {
        lastSave += 1
        error.result.number = lastSave
        throw error
      }
      lastSave += 1
      result.number = lastSave
      result.isInTransaction = openTransaction != nil
      return result
    }
  }

  private func writeParts(of changes: StoreChanges) throws -> StoreWriteResult {
    let map = map
    let only = try onlyStore(of: changes, map)
    if let openTransaction, only != openTransaction.store, !changes.isEmpty {
      throw StoreTransactionError.otherStore(path: StoreTransactionError.name(of: openTransaction.store.content))
    }
    if let only { return try write(changes, to: only.content) }
    try checkStores(changes, map)
    var parts: [Int: Part] = [:]
    var finder = StoreFinder(map, changes.assignments)
    func withPart(of id: ManagedObjectID, _ body: (inout Part) -> Void) throws {
      body(&parts[try finder.place(of: id), default: Part(of: changes)])
    }
    for (position, row) in changes.inserted.enumerated() {
      try withPart(of: row.id) {
        $0.changes.inserted.append(row)
        $0.positions.append(position)
      }
    }
    for rows in changes.newRows where rows.count > 0 {
      try withPart(of: rows.temporaryID(0)) { $0.changes.newRows.append(rows) }
    }
    for update in changes.updated { try withPart(of: update.id) { $0.changes.updated.append(update) } }
    for row in changes.deleted { try withPart(of: row.id) { $0.changes.deleted.append(row) } }
    return try write(parts.sorted { $0.key < $1.key }.map { (map.stores[$0.key], $0.value) }, of: changes)
  }

  private func write(_ parts: [(store: PersistentStore, part: Part)], of changes: StoreChanges) throws
    -> StoreWriteResult
  {
    var result = StoreWriteResult(ids: changes.inserted.map(\.id))
    var written: [(changes: StoreChanges, result: StoreWriteResult)] = []
    for (store, part) in parts {
      do {
        let one = try write(part.changes, to: store.content)
        for (position, id) in zip(part.positions, one.ids) { result.ids[position] = id }
        result.savedRows += one.savedRows
        result.refreshed += one.refreshed
        written.append((part.changes, one))
      } catch {
        throw written.isEmpty ? error : PartialWriteError(written, underlying: error)
      }
    }
    return result
  }

  /// Writes to one store, which needn't support rows in flat memory.
  private func write(_ changes: StoreChanges, to store: any IncrementalStore) throws -> StoreWriteResult {
    if changes.newRows.isEmpty || (store as? any BulkLoading)?.takesNewRows == true { return try store.write(changes) }
    var plain = changes
    plain.newRows = []
    for rows in changes.newRows { plain.inserted += (0..<rows.count).map { rows.row($0) } }
    var result = try store.write(plain)
    var ids = result.ids[changes.inserted.count...]
    for rows in changes.newRows {
      guard let first = ids.first else { continue }
      result.savedRows.append(SavedRows(rows, scope: first.scope, numbers: ids.prefix(rows.count).map(\.number)))
      ids = ids.dropFirst(rows.count)
    }
    result.ids.removeSubrange(changes.inserted.count...)
    return result
  }

  /// The only store that the changes concern; nil when there are several.
  private func onlyStore(of changes: StoreChanges, _ map: StoreMap) throws -> PersistentStore? {
    var finder = StoreFinder(map, changes.assignments)
    var only: Int?
    // With one store, new objects belong to it; only rows that were read may be of a store that was removed.
    let isPlain = map.stores.count == 1 && changes.assignments.isEmpty
    if isPlain, !changes.inserted.isEmpty || !changes.newRows.isEmpty { only = 0 }
    func isOther(_ id: ManagedObjectID) throws -> Bool {
      let place = try finder.place(of: id)
      if only == nil { only = place }
      return only != place
    }
    if !isPlain {
      for row in changes.inserted where try isOther(row.id) { return nil }
      for rows in changes.newRows where try rows.count > 0 && isOther(rows.temporaryID(0)) { return nil }
    }
    for update in changes.updated where try isOther(update.id) { return nil }
    for row in changes.deleted where try isOther(row.id) { return nil }
    guard let only else { return nil }
    // References may still lead to other stores.
    if map.stores.count > 1 { try checkStores(changes, map) }
    return map.stores[only]
  }

  /// Refuses references from store to store, as Core Data does.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with all of them.
  private func checkStores(_ changes: StoreChanges, _ map: StoreMap) throws {
    var failures: [ValidationFailure] = []
    var finder = StoreFinder(map, changes.assignments)
    func check(_ id: ManagedObjectID, _ values: ContiguousArray<Value>) throws {
      let relationships = id.scope.entity.relationships
      if relationships.isEmpty { return }
      let home = try finder.place(of: id)
      // Of a one-to-many relationship only the to-one end is checked.
      for relationship in relationships
      where !relationship.isTransient && (!relationship.isToMany || relationship.isManyToMany) {
        let targets: [ManagedObjectID]
        switch values[relationship.slot] {
        case .object(let target): targets = try finder.place(of: target) == home ? [] : [target]
        case .objects(let ids): targets = try ids.filter { try finder.place(of: $0) != home }
        case .orderedObjects(let ids): targets = try ids.filter { try finder.place(of: $0) != home }
        default: continue
        }
        if targets.isEmpty { continue }
        failures.append(
          .init(entity: id.entity, objectID: id, property: relationship.name, reason: .otherStore(targets)))
      }
    }
    for row in changes.inserted { try check(row.id, row.values) }
    for update in changes.updated { try check(update.id, update.values) }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}

/// One store's part of a save, with the positions of its insertions in the whole save.
private struct Part {
  var changes: StoreChanges
  var positions: [Int] = []

  init(of changes: StoreChanges) {
    self.changes = StoreChanges(contextName: changes.contextName, transactionAuthor: changes.transactionAuthor)
  }
}

/// A save that some stores have written and another has refused.
struct PartialWriteError: Error {
  /// The changes that are written.
  private(set) var changes = StoreChanges()
  /// The result of writing them.
  var result = StoreWriteResult(ids: [])
  /// The error of the store that refused.
  let underlying: any Error

  fileprivate init(_ parts: [(changes: StoreChanges, result: StoreWriteResult)], underlying: any Error) {
    self.underlying = underlying
    for part in parts {
      changes.inserted += part.changes.inserted
      changes.newRows += part.changes.newRows
      changes.updated += part.changes.updated
      changes.deleted += part.changes.deleted
      result.ids += part.result.ids
      result.savedRows += part.result.savedRows
      result.refreshed += part.result.refreshed
    }
  }
}
