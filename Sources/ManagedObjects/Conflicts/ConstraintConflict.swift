/// A conflict of an object with a stored row, or with another object of the same save, over a uniqueness constraint.
///
/// Core Data makes one conflict of all objects with the same values; here each object that couldn't be written has its
/// own.
///
/// Source: Core Data's `NSConstraintConflict`.
public struct ConstraintConflict: Sendable {
  /// The object that couldn't be written.
  public let objectID: ManagedObjectID
  /// The constraint's attributes.
  public let constraint: [String]
  /// The row that has the values already; nil when it is another object of the same save that takes them.
  public var databaseObjectID: ManagedObjectID? { database?.id }
  /// The objects of the save that claim the values: the one that couldn't be written, preceded by the one that came first if no
  /// row has them.
  public var conflictingObjectIDs: [ManagedObjectID] { (earlier.map { [$0.id] } ?? []) + [objectID] }
  package let values: ContiguousArray<Value>?
  package let database: StoreRow?
  package let earlier: StoreRow?

  /// A conflict of one object, without its values.
  public init(objectID: ManagedObjectID, constraint: [String]) {
    self.objectID = objectID
    self.constraint = constraint
    values = nil
    database = nil
    earlier = nil
  }

  /// - Parameters:
  ///   - row: the object that couldn't be written, by the ID that the context knows.
  ///   - database: the conflicting row.
  ///   - earlier: the conflicting object of the same save, if there is no such row.
  package init(_ row: StoreRow, constraint: [String], database: StoreRow?, earlier: StoreRow?) {
    objectID = row.id
    values = row.values
    self.constraint = constraint
    self.database = database
    self.earlier = earlier
  }

  /// The values that both claim, by the constraint's attributes.
  public var constraintValues: [String: Value] {
    var found: [String: Value] = [:]
    for name in constraint { found[name] = objectID.entity.slot(of: name).flatMap { values?[$0] } }
    return found
  }
  /// The values of the conflicting row: attributes and to-one relationships by name.
  public var databaseSnapshot: [String: Value]? { database.map { $0.values.snapshot(of: $0.id.entity) } }
  /// The values of the conflicting objects, in the order of ``conflictingObjectIDs``.
  public var conflictingSnapshots: [[String: Value]] {
    [earlier.map { $0.values.snapshot(of: $0.id.entity) }, values?.snapshot(of: objectID.entity)].compactMap { $0 }
  }
}

extension ConstraintConflict: Equatable {
  /// Whether both concern the same object and constraint, whatever the conflicting row.
  public static func == (a: ConstraintConflict, b: ConstraintConflict) -> Bool {
    a.objectID == b.objectID && a.constraint == b.constraint
  }
}
