/// A row that has changed or gone from the store, or the parent context, since the object was read.
///
/// Snapshots hold attributes and to-one relationships (as IDs) by name, not to-many relationships, as in Core Data.
/// There are no version numbers: a store compares the values themselves, so changes of other programs count. Where two contexts of
/// one coordinator have changed the members of the same one-to-many set, the snapshots may be equal.
///
/// Source: Core Data's `NSMergeConflict`.
public struct MergeConflict: Sendable {
  /// The object that couldn't be written: `sourceObject` in Core Data, here by its ID.
  public let objectID: ManagedObjectID
  /// Whether the row is gone rather than changed.
  public let isDeleted: Bool
  /// The values that the save would write; nil when it would delete the row.
  package let object: ContiguousArray<Value>?
  /// The values that the context had read.
  package let cached: ContiguousArray<Value>?
  /// The values that the store holds now; nil when the row is gone.
  package let persisted: ContiguousArray<Value>?

  /// The number of the save that it is compared with, where members of the object's sets have changed; 0 otherwise.
  var latestSave: Int64 = 0

  /// A conflict of one object, without its values.
  public init(objectID: ManagedObjectID, isDeleted: Bool) {
    self.objectID = objectID
    self.isDeleted = isDeleted
    object = nil
    cached = nil
    persisted = nil
  }

  /// A conflict of one object whose row is now `persisted`, or gone.
  package init(
    _ objectID: ManagedObjectID, object: ContiguousArray<Value>?, cached: ContiguousArray<Value>,
    persisted: ContiguousArray<Value>?
  ) {
    self.objectID = objectID
    self.object = object
    self.cached = cached
    self.persisted = persisted
    isDeleted = persisted == nil
  }

  /// The object's values as the save would write them; nil when it would delete the object.
  public var objectSnapshot: [String: Value]? { object?.snapshot(of: objectID.entity) }
  /// The values that the context had read.
  public var cachedSnapshot: [String: Value]? { cached?.snapshot(of: objectID.entity) }
  /// The values that the store, or the parent context, has now; nil when the row is gone.
  public var persistedSnapshot: [String: Value]? { persisted?.snapshot(of: objectID.entity) }
}

extension MergeConflict: Equatable {
  /// Whether both concern the same object in the same way, whatever the rows hold.
  public static func == (a: MergeConflict, b: MergeConflict) -> Bool {
    a.objectID == b.objectID && a.isDeleted == b.isDeleted
  }
}

extension ContiguousArray where Element == Value {
  /// A row's attributes and to-one relationships by name.
  func snapshot(of entity: EntityDescription) -> [String: Value] {
    var snapshot: [String: Value] = [:]
    for property in entity.properties where !property.holdsSet { snapshot[property.name] = self[property.slot] }
    return snapshot
  }
}

extension PropertyDescription {
  /// Whether it is a relationship that holds a set.
  final var holdsSet: Bool { (self as? RelationshipDescription)?.isToMany ?? false }
}
