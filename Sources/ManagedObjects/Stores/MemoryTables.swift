import OrderedCollections

// The content of a store in memory, with indexes that keep the cost of a write proportional to its changes: which rows refer to
// a row, and which rows have the values of a uniqueness constraint. Every change goes through `put`, `remove`, `link` and
// `unlink`, which maintain the indexes and record how to undo the change.

/// The rows of a store in memory. Their to-many slots are `unresolved`: the indexes hold the sets.
struct MemoryTables {
  /// One step of a write, as it is undone.
  private enum Step {
    case row(root: Int, number: Int64, former: StoreRow?)
    case pair(RelationshipDescription, ManagedObjectID, ManagedObjectID, wasLinked: Bool)
    case position(RelationshipDescription, owner: Int64, member: Int64, former: Int64?)
  }

  /// Rows by number, of each entity hierarchy by the root's index.
  private(set) var rows: [Int: [Int64: StoreRow]] = [:]
  /// By to-one relationship: of the number of each row referred to, the rows that refer to it.
  private var referrers: [RelationshipDescription: [Int64: Set<ManagedObjectID>]] = [:]
  /// By many-to-many relationship: of the number of each row, those it is paired with.
  private var pairs: [RelationshipDescription: [Int64: Set<ManagedObjectID>]] = [:]
  /// By many-to-many relationship without an inverse: of the number of each row, those that are paired with it.
  private var reversedPairs: [RelationshipDescription: [Int64: Set<ManagedObjectID>]] = [:]
  /// By constraint and values: the numbers of the rows that have them.
  private var owners: [[AttributeDescription]: [[Value]: Set<Int64>]] = [:]
  /// By ordered relationship: of the number of each row, the positions of its members.
  private(set) var orders: [RelationshipDescription: [Int64: MemoryOrder]] = [:]
  /// Whether there are ordered relationships at all.
  let hasOrders: Bool
  /// Whether there are derived attributes at all.
  let hasDerivations: Bool
  private var steps: [Step] = []

  init(_ entities: [EntityDescription] = []) {
    hasOrders = entities.contains(where: \.hasOrders)
    hasDerivations = entities.contains(where: \.hasDerivations)
  }

  // MARK: Reading

  func row(_ id: ManagedObjectID) -> StoreRow? { rows[id.entity.rootEntity.index]?[id.number] }

  /// The rows at the other end of a to-many relationship.
  func held(by relationship: RelationshipDescription, _ owner: Int64) -> Set<ManagedObjectID> {
    if relationship.isManyToMany { return pairs[relationship]?[owner] ?? [] }
    guard let inverse = relationship.inverseRelationship else { return [] }
    return referrers[inverse]?[owner] ?? []
  }

  /// The rows that hold a row by a relationship.
  func referring(to row: Int64, by relationship: RelationshipDescription) -> Set<ManagedObjectID> {
    guard relationship.isToMany else { return referrers[relationship]?[row] ?? [] }
    guard let inverse = relationship.inverseRelationship else { return reversedPairs[relationship]?[row] ?? [] }
    return inverse.isToMany ? pairs[inverse]?[row] ?? [] : []
  }

  /// The numbers of the rows that have the same values in a constraint; none when one of them is nil.
  func owners(of constraint: [AttributeDescription], _ values: ContiguousArray<Value>) -> Set<Int64> {
    guard let key = Self.key(constraint, values) else { return [] }
    return owners[constraint]?[key] ?? []
  }

  /// The rows that refer to a row, which may be gone, by a to-one relationship.
  func referrers(to id: ManagedObjectID, by relationship: RelationshipDescription) -> Set<ManagedObjectID> {
    referrers[relationship]?[id.number] ?? []
  }

  // MARK: Writing

  /// Adds a row, or replaces it.
  mutating func put(_ row: StoreRow) { set(row.id.entity, row.id.number, row) }

