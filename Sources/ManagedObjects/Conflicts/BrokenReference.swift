/// A relationship that would lead to an object that isn't there any more: somebody else deleted it, or it is being deleted
/// while somebody else has made another object refer to it.
public struct BrokenReference: Sendable, Equatable {
  /// The object that refers to the other one.
  public let objectID: ManagedObjectID
  /// The name of the relationship by which it does.
  public let relationship: String
  /// The object that isn't there.
  public let missingObjectID: ManagedObjectID
  /// Whether the save itself deletes the missing object, to which others refer meanwhile.
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
  /// What refers to what, in words.
  public var description: String {
    "\(objectID) refers by \(relationship) to \(missingObjectID), which "
      + (isDeletedBySave ? "the save deletes: delete or change the former too" : "isn't in the store any more")
  }
}
