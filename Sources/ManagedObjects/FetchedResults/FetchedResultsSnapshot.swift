/// A controller's content at one moment: section names and the IDs of the objects in each. Safe from any thread.
///
/// Source: the `NSDiffableDataSourceSnapshot` that Core Data's controller passes to its delegate.
public struct FetchedResultsSnapshot: Sendable, Equatable {
  /// A section's objects.
  public struct Section: Sendable, Equatable {
    /// The section's name.
    public let name: String
    /// Its objects' IDs, in order.
    public let objectIDs: ArraySlice<ManagedObjectID>
  }

  /// The IDs of all objects, in order.
  public let objectIDs: [ManagedObjectID]
  /// The names of the sections, in order; without section names there is one section, whose name is empty.
  public let sectionNames: [String]
  /// The IDs of objects that were in the preceding snapshot and have changed or moved since.
  public internal(set) var updatedObjectIDs: [ManagedObjectID]
  private let starts: [Int]

  init(_ content: FetchedContent, updated: [ManagedObjectID] = []) {
    objectIDs = content.members.map(\.id)
    sectionNames = content.sections.runs.map(\.name)
    starts = content.sections.starts
    updatedObjectIDs = updated
  }

  /// An empty content.
  init() { (objectIDs, sectionNames, starts, updatedObjectIDs) = ([], [], [], []) }

  /// The sections, in order.
  public var sections: [Section] {
    sectionNames.indices.map { index in
      let end = index + 1 < starts.count ? starts[index + 1] : objectIDs.count
      return Section(name: sectionNames[index], objectIDs: objectIDs[starts[index]..<end])
    }
  }

  /// The difference from another snapshot to this one. Takes time proportional to the number of objects.
  public func difference(from other: FetchedResultsSnapshot) -> FetchedResultsDifference {
    FetchedResultsDifference(
      sectionNames: sectionNames.orderedDifference(from: other.sectionNames),
      objectIDs: objectIDs.orderedDifference(from: other.objectIDs), updatedObjectIDs: updatedObjectIDs)
  }
}

/// The difference between a ``FetchedResultsSnapshot`` and a later one.
public struct FetchedResultsDifference: Sendable {
  /// The difference of the section names.
  public let sectionNames: CollectionDifference<String>
  /// The difference of the ordered IDs of all objects. An object that moved is removed and inserted, each associated with the
  /// other.
  public let objectIDs: CollectionDifference<ManagedObjectID>
  /// The IDs of objects that have changed or moved in between, or may have.
  public let updatedObjectIDs: [ManagedObjectID]

  /// Whether there is no difference.
  public var isEmpty: Bool { sectionNames.isEmpty && objectIDs.isEmpty && updatedObjectIDs.isEmpty }
}

extension Array where Element: Hashable {
  /// The difference from `other`, with moves, for lists without equal elements. Unlike that of `difference(from:)`, its time
  /// doesn't grow with the size of the difference. Elements in `changed` are removed and inserted even where they stay.
  func orderedDifference(from other: [Element], changed: Set<Element> = []) -> CollectionDifference<Element> {
    var oldIndex: [Element: Int] = [:]
    oldIndex.reserveCapacity(other.count)
    for (index, element) in other.enumerated() { oldIndex[element] = index }
    var kept: [(old: Int, new: Int)] = []
    var newIndex = [Int?](repeating: nil, count: other.count)
    for (index, element) in enumerated() {
      guard let old = oldIndex[element] else { continue }
      kept.append((old, index))
      newIndex[old] = index
    }
    let staying = Set(
      IncreasingSubsequence.longest(of: kept.map(\.old)).map { kept[$0].new }.filter { !changed.contains(self[$0]) })
    var changes: [CollectionDifference<Element>.Change] = []
    for (index, element) in other.enumerated() {
      if let new = newIndex[index] {
        if !staying.contains(new) { changes.append(.remove(offset: index, element: element, associatedWith: new)) }
      } else {
        changes.append(.remove(offset: index, element: element, associatedWith: nil))
      }
    }
    for (index, element) in enumerated() where !staying.contains(index) {
      changes.append(.insert(offset: index, element: element, associatedWith: oldIndex[element]))
    }
    // The initializer refuses only lists with equal elements.
    return CollectionDifference(changes) ?? difference(from: other)
  }
}
