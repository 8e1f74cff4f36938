import ManagedObjects

/// What one row does to its object, planned before the object is touched.
struct RowChange {
  /// Where a reference will point.
  enum Target {
    case object(ManagedObjectID)
    /// The row's own object, which doesn't exist yet.
    case itself
    /// An object with this key, created unless another row has had it created.
    case new(Value)
    case nothing
  }

  /// The object's values before; nil for a new object.
  let old: ContiguousArray<Value>?
  /// The object's values afterwards, references included.
  private(set) var new: ContiguousArray<Value>
  /// The slots of the attributes that change.
  private(set) var slots: [Int] = []
  /// References to point, by their place in the mapping.
  private(set) var links: [(place: Int, target: Target)] = []
  /// References that lead nowhere yet.
  var missing: [(place: Int, key: Value)] = []
  /// What to-many relationships will hold.
  private(set) var sets: [SetChange] = []
  /// What relationships will hold because of nested objects.
  private(set) var nested: [(link: NestedLink, targets: [NestedApplier.PlannedTarget])] = []
  /// To-one relationships that the row doesn't mention and that become empty.
  private(set) var clears: [RelationshipDescription] = []
  private var changesLinks = false

  /// What one to-many relationship will hold.
  struct SetChange {
    let place: Int
    /// In the order of the record.
    var targets: [Target] = []
    /// Keys that lead nowhere yet.
    var missing: [Value] = []
    let keys: [Value]

    init(place: Int, keys: [Value]) {
      self.place = place
      self.keys = keys
    }
  }

  init(old: ContiguousArray<Value>?, new: ContiguousArray<Value>) {
    self.old = old
    self.new = new
  }

  /// Whether anything changes.
  var isChange: Bool { !slots.isEmpty || changesLinks }

  mutating func set(_ value: Value, at slot: Int) {
    if new[slot] == value { return }
    new[slot] = value
    slots.append(slot)
  }

  mutating func clear(_ relationship: RelationshipDescription) {
    if new[relationship.slot].isNull { return }
    new[relationship.slot] = .null
    clears.append(relationship)
    changesLinks = true
  }

  mutating func link(_ place: Int, _ target: Target, _ reference: ReferenceMapping) {
    let slot = reference.relationship.slot
    let value: Value
    switch target {
    case .object(let id): value = .object(id)
    // It has no ID yet. Validation only needs to know that the relationship isn't empty.
    case .itself, .new: value = .unresolved
    case .nothing: value = .null
    }
    links.append((place, target))
    if new[slot] == value { return }
    new[slot] = value
    changesLinks = true
  }

  /// Notes what a to-many relationship will hold. One that holds it already is left alone.
  mutating func set(_ set: SetChange, _ relationship: RelationshipDescription, now: Value) {
    sets.append(set)
    let ids = set.targets.compactMap { target in if case .object(let id) = target { id } else { nil } }
    let new: Value = relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids))
    // Objects that don't exist yet can't be counted.
    let isWhole = ids.count == set.targets.count && set.missing.isEmpty
    self.new[relationship.slot] = isWhole ? new : .unresolved
    if ids.count < set.targets.count || new != now { changesLinks = true }
  }

  /// Notes what a relationship will hold because of nested objects.
  mutating func nest(_ link: NestedLink, _ targets: [NestedApplier.PlannedTarget], of object: ManagedObject?) {
    let relationship = link.relationship
    nested.append((link, targets))
    if NestedApplier.isChange(targets, of: object, relationship) { changesLinks = true }
    new[relationship.slot] = targets.isEmpty ? relationship.emptyValue : .unresolved
  }
}
