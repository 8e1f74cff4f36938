/// A section of a controller's content, as it was when it was asked for. It holds the objects, on their context's queue.
///
/// Source: Core Data's `NSFetchedResultsSectionInfo`.
public struct FetchedResultsSectionInfo<T: ManagedObject> {
  /// The section's name: empty for objects without one, and for a controller without sections.
  public let name: String
  /// Its title in an index; see ``FetchedResultsController/sectionIndexTitles``.
  public let indexTitle: String?
  /// How many objects it has.
  public var numberOfObjects: Int { range.count }
  /// The objects, in order. Made anew each time: ask the controller for single ones.
  public var objects: [T] { members[range].map { unsafeDowncast($0.object, to: T.self) } }

  // The controller takes in only objects of its class, so that they needn't be checked again.
  private let members: ContiguousArray<FetchedMember>
  private let range: Range<Int>

  init(name: String, indexTitle: String?, _ members: ContiguousArray<FetchedMember>, _ range: Range<Int>) {
    self.name = name
    self.indexTitle = indexTitle
    self.members = members
    self.range = range
  }
}

@available(*, unavailable, message: "managed objects stay on their context's queue: take a snapshot along")
extension FetchedResultsSectionInfo: Sendable {}
