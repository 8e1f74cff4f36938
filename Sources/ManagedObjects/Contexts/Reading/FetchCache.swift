import Foundation

/// What a context's fetches leave behind for the reads that follow: rows for faults, the batches that faults are read in, and
/// prefetched objects.
final class FetchCache {
  // Touched on the context's queue only.
  private var rows = RowCache()
  private var batches = FaultBatches()
  /// The objects that the latest fetches have prefetched. Objects refer to each other by ID, so something has to hold them.
  private var prefetched: [[ManagedObject]] = []

  // MARK: Rows

  /// How old a kept row may be, in seconds; less than 0 for any age, 0 to keep no rows.
  var stalenessInterval: TimeInterval {
    get { rows.interval }
    set { rows.interval = newValue }
  }

  /// Whether rows are kept at all.
  var keepsRows: Bool { rows.interval != 0 }

  func note(_ row: StoreRow) { rows.note(row) }
  func row(_ id: ManagedObjectID) -> StoreRow? { rows.row(id) }

  /// Forgets the rows that a save wrote.
  func forgetRows(of save: ContextSave) {
    if !keepsRows { return }
    if save.isWholesale { return rows.removeAll() }
    for id in save.updatedObjectIDs { rows.forget(id) }
    for id in save.deletedObjectIDs { rows.forget(id) }
    for id in save.refreshedObjectIDs { rows.forget(id) }
  }

  // MARK: Batches of faults

  var hasBatches: Bool { !batches.isEmpty }

  func addBatches(of ids: [ManagedObjectID], size: Int, _ paths: [[RelationshipDescription]]) {
    batches.add(ids, size: size, paths)
  }

  /// The batch of the latest fetch that brought the object.
  func batch(of id: ManagedObjectID) -> FaultBatches.Batch? { batches.batch(of: id) }

  // MARK: Prefetched objects

  /// Holds prefetched objects until two more fetches have prefetched.
  func keep(_ objects: [ManagedObject]) {
    prefetched.append(objects)
    if prefetched.count > 2 { prefetched.removeFirst() }
  }

  /// Forgets everything.
  func removeAll() {
    rows.removeAll()
    batches = FaultBatches()
    prefetched = []
  }
}

/// Rows as they were last read, with the time, for faults that may be filled without reading the store again.
private struct RowCache {
  private struct Entry {
    let content: RowValues
    let time: ContinuousClock.Instant
  }

  /// See ``FetchCache/stalenessInterval``. A setting, so it isn't private.
  var interval: TimeInterval = 0 {
    didSet { if interval == 0 { entries = [:] } }
  }
  private var entries: [ManagedObjectID: Entry] = [:]
  private var limit = RowCache.smallestLimit

  private static let smallestLimit = 4096

  mutating func note(_ row: StoreRow) {
    if interval == 0 { return }
    if entries.count >= limit { forgetStale() }
    entries[row.id] = Entry(content: row.content, time: .now)
  }

  /// The row, if it is fresh enough.
  func row(_ id: ManagedObjectID) -> StoreRow? {
    guard interval != 0, let entry = entries[id], isFresh(entry) else { return nil }
    return StoreRow(id: id, content: entry.content)
  }

  mutating func forget(_ id: ManagedObjectID) {
    if !entries.isEmpty { entries[id] = nil }
  }

  mutating func removeAll() { entries = [:] }

  private func isFresh(_ entry: Entry) -> Bool {
    interval < 0 || entry.time.duration(to: .now) <= .seconds(interval)
  }

  private mutating func forgetStale() {
    entries = entries.filter { isFresh($0.value) }
    limit = max(Self.smallestLimit, entries.count * 2)
  }
}

/// The latest fetches whose objects came as faults, to be read a batch at a time. They say which faults to read along with
/// the one that is touched. The position of each object is worked out at the first touch.
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
    /// The relationships to prefetch from them.
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
