/// Fetches whose objects came as faults, to be read a batch at a time: which faults are read along with one that is
/// touched. The latest few fetches are remembered, and what is where is worked out at the first touch.
struct FaultBatches {
  private struct Fetch {
    let ids: [ManagedObjectID]
    let size: Int
    let paths: [[RelationshipDescription]]
    var places: [ManagedObjectID: Int] = [:]
  }

  /// The objects of one batch.
  struct Batch {
    let ids: ArraySlice<ManagedObjectID>
    /// What to prefetch from them.
    let paths: [[RelationshipDescription]]
  }

  private static let capacity = 4
  private var fetches: [Fetch] = []

  var isEmpty: Bool { fetches.isEmpty }

  mutating func add(_ ids: [ManagedObjectID], size: Int, _ paths: [[RelationshipDescription]]) {
    guard ids.count > 1 || !paths.isEmpty else { return }
    if fetches.count == Self.capacity { fetches.removeFirst() }
    fetches.append(Fetch(ids: ids, size: size, paths: paths))
  }

  /// The batch of the latest fetch that brought the object.
  mutating func batch(of id: ManagedObjectID) -> Batch? {
    for index in fetches.indices.reversed() {
      if fetches[index].places.isEmpty {
        fetches[index].places = Dictionary(fetches[index].ids.enumerated().map { ($1, $0) }) { first, _ in first }
      }
      guard let place = fetches[index].places[id] else { continue }
      let (ids, size) = (fetches[index].ids, fetches[index].size)
      let start = place / size * size
      return Batch(ids: ids[start..<min(start + size, ids.count)], paths: fetches[index].paths)
    }
    return nil
  }
}
