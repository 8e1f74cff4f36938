// Ordered relationships hold swift-collections' ordered sets. Whoever imports this library has the type with it, so that a
// typed class can name it without a dependency of its own.
@_exported public import OrderedCollections

extension Value {
  /// The IDs that a to-many relationship holds, whether or not they have an order; nil for any other value.
  public var objectIDs: Set<ManagedObjectID>? {
    switch self {
    case .objects(let ids): return ids
    case .orderedObjects(let ids): return Set(ids)
    default: return nil
    }
  }

  /// The IDs that a to-many relationship holds, in their order if they have one; none for any other value.
  package var relatedIDs: [ManagedObjectID] {
    switch self {
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: return []
    }
  }

  /// Whether it is what a to-many relationship holds, ordered or not, and has been read.
  package var isSet: Bool {
    switch self {
    case .objects, .orderedObjects: return true
    default: return false
    }
  }

  /// How many objects a to-many relationship holds; nil for any other value.
  package var objectCount: Int? {
    switch self {
    case .objects(let ids): return ids.count
    case .orderedObjects(let ids): return ids.count
    default: return nil
    }
  }

  /// Whether it is a set that holds the object.
  package func contains(_ id: ManagedObjectID) -> Bool {
    switch self {
    case .objects(let ids): return ids.contains(id)
    case .orderedObjects(let ids): return ids.contains(id)
    default: return false
    }
  }

  /// Adds to a set where it stands, so that a large one isn't copied for each object that comes; at the end of one that
  /// has an order. Leaves other values as they are.
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

  /// Takes out of a set where it stands. Leaves other values as they are.
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

  /// The set without some objects; any other value as it is.
  package func subtracting(_ gone: Set<ManagedObjectID>) -> Value {
    switch self {
    case .objects(let ids): return .objects(ids.subtracting(gone))
    case .orderedObjects(let ids): return .orderedObjects(ids.filter { !gone.contains($0) })
    default: return self
    }
  }

  /// The set with each ID exchanged, in the same order; any other value as it is.
  package func mappingIDs(_ transform: (ManagedObjectID) -> ManagedObjectID) -> Value {
    switch self {
    case .objects(let ids): return .objects(Set(ids.map(transform)))
    case .orderedObjects(let ids): return .orderedObjects(OrderedSet(ids.map(transform)))
    default: return self
    }
  }

  /// What a set is after a change that somebody else made to it, from `base` to `theirs`: what they added is added, what
  /// they took away is gone. An order is one value: theirs counts unless this one was changed from `base` too.
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
  /// What it holds when it holds nothing.
  package var emptyValue: Value { !isToMany ? .null : isOrdered ? .orderedObjects([]) : .objects([]) }

  /// A set of IDs as the relationship holds it; in an ordered one `former` says the order of those that are in it, and
  /// the rest follow in the order in which they were made.
  package func value(holding ids: Set<ManagedObjectID>, inOrderOf former: Value = .null) -> Value {
    guard isOrdered else { return .objects(ids) }
    var ordered: OrderedSet<ManagedObjectID> = []
    if case .orderedObjects(let known) = former { ordered = known.filter { ids.contains($0) } }
    // Temporary numbers count downwards.
    func rank(_ id: ManagedObjectID) -> (Int, Int64) { id.isTemporaryID ? (1, ~id.number) : (0, id.number) }
    ordered.append(contentsOf: ids.sorted { rank($0) < rank($1) })
    return .orderedObjects(ordered)
  }
}
