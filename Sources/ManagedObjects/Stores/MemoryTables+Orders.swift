import OrderedCollections

/// The members of one owner's ordered relationship that somebody has given a position.
struct MemoryOrder {
  var positions: [Int64: Int64] = [:]
  /// The greatest position ever given.
  var last: Int64?

  mutating func place(_ member: Int64, at position: Int64?) {
    positions[member] = position
    if let position { last = max(last ?? position, position) }
  }
}

extension MemoryTables: OrderKeeper {
  func members(of relationship: RelationshipDescription, _ owner: Int64) -> [OrderPlan.Member] {
    let order = orders[relationship]?[owner]
    return held(by: relationship, owner).map { .init(number: $0.number, position: order?.positions[$0.number]) }
      .sorted { $0.isBefore($1) }
  }

  func lastPosition(in relationship: RelationshipDescription, of owner: Int64) -> Int64? {
    orders[relationship]?[owner]?.last
  }

  mutating func place(
    _ member: Int64, in relationship: RelationshipDescription, from former: Int64?, to owner: Int64?,
    at position: Int64?
  ) {
    if let former, former != owner { setPosition(nil, of: member, in: relationship, former) }
    if let owner { setPosition(position, of: member, in: relationship, owner) }
  }

  /// What a relationship holds: as a set, or in its order where it has one.
  func related(to id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
    let ids = held(by: relationship, id.number)
    guard relationship.isOrdered else { return .objects(ids) }
    let byNumber = Dictionary(ids.map { ($0.number, $0) }) { first, _ in first }
    return .orderedObjects(OrderedSet(members(of: relationship, id.number).compactMap { byNumber[$0.number] }))
  }
}
