import ManagedObjects

// Replacing objects in their places: a row makes of the object with its key what it would have made of a new one.
extension RowApplier {
  /// Looks which of the objects that the batch finds are still to be replaced.
  func beginReplacing() throws {
    guard mode == .replace, let seen = pending.seen else { return }
    unreplaced = Set(try seen.unseen(among: (existing?.all() ?? []).map(\.objectID).filter { $0.entity === entity }))
  }

  /// Whether a row may take an object's place: no other has.
  func isReplaceable(_ object: ManagedObject) -> Bool {
    unreplaced.contains(object.objectID) && lastRow[ObjectIdentifier(object)] == nil
  }

  /// What the row doesn't say becomes as it is in a new object; to-many relationships stay.
  func replaceRest(_ row: ConvertedBatch.Row, _ change: inout RowChange) {
    for attribute in entity.attributes where !attribute.isTransient && attribute.definition.derivationExpression == nil
    {
      change.set(row.values[attribute.slot], at: attribute.slot)
    }
    var said = Set(row.nested.map(\.link.relationship.slot))
    for (place, reference) in references.enumerated() where row.keys[place] != .unresolved {
      said.insert(reference.relationship.slot)
    }
    for relationship in entity.relationships
    where !relationship.isToMany && !relationship.isTransient && !said.contains(relationship.slot) {
      change.clear(relationship)
    }
  }

  /// Has an object that is still to be replaced, or deleted, give up a unique value that a row has now.
  /// - Returns: false when it can't.
  func yield(_ place: Int, _ change: RowChange) -> Bool {
    let attributes = batch.mapping.constraints[place].attributes
    guard mode == .replace, let owner = existing?.object(uniqueKey(change.new, place), place), isReplaceable(owner),
      let free = attributes.first(where: { $0.isOptional && $0 !== entity.primaryKey })
    else { return false }
    let old = owner.slots
    owner.setValue(.null, at: free.slot)
    existing?.note(owner, formerly: old)
    return true
  }
}
