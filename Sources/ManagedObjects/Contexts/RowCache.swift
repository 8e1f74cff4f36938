public import Foundation

/// Rows as they were read last, with the time, for faults that may be filled without reading the store again.
struct RowCache {
  private struct Entry {
    let values: ContiguousArray<Value>
    let time: ContinuousClock.Instant
  }

  /// How old a row may be, in seconds; less than 0 for any age, 0 to keep no rows.
  var interval: TimeInterval = 0 {
    didSet { if interval == 0 { entries = [:] } }
  }
  private var entries: [ManagedObjectID: Entry] = [:]
  private var limit = 4096

  mutating func note(_ row: StoreRow) {
    if interval == 0 { return }
    if entries.count >= limit { forgetStale() }
    entries[row.id] = Entry(values: row.values, time: .now)
  }

  /// The row, if it is fresh enough.
  func row(_ id: ManagedObjectID) -> StoreRow? {
    guard interval != 0, let entry = entries[id], isFresh(entry) else { return nil }
    return StoreRow(id: id, values: entry.values)
  }

  mutating func forget(_ id: ManagedObjectID) {
    if !entries.isEmpty { entries[id] = nil }
  }

  mutating func forgetAll() { entries = [:] }

  private func isFresh(_ entry: Entry) -> Bool {
    interval < 0 || entry.time.duration(to: .now) <= .seconds(interval)
  }

  private mutating func forgetStale() {
    entries = entries.filter { isFresh($0.value) }
    limit = max(4096, entries.count * 2)
  }
}

extension ManagedObjectContext {
  /// How old, in seconds, the values may be with which a fault is filled without reading the store again; less than 0
  /// for any age.
  ///
  /// 0, the default, reads the store for every fault. In Core Data the default is -1: rows never grow stale, for its
  /// coordinator keeps them for all contexts, and every save of one of them brings them up to date. Here a context keeps
  /// rows that it has read itself, and only when asked to by this. What it saves and merges it forgets, but of a save that
  /// it hasn't merged yet, and of other processes' changes, it knows nothing: with -1 a
  /// ``refresh(_:mergeChanges:)`` would bring back what was there before. So -1 is for whoever merges every save, or reads
  /// what nobody changes; the default gives what Core Data's gives after a sibling's save, and the latest values after
  /// another process's, where Core Data's are stale. Source: `stalenessInterval` of Core Data.
  public var stalenessInterval: TimeInterval {
    get {
      home.check()
      return rowCache.interval
    }
    set {
      home.check()
      rowCache.interval = newValue
    }
  }

  /// Forgets the rows that a save wrote.
  func forgetRows(of save: ContextSave) {
    if rowCache.interval == 0 { return }
    if save.isWholesale { return rowCache.forgetAll() }
    for id in save.updatedObjectIDs { rowCache.forget(id) }
    for id in save.deletedObjectIDs { rowCache.forget(id) }
    for id in save.refreshedObjectIDs { rowCache.forget(id) }
  }
}
