// A dictionary fetch from several stores. Rows of each are merged in order; distinct values are made distinct again; each store
// computes its groups as far as partial results can be combined: counts and sums add up, the least of several minima is the
// minimum, and an average follows from sums and counts. Aggregates of distinct values can't be combined: their values are read,
// and aggregated here.

/// One dictionary fetch from several stores.
struct MergedQuery {
  private let query: StoreQuery
  private let readers: [any StoreReader]

  init(_ query: StoreQuery, _ readers: [any StoreReader]) {
    self.query = query
    self.readers = readers
  }

  func dictionaries() throws -> [ContiguousArray<Value>] {
    if query.isRowwise { return try rowwise() }
    let found: [OutputRow]
    if !query.isGrouped {
      var part = query.unpaged
      part.columns = query.outputs
      found = try each(part).joined().map { OutputRow(values: $0) }
    } else if query.hasDistinctAggregates {
      found = try groupedHere()
    } else {
      found = try groupedByStores()
    }
    return query.chosen(found)
  }

  private func each(_ part: StoreQuery) throws -> [[ContiguousArray<Value>]] {
    defer { part.fetch.monitor?.leaveStores() }
    return try readers.map { reader in
      let found = try reader.dictionaries(part)
      part.fetch.monitor?.passStore()
      return found
    }
  }

  /// A dictionary for each row, with the sort keys until they are merged.
  private func rowwise() throws -> [ContiguousArray<Value>] {
    let fetch = query.fetch
    guard fetch.isOrdered else { return try each(query).flatMap { $0 } }
    var part = query
    part.columns += fetch.sort.map { .value(.path($0.path)) }
    part.columns.append(.value(.path(ResolvedPath(steps: [], end: .objectID(fetch.entity)))))
    (part.fetch.offset, part.fetch.limit) = (0, fetch.end)
    let first = query.columns.count
    let lists = try each(part).map { list in
      list.map { row in
        var row = row
        for (index, sort) in fetch.sort.enumerated() { row[first + index] = sort.folded(row[first + index]) }
        return row
      }
    }
    let merged = SortedLists.merged(lists, upTo: fetch.end) { a, b in
      for (index, sort) in fetch.sort.enumerated() {
        let order = sort.order(a[first + index], b[first + index])
        if order != 0 { return order < 0 }
      }
      guard case .object(let one)? = a.last, case .object(let other)? = b.last else { return false }
      return fetch.sort.orderOfIDs(one, other) < 0
    }
    return merged.dropFirst(fetch.offset).map { ContiguousArray($0.prefix(first)) }
  }

  /// Groups of values that are read from every store.
  private func groupedHere() throws -> [OutputRow] {
    let columns = query.gathered
    let part = StoreQuery(query.unpaged.fetch, columns: columns.compactMap(\.expression))
    let keys = query.gatheredKeys
    var groups = MergedGroups(columns.map(Accumulator.init), isOne: query.groups.isEmpty)
    for row in try each(part).joined() {
      try groups.add(row, key: GroupKey(keys.map { row[$0] })) { accumulators in
        for place in accumulators.indices { accumulators[place]?.add(row[place]) }
      }
    }
    return try groups.results { accumulator, _ in try accumulator.result() }.map(query.outputRow)
  }

  /// Groups that every store has computed by itself.
  private func groupedByStores() throws -> [OutputRow] {
    let columns = query.gathered
    let parts = PartialColumns(columns)
    let keys = query.gatheredKeys.map { parts.places[$0].lowerBound }
    let output = EntityDescription.ofColumns(
      "dictionary", parts.named.map { $0.column.definition(name: $0.name) })
    let part = StoreQuery(
      fetch: query.unpaged.fetch, columns: parts.columns, extras: [], isDistinct: false, groups: keys, aggregates: [],
      output: output, aggregated: output)
    let blank = columns.map { column -> Combination? in Combination(column) }
    var groups = MergedGroups(blank, isOne: query.groups.isEmpty)
    for row in try each(part).joined() {
      try groups.add(
        ContiguousArray(parts.places.map { row[$0.lowerBound] }), key: GroupKey(keys.map { row[$0] })
      ) { combinations in
        for (place, columns) in parts.places.enumerated() { try combinations[place]?.add(row[columns]) }
      }
    }
    return try groups.results { combination, _ in try combination.result() }.map(query.outputRow)
  }
}

/// Collects rows in groups.
private struct MergedGroups<Part> {
  private let blank: [Part?]
  private var places: [GroupKey: Int] = [:]
  private var groups: [(first: ContiguousArray<Value>, parts: [Part?])] = []

  /// - Parameter isOne: whether there is one group, even of no rows.
  init(_ blank: [Part?], isOne: Bool) {
    self.blank = blank
    if isOne {
      places[GroupKey([])] = 0
      groups = [([], blank)]
    }
  }

  mutating func add(_ row: ContiguousArray<Value>, key: GroupKey, _ body: (inout [Part?]) throws -> Void) throws {
    let place: Int
    if let known = places[key] {
      place = known
    } else {
      place = groups.count
      places[key] = place
      groups.append((row, blank))
    }
    if groups[place].first.isEmpty { groups[place].first = row }
    try body(&groups[place].parts)
  }

  func results(_ result: (Part, Int) throws -> Value) throws -> [ContiguousArray<Value>] {
    try groups.map { group in
      ContiguousArray(
        try blank.indices.map { place in
          if let part = group.parts[place] { return try result(part, place) }
          return group.first.isEmpty ? .null : group.first[place]
        })
    }
  }
}
