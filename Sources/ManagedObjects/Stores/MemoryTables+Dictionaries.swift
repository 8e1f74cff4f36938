extension MemoryTables {
  /// What a query asks of rows, or of groups of them.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    if query.isRowwise { return try page(query.fetch).map { $0.values(of: query.columns) } }
    if query.isGrouped { return query.chosen(try grouped(query)) }
    return query.chosen(matching(query.fetch).map { OutputRow(values: $0.values(of: query.outputs)) })
  }

  private func grouped(_ query: StoreQuery) throws -> [OutputRow] {
    struct Group {
      let first: RowSubject?
      var accumulators: [Accumulator?]

      mutating func add(_ row: RowSubject, _ columns: [StoreQuery.Column]) {
        for place in columns.indices where accumulators[place] != nil {
          accumulators[place]?.add(row.value(of: columns[place]))
        }
      }
    }
    let (columns, keys) = (query.gathered, query.gatheredKeys.map { query.gathered[$0] })
    let blank = columns.map(Accumulator.init)
    var groups: [GroupKey: Group] = [:]
    // Without anything to group by there is one group, even of no rows.
    if query.groups.isEmpty { groups[GroupKey([])] = Group(first: nil, accumulators: blank) }
    for row in matching(query.fetch) {
      groups[GroupKey(row.values(of: keys)), default: Group(first: row, accumulators: blank)].add(row, columns)
    }
    return try groups.values.map { group in
      query.outputRow(
        ContiguousArray(
          try zip(columns, group.accumulators).map { column, accumulator in
            try accumulator?.result() ?? group.first?.value(of: column) ?? .null
          }))
    }
  }
}

extension RowSubject {
  fileprivate func values(of columns: [StoreQuery.Column]) -> ContiguousArray<Value> {
    ContiguousArray(columns.map(value))
  }

  /// What stands in a column for the row.
  fileprivate func value(of column: StoreQuery.Column) -> Value {
    guard let expression = column.expression else { return .null }
    return expression.value(of: self).settled(as: expression.valueType)
  }
}
