extension MemoryTables {
  /// What a query asks of rows, or of groups of them.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    if query.isRowwise {
      return try page(query.fetch).map { row in ContiguousArray(query.columns.map { $0.value(of: row) }) }
    }
    return query.chosen(query.isGrouped ? try grouped(query) : matching(query.fetch).map { query.outputRow($0) })
  }

  private func grouped(_ query: StoreQuery) throws -> [OutputRow] {
    struct Group {
      let first: RowSubject?
      var accumulators: [Accumulator]
    }
    let outputs = query.outputs
    let blank = outputs.compactMap { output in
      if case .aggregate(let function, let path, let isDistinct) = output {
        return Accumulator(function, of: path.attributeType, isDistinct: isDistinct)
      }
      return nil
    }
    let aggregated = outputs.compactMap { output in
      if case .aggregate(_, let path, _) = output { return path }
      return nil
    }
    var groups: [GroupKey: Group] = [:]
    // Without anything to group by there is one group, even of no rows.
    if query.groups.isEmpty { groups[GroupKey([])] = Group(first: nil, accumulators: blank) }
    for row in matching(query.fetch) {
      let key = GroupKey(query.groups.map { $0.value(of: row) })
      try groups[key, default: Group(first: row, accumulators: blank)].accumulators.add(aggregated, of: row)
    }
    return try groups.values.map { group in
      var results = try group.accumulators.map { try $0.result() }[...]
      return OutputRow(
        values: ContiguousArray(
          outputs.map { output in
            switch output {
            case .path(let path): return group.first.map { path.value(of: $0) } ?? .null
            case .aggregate: return results.popFirst() ?? .null
            }
          }))
    }
  }
}

extension [Accumulator] {
  /// Adds a row's values, one to each.
  fileprivate mutating func add(_ paths: [ResolvedPath], of row: RowSubject) throws {
    for index in indices { try self[index].add(paths[index].value(of: row)) }
  }
}

extension StoreQuery {
  fileprivate func outputRow(_ row: RowSubject) -> OutputRow {
    OutputRow(values: ContiguousArray(outputs.map { $0.value(of: row) }))
  }
}

extension StoreQuery.Column {
  /// What stands in the column for one row.
  fileprivate func value(of row: RowSubject) -> Value {
    switch self {
    case .path(let path), .aggregate(_, let path, _): return path.value(of: row)
    }
  }
}