  /// Removes a row and clears references to it, except those whose delete rule is to cascade or deny.
  mutating func remove(_ id: ManagedObjectID) {
    for relationship in id.entity.references {
      if relationship.isManyToMany {
        for other in reversedPairs[relationship]?[id.number] ?? [] { unlink(relationship, other, id) }
      } else if !relationship.isToMany {
        switch relationship.inverseRelationship?.deleteRule {
        case .cascade, .deny: continue
        case .nullify, .noAction, nil: break
        }
        for other in referrers[relationship]?[id.number] ?? [] {
          guard var row = row(other) else { continue }
          row.values[relationship.slot] = .null
          put(row)
        }
      }
    }
    for relationship in id.entity.relationships where relationship.isManyToMany {
      for other in pairs[relationship]?[id.number] ?? [] { unlink(relationship, id, other) }
    }
    if let row = row(id) {
      for reference in id.entity.orderedReferences {
        guard case .object(let owner) = row.values[reference.slot], let relationship = reference.inverseRelationship
        else { continue }
        setPosition(nil, of: id.number, in: relationship, owner.number)
      }
    }
    set(id.entity, id.number, nil)
  }

  /// Pairs two rows by a many-to-many relationship, in both directions.
  mutating func link(_ relationship: RelationshipDescription, _ a: ManagedObjectID, _ b: ManagedObjectID) {
    guard pairs[relationship]?[a.number]?.contains(b) != true else { return }
    steps.append(.pair(relationship, a, b, wasLinked: false))
    setPair(relationship, a, b, isLinked: true)
  }

  /// Removes a pair.
  mutating func unlink(_ relationship: RelationshipDescription, _ a: ManagedObjectID, _ b: ManagedObjectID) {
    guard pairs[relationship]?[a.number]?.contains(b) == true else { return }
    steps.append(.pair(relationship, a, b, wasLinked: true))
    if relationship.isOrdered { setPosition(nil, of: b.number, in: relationship, a.number) }
    if let inverse = relationship.inverseRelationship, inverse.isOrdered {
      setPosition(nil, of: a.number, in: inverse, b.number)
    }
    setPair(relationship, a, b, isLinked: false)
  }

  /// Gives a member of an ordered relationship its position, or none.
  mutating func setPosition(
    _ position: Int64?, of member: Int64, in relationship: RelationshipDescription, _ owner: Int64
  ) {
    let former = orders[relationship]?[owner]?.positions[member]
    guard former != position else { return }
    steps.append(.position(relationship, owner: owner, member: member, former: former))
    orders[relationship, default: [:]][owner, default: MemoryOrder()].place(member, at: position)
  }

  /// Runs a write. If it throws, everything is as it was before.
  mutating func transaction<T>(_ body: (inout MemoryTables) throws -> T) rethrows -> T {
    steps.removeAll(keepingCapacity: true)
    do {
      return try body(&self)
    } catch {
      let taken = steps
      for step in taken.reversed() {
        switch step {
        case .row(let root, let number, let former): exchange(root, number, former)
        case .pair(let relationship, let a, let b, let wasLinked): setPair(relationship, a, b, isLinked: wasLinked)
        case .position(let relationship, let owner, let member, let former):
          orders[relationship]?[owner]?.place(member, at: former)
        }
      }
      throw error
    }
  }

  // MARK: Indexes

  private mutating func set(_ entity: EntityDescription, _ number: Int64, _ row: StoreRow?) {
    let root = entity.rootEntity.index
    steps.append(.row(root: root, number: number, former: exchange(root, number, row)))
  }

  @discardableResult
  private mutating func exchange(_ root: Int, _ number: Int64, _ row: StoreRow?) -> StoreRow? {
    let former = rows[root]?[number]
    if let former { index(former, isPresent: false) }
    rows[root, default: [:]][number] = row
    if let row { index(row, isPresent: true) }
    return former
  }

  private mutating func index(_ row: StoreRow, isPresent: Bool) {
    for relationship in row.id.entity.relationships {
      guard case .object(let target) = row.values[relationship.slot] else { continue }
      referrers[relationship, default: [:]].set(row.id, at: target.number, isPresent)
    }
    for constraint in row.id.entity.uniquenessConstraints {
      guard let key = Self.key(constraint, row.values) else { continue }
      owners[constraint, default: [:]].set(row.id.number, at: key, isPresent)
    }
  }

