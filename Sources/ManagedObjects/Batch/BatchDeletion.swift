/// Deletes rows of a store and applies their delete rules, within one transaction.
struct BatchDeletion {
  let contextName: String?
  let transactionAuthor: String?

  /// Returns the deleted rows, the requested ones first.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every deletion that is denied.
  func run(_ ids: [ManagedObjectID], in transaction: any StoreTransaction) throws -> StoreBatchResult {
    var deleted: [StoreRow] = []
    var known: Set<ManagedObjectID> = []
    var next = ids.filter { known.insert($0).inserted }
    // By the rows' own entities, which the requested IDs may not name.
    while !next.isEmpty {
      let rows = try Dictionary(grouping: next, by: \.entity.rootEntity).values.flatMap {
        try transaction.rows(with: $0)
      }
      // In the order of the IDs, not the store's.
      let places = Dictionary(next.enumerated().map { ($1, $0) }) { first, _ in first }
      deleted += rows.sorted { places[$0.id] ?? 0 < places[$1.id] ?? 0 }
      next = []
      for row in rows {
        for relationship in row.id.entity.relationships where relationship.deleteRule == .cascade {
          for id in try related(to: row, by: relationship, transaction) where known.insert(id).inserted {
            next.append(id)
          }
        }
      }
    }
    try check(deleted, known, transaction)
    try release(deleted, known, transaction)
    if !deleted.isEmpty {
      var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
      changes.deleted = deleted
      _ = try transaction.write(changes)
    }
    return StoreBatchResult(count: deleted.count, ids: deleted.map(\.id))
  }

  /// Clears references to deleted rows in rows that record the time of their last change. The deletion doesn't count as a
  /// change of theirs.
  private func release(
    _ rows: [StoreRow], _ gone: Set<ManagedObjectID>, _ transaction: any StoreTransaction
  ) throws {
    for row in rows {
      for relationship in row.id.entity.relationships where relationship.deleteRule == .nullify {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany, !inverse.isTransient,
          relationship.destinationEntity.notesChanges
        else { continue }
        let members = Array(try related(to: row, by: relationship, transaction).subtracting(gone))
        for start in stride(from: 0, to: members.count, by: 2000) {
          var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
          let part = Array(members[start..<min(start + 2000, members.count)])
          for member in try transaction.rows(with: part) where member.values[inverse.slot] == .object(row.id) {
            var values = member.values
            values[inverse.slot] = .null
            changes.updated.append(.init(id: member.id, values: values, committed: member.values))
          }
          if !changes.isEmpty { _ = try transaction.write(changes) }
        }
      }
    }
  }

  /// Checks that no remaining row denies a deletion or requires a deleted row.
  private func check(
    _ rows: [StoreRow], _ gone: Set<ManagedObjectID>, _ transaction: any StoreTransaction
  ) throws {
    var failures: [ValidationFailure] = []
    for row in rows {
      for relationship in row.id.entity.relationships where relationship.canRefuseDeletion {
        let rest = try related(to: row, by: relationship, transaction).subtracting(gone)
        if rest.isEmpty { continue }
        if relationship.deleteRule == .deny {
          failures.append(
            .init(entity: row.id.entity, objectID: row.id, property: relationship.name, reason: .deleteDenied))
        } else if let inverse = relationship.inverseRelationship {
          failures += rest.map { .init(entity: $0.entity, objectID: $0, property: inverse.name, reason: .missing) }
        }
      }
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  private func related(
    to row: StoreRow, by relationship: RelationshipDescription, _ transaction: any StoreTransaction
  ) throws -> Set<ManagedObjectID> {
    if relationship.isToMany { return try transaction.relatedIDs(of: row.id, relationship).objectIDs ?? [] }
    guard case .object(let id) = row.values[relationship.slot] else { return [] }
    return [id]
  }
}

extension EntityDescription {
  /// Whether its rows, or those of an entity that inherits from it, record the time of their last change.
  fileprivate var notesChanges: Bool {
    selfAndDescendants.contains { entity in
      entity.derivations.contains { derivation in
        if case .now = derivation.source { return true }
        return false
      }
    }
  }
}

extension RelationshipDescription {
  /// Whether its objects can keep a row from being deleted.
  fileprivate var canRefuseDeletion: Bool {
    switch deleteRule {
    case .deny: return true
    case .nullify: return inverseRelationship.map { !$0.isOptional && !$0.isToMany } ?? false
    case .cascade, .noAction: return false
    }
  }
}
