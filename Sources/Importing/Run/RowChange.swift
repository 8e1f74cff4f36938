import ManagedObjects

/// What one row does to its object, worked out before the object is touched.
struct RowChange {
  /// What a reference is pointed to.
  enum Target {
    case object(ManagedObjectID)
    /// The row's own object, which isn't there yet.
    case itself
    /// An object with that key, which is made unless another row has had it made.
    case new(Value)
    case nothing
  }

  /// The object's values before; nil for a new object.
  let old: ContiguousArray<Value>?
  /// Its values afterwards, references included.
  private(set) var new: ContiguousArray<Value>
  /// The slots of the attributes that change.
  private(set) var slots: [Int] = []
  /// References to point, by their place in the mapping.
  private(set) var links: [(place: Int, target: Target)] = []
  /// References that lead nowhere yet.
  var missing: [(place: Int, key: Value)] = []
  private var changesLinks = false

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

  mutating func link(_ place: Int, _ target: Target, _ reference: RecordMapping.Reference) {
    let slot = reference.relationship.slot
    let value: Value
    switch target {
    case .object(let id): value = .object(id)
    // It has no ID yet; what counts for the checks is that there is something.
    case .itself, .new: value = .unresolved
    case .nothing: value = .null
    }
    links.append((place, target))
    if new[slot] == value { return }
    new[slot] = value
    changesLinks = true
  }
}
