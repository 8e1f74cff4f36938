/// A relationship that would lead to a missing object. Either another context has deleted the object, or the save deletes it
/// while another context has made an object refer to it.
public struct BrokenReference: Sendable, Equatable {
  /// The object that refers to the other one.
  public let objectID: ManagedObjectID
  /// The name of the relationship.
  public let relationship: String
  /// The missing object.
  public let missingObjectID: ManagedObjectID
  /// Whether the save itself deletes the missing object.
  public let isDeletedBySave: Bool

  /// A reference of one object.
  public init(
    objectID: ManagedObjectID, relationship: String, missingObjectID: ManagedObjectID, isDeletedBySave: Bool = false
  ) {
    self.objectID = objectID
    self.relationship = relationship
    self.missingObjectID = missingObjectID
    self.isDeletedBySave = isDeletedBySave
  }
}

extension BrokenReference: CustomStringConvertible {
  /// A description of the reference.
  public var description: String {
    "\(objectID) refers by \(relationship) to \(missingObjectID), which "
      + (isDeletedBySave ? "the save deletes: delete or change the former too" : "isn't in the store any more")
  }
}
