package import Foundation

/// The reads and writes of a store that deriving values needs, inside its write transaction. Rows are identified by number.
package protocol DerivationKeeper {
  /// The row's ID with its own entity; nil if there is no such row.
  func id(of row: Int64, in entity: EntityDescription) throws -> ManagedObjectID?
  /// An attribute's or to-one relationship's value; nil if the row doesn't exist or has no such property.
  func value(of property: PropertyDescription, row: Int64) throws -> Value
  /// The number of rows in a to-many relationship.
  func count(of relationship: RelationshipDescription, owner: Int64) throws -> Int
  /// An attribute's values in the rows of a to-many relationship, in order of their numbers.
  func values(of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64) throws
    -> [Value]
  /// The rows whose to-one or many-to-many relationship refers to a row.
  func owners(holding row: Int64, in relationship: RelationshipDescription) throws -> [Int64]
  /// Sets a derived attribute.
  mutating func set(_ value: Value, of attribute: AttributeDescription, row: Int64) throws
}

/// Derives values during a store's write. All stores use it, so that all derive alike.
///
/// 1. Before the write, ``prepare(_:_:)`` sets values that depend only on the row itself, and records which rows depend on rows
///    to be deleted.
/// 2. The store writes.
/// 3. ``finish(_:_:number:to:)`` records which rows depend on the written ones, derives each value once from the store's
///    current content, writes those that differ, and reports them.
///
/// A value assigned to a derived attribute is ignored: the save restores the derived one.
package struct DerivationWrite {
  private struct Target: Hashable {
    let attribute: AttributeDescription
    let row: Int64
  }

  /// The time of the save, to the microsecond, as stores keep it.
  private let now: Date
  private var targets: [Derivation] = []
  private var rows: [Int64] = []
  private var known: Set<Target> = []
  /// Values set in rows of the change set that their objects don't have, by row index.
  private var insertedValues: [Int: [Int: Value]] = [:]
  private var updatedValues: [Int: [Int: Value]] = [:]

  /// A write at the time `now`.
  package init(now: Date = Date()) {
    self.now = Date(timeIntervalSince1970: (now.timeIntervalSince1970 * 1_000_000).rounded() / 1_000_000)
  }

  // MARK: Before

  /// Sets values that depend only on the row itself, and records the dependents of rows to be deleted.
  package mutating func prepare(_ changes: inout StoreChanges, _ keeper: some DerivationKeeper) throws {
    for index in changes.inserted.indices {
      for derivation in changes.inserted[index].id.entity.derivations {
        let slot = derivation.attribute.slot
        let value =
          derivation.isOwnRow
          ? derivation.value(in: changes.inserted[index].values, now: now) : derivation.emptyValue
        guard changes.inserted[index].values[slot] != value else { continue }
        changes.inserted[index].values[slot] = value
        insertedValues[index, default: [:]][slot] = value
      }
    }
    for index in changes.updated.indices {
      for derivation in changes.updated[index].id.entity.derivations {
        let slot = derivation.attribute.slot
        let value =
          derivation.isOwnRow
          ? derivation.value(in: changes.updated[index].values, now: now) : changes.updated[index].committed[slot]
        guard changes.updated[index].values[slot] != value else { continue }
        changes.updated[index].values[slot] = value
        updatedValues[index, default: [:]][slot] = value
      }
    }
    for row in changes.deleted { try noteDependents(of: row.id, keeper) }
  }

  /// Records the dependents of a row by its content in the store: before a deletion, or after a change whose details are
  /// unknown.
  package mutating func noteDependents(of id: ManagedObjectID, _ keeper: some DerivationKeeper) throws {
    for trigger in id.entity.derivationTriggers {
      switch trigger {
      case .member(let derivation, let reference, _):
        if case .object(let owner) = try keeper.value(of: reference, row: id.number) { note(derivation, owner.number) }
      case .pair(let derivation, let relationship, _):
        for owner in try keeper.owners(holding: id.number, in: relationship) { note(derivation, owner) }
      case .step(let derivation, let steps, _):
        for owner in try owners(of: id.number, over: steps, keeper) { note(derivation, owner) }
      }
    }
  }

  /// Records every derived value of a row.
  package mutating func noteRow(_ id: ManagedObjectID) {
    for derivation in id.entity.derivations { note(derivation, id.number) }
  }

  // MARK: After

  /// Derives and writes everything recorded, and everything that depends on the changes.
  /// - Parameters:
  ///   - ids: the permanent IDs of the new rows, in their order.
  ///   - number: the number of a row by its ID, which may be temporary.
  package mutating func finish<Keeper: DerivationKeeper>(
    _ changes: StoreChanges, _ ids: [ManagedObjectID], number: (ManagedObjectID) -> Int64?, to keeper: inout Keeper
  ) throws -> [StoreWriteResult.Refresh] {
    for (index, id) in ids.enumerated() {
      try noteChange(of: id, nil, changes.inserted[index].values, number, keeper)
    }
    for update in changes.updated { try noteChange(of: update.id, update.committed, update.values, number, keeper) }

    var found: [ManagedObjectID: [Int: Value]] = [:]
    var order: [ManagedObjectID] = []
    func tell(_ id: ManagedObjectID, _ values: [Int: Value]) {
      if found[id] == nil { order.append(id) }
      found[id, default: [:]].merge(values) { $1 }
    }
    for (index, values) in insertedValues.sorted(by: { $0.key < $1.key }) { tell(ids[index], values) }
    for (index, values) in updatedValues.sorted(by: { $0.key < $1.key }) { tell(changes.updated[index].id, values) }
    for (derivation, row) in zip(targets, rows) {
      let attribute = derivation.attribute
      guard let id = try keeper.id(of: row, in: attribute.entity), id.entity.isKindOf(attribute.entity) else {
        continue
      }
      let value = try value(derivation, row, keeper)
      guard try !keeper.value(of: attribute, row: row).isStoredAlike(value) else { continue }
      try keeper.set(value, of: attribute, row: row)
      tell(id, [attribute.slot: value])
    }
    return order.map { StoreWriteResult.Refresh(id: $0, values: found[$0] ?? [:]) }
  }

  private mutating func noteChange(
    of id: ManagedObjectID, _ former: ContiguousArray<Value>?, _ values: ContiguousArray<Value>,
    _ number: (ManagedObjectID) -> Int64?, _ keeper: some DerivationKeeper
  ) throws {
    func hasChanged(_ property: PropertyDescription) -> Bool { former?[property.slot] != values[property.slot] }
    for derivation in id.entity.derivations {
      switch derivation.source {
      case .now: break
      case .path(let steps, _): if let first = steps.first, hasChanged(first) { note(derivation, id.number) }
      case .count(let relationship), .sum(let relationship, _):
        if relationship.isManyToMany, hasChanged(relationship) { note(derivation, id.number) }
      }
    }
    for trigger in id.entity.derivationTriggers {
      switch trigger {
      case .member(let derivation, let reference, let summed):
        guard hasChanged(reference) || summed.map(hasChanged) == true else { continue }
        if case .object(let owner)? = former?[reference.slot] { note(derivation, owner.number) }
        if case .object(let owner) = values[reference.slot], let row = number(owner) { note(derivation, row) }
      case .pair(let derivation, let relationship, let summed):
        guard let summed, former != nil, hasChanged(summed) else { continue }
        for owner in try keeper.owners(holding: id.number, in: relationship) { note(derivation, owner) }
      case .step(let derivation, let steps, let property):
        guard former != nil, hasChanged(property) else { continue }
        for owner in try owners(of: id.number, over: steps, keeper) { note(derivation, owner) }
      }
    }
  }

  private mutating func note(_ derivation: Derivation, _ row: Int64) {
    guard known.insert(Target(attribute: derivation.attribute, row: row)).inserted else { return }
    targets.append(derivation)
    rows.append(row)
  }

  /// The rows that refer to a row by to-one relationships.
  private func owners(
    of row: Int64, over steps: [RelationshipDescription], _ keeper: some DerivationKeeper
  ) throws -> Set<Int64> {
    var rows: Set<Int64> = [row]
    for step in steps.reversed() {
      var next: Set<Int64> = []
      for row in rows { next.formUnion(try keeper.owners(holding: row, in: step)) }
      rows = next
    }
    return rows
  }

  private func value(_ derivation: Derivation, _ row: Int64, _ keeper: some DerivationKeeper) throws -> Value {
    switch derivation.source {
    case .now: return .date(now)
    case .count(let relationship):
      return derivation.settled(.int(Int64(try keeper.count(of: relationship, owner: row))))
    case .sum(let relationship, let attribute):
      return derivation.settled(Value.sum(try keeper.values(of: attribute, in: relationship, owner: row)))
    case .path(let steps, let attribute):
      var row = row
      for step in steps {
        guard case .object(let next) = try keeper.value(of: step, row: row) else { return .null }
        row = next.number
      }
      return derivation.settled(try keeper.value(of: attribute, row: row))
    }
  }
}
