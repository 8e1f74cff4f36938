import ManagedObjects

/// The rows of a batch that were applied, and the objects that they were applied to.
struct AppliedRows {
  /// A row that was applied.
  struct Row {
    let index: Int
    let object: ManagedObject
    let isNew: Bool
    /// The slots that it changed; empty for a new object.
    let changed: [Int]
  }

  private(set) var rows: [Row] = []
  private var last: [ObjectIdentifier: Int] = [:]
  /// The row that last created or changed a nested object.
  private var nested: [ManagedObjectID: Int] = [:]

  mutating func reserveCapacity(_ count: Int) { rows.reserveCapacity(count) }

  mutating func append(_ row: Row) {
    rows.append(row)
    last[ObjectIdentifier(row.object)] = row.index
  }

  /// Notes that a row created or changed a nested object.
  mutating func noteNested(_ object: ManagedObject, _ index: Int) { nested[object.objectID] = index }

  /// The last row that was applied to an object.
  func last(_ object: ManagedObject) -> Int? { last[ObjectIdentifier(object)] }

  var newObjects: [ManagedObject] { rows.lazy.filter(\.isNew).map(\.object) }

  /// The rows to blame for conflicts, by the object that the store refuses.
  ///
  /// If several rows were applied to one object, it is the last that changed what the conflict is about.
  func culprits(_ conflicts: [ManagedObjectID: ConstraintConflict]) -> [ManagedObjectID: Row] {
    var culprits: [ManagedObjectID: Row] = [:]
    for row in rows {
      let id = row.object.objectID
      guard let conflict = conflicts[id] else { continue }
      let slots = conflict.constraint.compactMap { row.object.entity.slot(of: $0) }
      if culprits[id] == nil || row.changed.contains(where: slots.contains) { culprits[id] = row }
    }
    return culprits
  }

  /// The rows that last created or changed nested objects.
  var rowsOfNested: [ManagedObjectID: Int] { nested }

  /// The row that last created or changed a nested object.
  func row(ofNested id: ManagedObjectID) -> Int? { nested[id] }
}
