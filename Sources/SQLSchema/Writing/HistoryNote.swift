package import ManagedObjects

/// What a store's history says of one object in a transaction.
package struct HistoryNote: Sendable {
  package let kind: PersistentHistoryChange.ChangeType
  package let id: ManagedObjectID
  /// The names of the changed properties.
  package var properties: [String] = []
  /// The last values of a deleted object that the model keeps.
  package var tombstone: [String: Value] = [:]

  /// Notes what a save changes.
  ///
  /// The owners of one-to-many sets whose members have changed are among its changed objects, whether or not it lists them: an
  /// import doesn't.
  /// - Parameters:
  ///   - owners: the owners of the sets that change; nil for a batch request, which changes rows and not objects.
  ///   - exactID: the ID of an owner with its own entity, where a reference names that of the relationship.
  package static func each(
    _ changes: StoreChanges, ids: [ManagedObjectID], owners: OwnerChanges?,
    exactID: (ManagedObjectID) throws -> ManagedObjectID?, note: (HistoryNote) throws -> Void
  ) throws {
    var sets = owners?.sets ?? [:]
    for row in changes.deleted { sets[row.id] = nil }
    for id in ids { sets[id] = nil }
    for row in changes.deleted where !row.id.isTemporaryID {
      try note(HistoryNote(kind: .delete, id: row.id, tombstone: tombstone(row)))
    }
    for update in changes.updated {
      let members = sets.removeValue(forKey: update.id)
      let names = update.id.entity.properties.filter { property in
        if let members, members[property.slot] != nil { return true }
        if property.isTransient { return false }
        if let set = property as? RelationshipDescription, set.isToMany, !set.isManyToMany, !set.isOrdered {
          // Without knowledge of the members' rows, a set that has been read tells.
          return owners == nil && update.values[set.slot] != update.committed[set.slot]
        }
        return update.values[property.slot] != update.committed[property.slot]
      }.map(\.name)
      if !names.isEmpty { try note(HistoryNote(kind: .update, id: update.id, properties: names)) }
    }
    for (owner, members) in sets where !owner.isTemporaryID {
      let exact = owner.entity.subentities.isEmpty ? owner : try exactID(owner)
      guard let exact else { continue }
      let names = exact.entity.relationships.filter { members[$0.slot] != nil }.map(\.name)
      try note(HistoryNote(kind: .update, id: exact, properties: names))
    }
    for id in ids { try note(HistoryNote(kind: .insert, id: id)) }
  }

  /// The last values of a deleted object that the model keeps in the history.
  private static func tombstone(_ row: StoreRow) -> [String: Value] {
    var kept: [String: Value] = [:]
    for attribute in row.id.entity.attributes where attribute.definition.preservesValueInHistoryOnDeletion {
      if !row.values[attribute.slot].isNull { kept[attribute.name] = row.values[attribute.slot] }
    }
    return kept
  }
}
