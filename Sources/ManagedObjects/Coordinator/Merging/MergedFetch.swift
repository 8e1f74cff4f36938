// Rows of an entity in several stores are fetched from each in order, and merged by the sort descriptors. Each store returns
// everything up to the end of the page, because all of its rows may come first. Values are compared in memory, where they sort
// as they do in SQL.

/// One fetch from several stores.
struct MergedFetch {
  private let fetch: StoreFetch
  private let readers: [any StoreReader]

  init(_ fetch: StoreFetch, _ readers: [any StoreReader]) {
    self.fetch = fetch
    self.readers = readers
  }

  func rows() throws -> [StoreRow] {
    guard fetch.isOrdered else { return try each { try $0.rows($1) }.flatMap { $0 } }
    var part = fetch
    let sortSlots = fetch.slotsToSortBy
    part.slots = fetch.slots?.union(sortSlots)
    let lists = try each(part) { try $0.rows($1) }
    var rows = try merged(lists)
    if let slots = fetch.slots, !sortSlots.isSubset(of: slots) {
      let others = sortSlots.subtracting(slots)
      for row in rows.indices { for slot in others { rows[row].values[slot] = .unresolved } }
    }
    return rows
  }

  func ids() throws -> [ManagedObjectID] {
    guard fetch.isOrdered else { return try each { try $0.ids($1) }.flatMap { $0 } }
    guard !fetch.sort.isEmpty else {
      let lists = try each { try $0.ids($1) }
      return page(SortedLists.merged(lists, upTo: fetch.end) { fetch.sort.orderOfIDs($0, $1) < 0 })
    }
    var part = fetch
    part.slots = fetch.slotsToSortBy
    return try merged(each(part) { try $0.rows($1) }).map(\.id)
  }

  func count() throws -> Int {
    let all = try each { try $0.count($1) }.reduce(0, +)
    let rest = max(0, all - fetch.offset)
    return fetch.limit > 0 ? min(rest, fetch.limit) : rest
  }

  /// Each store's results up to the end of the page.
  private func each<T>(
    _ part: StoreFetch? = nil, _ read: (any StoreReader, StoreFetch) throws -> T
  ) throws -> [T] {
    var part = part ?? fetch
    (part.offset, part.limit) = (0, fetch.end)
    defer { fetch.monitor?.leaveStores() }
    return try readers.map { reader in
      let found = try read(reader, part)
      fetch.monitor?.passStore()
      return found
    }
  }

  private func merged(_ lists: [[StoreRow]]) throws -> [StoreRow] {
    let sort = fetch.sort
    let keyed = try zip(readers, lists).map { reader, rows in
      let targets = try SortTargets(of: rows, sort, reader)
      return rows.map { row in
        let subject = SortedRow(row: row, targets: targets)
        return (row: row, key: ContiguousArray(sort.map { $0.value(of: subject) }))
      }
    }
    let rows = SortedLists.merged(keyed, upTo: fetch.end) { a, b in
      sort.order(a.key, a.row.id, b.key, b.row.id) < 0
    }
    return page(rows).map(\.row)
  }

  private func page<T>(_ items: [T]) -> [T] { fetch.offset > 0 ? Array(items.dropFirst(fetch.offset)) : items }
}

extension StoreFetch {
  /// Whether its rows have an order.
  var isOrdered: Bool { !sort.isEmpty || limit > 0 || offset > 0 }

  /// The number of rows up to the end of its page; 0 for all.
  var end: Int {
    guard limit > 0 else { return 0 }
    let (end, isTooLarge) = offset.addingReportingOverflow(limit)
    return isTooLarge ? 0 : end
  }

  /// The slots of its own rows that its order needs.
  fileprivate var slotsToSortBy: Set<Int> {
    Set(sort.compactMap { $0.path.steps.first?.slot ?? $0.path.endSlot })
  }
}

/// Merges lists that are sorted alike.
enum SortedLists {
  /// The first `limit` items of all lists together; all of them for 0. Of equal items, those of earlier lists come first.
  static func merged<Item>(_ lists: [[Item]], upTo count: Int, _ precedes: (Item, Item) -> Bool) -> [Item] {
    let total = lists.reduce(0) { $0 + $1.count }
    var left = count > 0 ? min(count, total) : total
    var merged: [Item] = []
    merged.reserveCapacity(left)
    var next = Array(repeating: 0, count: lists.count)
    while left > 0 {
      var best: Int?
      for list in lists.indices where next[list] < lists[list].count {
        if let known = best, !precedes(lists[list][next[list]], lists[known][next[known]]) { continue }
        best = list
      }
      guard let best else { break }
      merged.append(lists[best][next[best]])
      next[best] += 1
      left -= 1
    }
    return merged
  }
}

/// The rows that the key paths of a sort reach from one store's rows.
private final class SortTargets {
  private var rows: [ManagedObjectID: StoreRow] = [:]

  /// Reads them: one read for each step.
  init(of rows: [StoreRow], _ sort: [ResolvedSort], _ reader: any StoreReader) throws {
    for sort in sort {
      var here = rows
      for step in sort.path.steps {
        var ids: [ManagedObjectID] = []
        var seen: Set<ManagedObjectID> = []
        for row in here {
          if case .object(let id) = row.values[step.slot], seen.insert(id).inserted { ids.append(id) }
        }
        let missing = ids.filter { self.rows[$0] == nil }
        if !missing.isEmpty { for row in try reader.rows(with: missing) { self.rows[row.id] = row } }
        here = ids.compactMap { self.rows[$0] }
      }
    }
  }

  subscript(id: ManagedObjectID) -> StoreRow? { rows[id] }
}

/// A row for the evaluation of sort keys.
private struct SortedRow: PredicateSubject {
  let row: StoreRow
  let targets: SortTargets

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }

  func subject(inSlot slot: Int) -> (any PredicateSubject)? {
    guard case .object(let id) = row.values[slot], let row = targets[id] else { return nil }
    return SortedRow(row: row, targets: targets)
  }
}
