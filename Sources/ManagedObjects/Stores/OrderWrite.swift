import OrderedCollections

/// A store's access to the order of ordered relationships, within one write.
package protocol OrderKeeper {
  /// The members of an ordered relationship, in their order.
  func members(of relationship: RelationshipDescription, _ owner: Int64) throws -> [OrderPlan.Member]
  /// The greatest position that is taken; nil when none is.
  func lastPosition(in relationship: RelationshipDescription, of owner: Int64) throws -> Int64?
  /// Gives a member a position, or none, in the relationship of its current owner.
  mutating func place(
    _ member: Int64, in relationship: RelationshipDescription, from former: Int64?, to owner: Int64?,
    at position: Int64?
  ) throws
}

/// Writes the changed order of ordered relationships, after a save's rows and pairs are written.
///
/// An owner whose set was changed determines the whole order. An object that only got a new owner, whose set wasn't read, comes
/// last.
package struct OrderWrite {
  private let changes: StoreChanges
  private let ids: [ManagedObjectID]
  private let number: (ManagedObjectID) -> Int64?
  private var stated: [Owner: OrderedSet<ManagedObjectID>] = [:]
  private var owners: [Owner] = []

  private struct Owner: Hashable {
    let relationship: RelationshipDescription
    let number: Int64
  }

  /// - Parameters:
  ///   - ids: the permanent IDs of the new rows, in their order.
  ///   - number: the number of a row, also by its temporary ID.
  package init(_ changes: StoreChanges, _ ids: [ManagedObjectID], number: @escaping (ManagedObjectID) -> Int64?) {
    self.changes = changes
    self.ids = ids
    self.number = number
    for (row, id) in zip(changes.inserted, ids) { note(row.values, nil, id.number, row.id.entity) }
    for update in changes.updated { note(update.values, update.committed, update.id.number, update.id.entity) }
  }

  private mutating func note(
    _ values: ContiguousArray<Value>, _ former: ContiguousArray<Value>?, _ number: Int64, _ entity: EntityDescription
  ) {
    for relationship in entity.orderedSets {
      guard case .orderedObjects(let order) = values[relationship.slot],
        former.map({ $0[relationship.slot] != values[relationship.slot] }) ?? !order.isEmpty
      else { continue }
      let owner = Owner(relationship: relationship, number: number)
      owners.append(owner)
      stated[owner] = order
    }
  }

  /// Writes the positions that differ.
  package func write<Keeper: OrderKeeper>(to keeper: inout Keeper) throws {
    var last: [Owner: Int64] = [:]
    for (row, id) in zip(changes.inserted, ids) where !row.id.entity.orderedReferences.isEmpty {
      try append(row.id, id.number, row.values, nil, &last, &keeper)
    }
    for update in changes.updated where !update.id.entity.orderedReferences.isEmpty {
      try append(update.id, update.id.number, update.values, update.committed, &last, &keeper)
    }
    for owner in owners {
      guard let order = stated[owner] else { continue }
      let stored = try keeper.members(of: owner.relationship, owner.number)
      for (member, position) in OrderPlan.changes(from: stored, to: order.compactMap(number)) {
        try keeper.place(member, in: owner.relationship, from: owner.number, to: owner.number, at: position)
      }
    }
  }

  private func append<Keeper: OrderKeeper>(
    _ id: ManagedObjectID, _ member: Int64, _ values: ContiguousArray<Value>, _ former: ContiguousArray<Value>?,
    _ last: inout [Owner: Int64], _ keeper: inout Keeper
  ) throws {
    for reference in id.entity.orderedReferences where former?[reference.slot] != values[reference.slot] {
      guard let relationship = reference.inverseRelationship else { continue }
      var before: Int64?
      if case .object(let id)? = former?[reference.slot] { before = id.number }
      guard case .object(let target) = values[reference.slot], let owner = number(target) else {
        if let before { try keeper.place(member, in: relationship, from: before, to: nil, at: nil) }
        continue
      }
      let key = Owner(relationship: relationship, number: owner)
      var position: Int64?
      if stated[key]?.contains(id) != true {
        let next = try (last[key] ?? keeper.lastPosition(in: relationship, of: owner) ?? 0) + OrderPlan.step
        last[key] = next
        position = next
      } else if before == nil {
        continue
      }
      try keeper.place(member, in: relationship, from: before, to: owner, at: position)
    }
  }
}