  private mutating func setPair(
    _ relationship: RelationshipDescription, _ a: ManagedObjectID, _ b: ManagedObjectID, isLinked: Bool
  ) {
    pairs[relationship, default: [:]].set(b, at: a.number, isLinked)
    if let inverse = relationship.inverseRelationship {
      pairs[inverse, default: [:]].set(a, at: b.number, isLinked)
    } else {
      reversedPairs[relationship, default: [:]].set(a, at: b.number, isLinked)
    }
  }

  /// The values by which rows are unique; null conflicts with nothing.
  private static func key(_ constraint: [AttributeDescription], _ values: ContiguousArray<Value>) -> [Value]? {
    let key = constraint.map { values[$0.slot].comparisonKey }
    return key.contains(.null) ? nil : key
  }
}

extension Dictionary {
  /// Adds a member to the set under a key, or removes it. Empty sets are removed.
  fileprivate mutating func set<Member: Hashable>(_ member: Member, at key: Key, _ isPresent: Bool)
  where Value == Set<Member> {
    if isPresent {
      self[key, default: []].insert(member)
    } else if self[key]?.remove(member) != nil, self[key]?.isEmpty == true {
      self[key] = nil
    }
  }
}

extension MemoryTables {
  /// The rows that a fetch finds, in order.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try fetch.rows(among: candidates(fetch), in: Snapshot(self)) }

  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try fetch.page(candidates(fetch), in: Snapshot(self)).map(\.row.id)
  }

  func count(_ fetch: StoreFetch) -> Int {
    let rest = max(0, fetch.matching(candidates(fetch), in: Snapshot(self)).count - fetch.offset)
    return fetch.limit > 0 ? min(rest, fetch.limit) : rest
  }

  /// The values that a query asks for, of rows or groups of rows.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try query.dictionaries(among: candidates(query.fetch), in: Snapshot(self))
  }

  /// The rows at the other end of a to-many relationship of several objects.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) -> [RelatedRow] {
    ids.flatMap { owner in
      related(to: owner, by: relationship).relatedIDs.compactMap { id in
        row(id).map { RelatedRow(owner: owner, row: $0) }
      }
    }
  }

  /// All rows of the hierarchy.
  private func candidates(_ fetch: StoreFetch) -> Dictionary<Int64, StoreRow>.Values {
    (rows[fetch.entity.rootEntity.index] ?? [:]).values
  }
}

/// The tables as they are when a fetch begins, shared by the rows that it looks at.
private final class Snapshot: StoreRowSource {
  let tables: MemoryTables
  init(_ tables: MemoryTables) { self.tables = tables }

  func row(with id: ManagedObjectID) -> StoreRow? { tables.row(id) }

  func objects(of id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
    tables.related(to: id, by: relationship)
  }
}

/// The members of one owner's ordered relationship that have a position.
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

  /// The objects of a relationship: a set, or an ordered set where it has an order.
  func related(to id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
    let ids = held(by: relationship, id.number)
    guard relationship.isOrdered else { return .objects(ids) }
    let byNumber = Dictionary(ids.map { ($0.number, $0) }) { first, _ in first }
    return .orderedObjects(OrderedSet(members(of: relationship, id.number).compactMap { byNumber[$0.number] }))
  }
}

extension MemoryTables: DerivationKeeper {
  func id(of row: Int64, in entity: EntityDescription) -> ManagedObjectID? {
    rows[entity.rootEntity.index]?[row]?.id
  }

  func value(of property: PropertyDescription, row: Int64) -> Value {
    guard let row = rows[property.entity.rootEntity.index]?[row], row.id.entity.isKindOf(property.entity) else {
      return .null
    }
    return row.values[property.slot]
  }

  func count(of relationship: RelationshipDescription, owner: Int64) -> Int { held(by: relationship, owner).count }

  func values(of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64) -> [Value] {
    held(by: relationship, owner).map(\.number).sorted().map { value(of: attribute, row: $0) }
  }

  func owners(holding row: Int64, in relationship: RelationshipDescription) -> [Int64] {
    referring(to: row, by: relationship).map(\.number)
  }

  mutating func set(_ value: Value, of attribute: AttributeDescription, row: Int64) {
    guard var row = rows[attribute.entity.rootEntity.index]?[row] else { return }
    row.values[attribute.slot] = value
    put(row)
  }
}
