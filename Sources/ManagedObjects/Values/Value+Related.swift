// Ordered relationships hold swift-collections' ordered sets. The type is re-exported, so that a typed class can name it
// without a dependency of its own.
@_exported public import OrderedCollections

extension Value {
  /// The IDs of a to-many relationship, ordered or not; nil for any other value.
  public var objectIDs: Set<ManagedObjectID>? {
    switch self {
    case .objects(let ids): return ids
    case .orderedObjects(let ids): return Set(ids)
    default: return nil
    }
  }

  /// The IDs of a to-many relationship, in order if it is ordered; empty for any other value.
  package var relatedIDs: [ManagedObjectID] {
    switch self {
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: return []
    }
  }

  /// Whether it is the content of a to-many relationship that has been read.
  package var isSet: Bool {
    switch self {
    case .objects, .orderedObjects: return true
    default: return false
    }
  }

  /// The number of objects of a to-many relationship; nil for any other value.
  package var objectCount: Int? {
    switch self {
    case .objects(let ids): return ids.count
    case .orderedObjects(let ids): return ids.count
    default: return nil
    }
  }

  /// Whether it is a set that contains the object.
  package func contains(_ id: ManagedObjectID) -> Bool {
    switch self {
    case .objects(let ids): return ids.contains(id)
    case .orderedObjects(let ids): return ids.contains(id)
    default: return false
    }
  }

  /// Inserts into a set in place, so that adding objects one by one doesn't copy a large one; appends to an ordered one. Does
  /// nothing to other values.
  package mutating func insert(_ id: ManagedObjectID) {
    switch self {
    case .objects(var ids):
      self = .null
      ids.insert(id)
      self = .objects(ids)
    case .orderedObjects(var ids):
      self = .null
      ids.append(id)
      self = .orderedObjects(ids)
    default: break
    }
  }

  /// Removes from a set in place. Does nothing to other values.
  package mutating func remove(_ id: ManagedObjectID) {
    switch self {
    case .objects(var ids):
      self = .null
      ids.remove(id)
      self = .objects(ids)
    case .orderedObjects(var ids):
      self = .null
      ids.remove(id)
      self = .orderedObjects(ids)
    default: break
    }
  }

  /// The set without some objects; any other value unchanged.
  package func subtracting(_ gone: Set<ManagedObjectID>) -> Value {
    switch self {
    case .objects(let ids): return .objects(ids.subtracting(gone))
    case .orderedObjects(let ids): return .orderedObjects(ids.filter { !gone.contains($0) })
    default: return self
    }
  }

  /// The set with each ID mapped, in the same order; any other value unchanged.
  package func mappingIDs(_ transform: (ManagedObjectID) -> ManagedObjectID) -> Value {
    switch self {
    case .objects(let ids): return .objects(Set(ids.map(transform)))
    case .orderedObjects(let ids): return .orderedObjects(OrderedSet(ids.map(transform)))
    default: return self
    }
  }

  /// Merges another writer's change of the set, from `base` to `theirs`: their additions and removals apply. An order is one
  /// value: theirs wins unless this one was changed from `base` too.
  package func merging(from base: Value, to theirs: Value) -> Value {
    switch (self, theirs) {
    case (.objects(let ours), .objects(let new)):
      let old = base.objectIDs ?? []
      if old == ours { return theirs }
      return .objects(ours.subtracting(old.subtracting(new)).union(new.subtracting(old)))
    case (.orderedObjects(let ours), .orderedObjects(let new)):
      guard case .orderedObjects(let old) = base else { return .orderedObjects(ours.union(new)) }
      return .orderedObjects(Self.merge(ours, from: old, to: new))
    default: return self
    }
  }

  private static func merge(
    _ ours: OrderedSet<ManagedObjectID>, from base: OrderedSet<ManagedObjectID>, to theirs: OrderedSet<ManagedObjectID>
  ) -> OrderedSet<ManagedObjectID> {
    if ours == base { return theirs }
    let removed = base.subtracting(theirs)
    let isReordered = !ours.lazy.filter { base.contains($0) }.elementsEqual(base.lazy.filter { ours.contains($0) })
    if isReordered {
      return ours.subtracting(removed).union(theirs.subtracting(base))
    }
    return theirs.filter { ours.contains($0) || !base.contains($0) }.union(ours.subtracting(removed))
  }
}

extension RelationshipDescription {
  /// The empty content of the relationship.
  package var emptyValue: Value { !isToMany ? .null : isOrdered ? .orderedObjects([]) : .objects([]) }

  /// A set of IDs as the relationship's value. If it is ordered, IDs that are in `former` keep its order, and the rest follow in
  /// order of creation.
  package func value(holding ids: Set<ManagedObjectID>, inOrderOf former: Value = .null) -> Value {
    guard isOrdered else { return .objects(ids) }
    var ordered: OrderedSet<ManagedObjectID> = []
    if case .orderedObjects(let known) = former { ordered = known.filter { ids.contains($0) } }
    // Temporary numbers count down.
    func rank(_ id: ManagedObjectID) -> (Int, Int64) { id.isTemporaryID ? (1, ~id.number) : (0, id.number) }
    ordered.append(contentsOf: ids.sorted { rank($0) < rank($1) })
    return .orderedObjects(ordered)
  }
}
