extension FetchRequest {
  /// Binds a dictionary fetch to the entity. `fetch` is the bound request without its sort.
  /// - Throws: ``FetchPredicateError`` or ``FetchRequestError``.
  func query(_ fetch: StoreFetch) throws -> (query: StoreQuery, names: [String], types: [AttributeType]) {
    let entity = fetch.entity
    var columns = DictionaryColumns(entity)
    let properties =
      propertiesToFetch
      ?? entity.attributes.filter { !$0.isTransient && $0.type != .composite }.map { .property($0.name) }
    for property in properties { try columns.add(property) }
    let count = columns.all.count
    let groups = try propertiesToGroupBy.map { try columns.place(of: $0) }
    let sortsColumns = sortDescriptors.contains { columns.isComputed($0.keyPath) }
    let isGrouped = !groups.isEmpty || columns.aggregates
    if isGrouped {
      try columns.compute(from: groups)
    } else if sortsColumns, !returnsDistinctResults {
      for descriptor in sortDescriptors { _ = try columns.place(of: descriptor.keyPath) }
    }
    let all = columns.all
    let output = EntityDescription.ofColumns(
      "dictionary", all.map { $0.column.definition(name: $0.name) }, otherNames: columns.otherNames)
    var query = StoreQuery(
      fetch: fetch, columns: all[..<count].map(\.column), extras: all[count...].map(\.column),
      isDistinct: returnsDistinctResults, groups: groups, aggregates: columns.rowAggregates.found,
      output: output, aggregated: columns.rowAggregates.entity)
    if let havingPredicate {
      guard !groups.isEmpty else { throw FetchRequestError.havingWithoutGroups }
      // Core Data's programs name a computed column by a variable.
      let output = query.output
      let named = havingPredicate.replacing { output.propertiesByName[$0] == nil ? nil : .path($0) }
      query.having = try named.resolved(in: output)
    }
    if isGrouped || returnsDistinctResults || sortsColumns {
      query.order = try sortDescriptors.map { descriptor in
        guard query.output.propertiesByName[descriptor.keyPath] != nil else {
          throw FetchRequestError.notAColumn(sortKey: descriptor.keyPath, columns: all[..<count].map(\.name))
        }
        return try descriptor.resolved(in: query.output)
      }
    } else {
      query.fetch.sort = try sortDescriptors.map { try $0.resolved(in: entity) }
    }
    return (query, all[..<count].map(\.name), columns.types)
  }
}

/// Collects the columns of a dictionary fetch: the requested ones first, then those only needed internally.
private struct DictionaryColumns {
  let entity: EntityDescription
  let rowAggregates: RowAggregates
  private let resolver: PredicateResolver
  private(set) var all: [(name: String, column: StoreQuery.Column)] = []
  /// The requested types of the requested columns.
  private(set) var types: [AttributeType] = []
  /// Aliases of columns.
  private(set) var otherNames: [(name: String, place: Int)] = []
  private var paths: [ResolvedPath?] = []

  init(_ entity: EntityDescription) {
    self.entity = entity
    rowAggregates = RowAggregates()
    resolver = PredicateResolver(entity, rowAggregates: rowAggregates)
  }

  /// Whether any column aggregates rows.
  var aggregates: Bool {
    all.contains { entry in
      if case .value = entry.column { return false }
      return true
    }
  }

  /// Whether a name is a computed column's, not a property's.
  func isComputed(_ name: String) -> Bool {
    guard entity.propertiesByName[name] == nil, let place = all.firstIndex(where: { $0.name == name }) else {
      return false
    }
    return paths[place] == nil
  }

  mutating func add(_ property: FetchedProperty) throws {
    switch property {
    case .property(let name):
      try append(name, .value(.path(try path(name))))
      types.append(.undefined)
    case .expression(let description):
      let column = try column(description)
      let (type, wanted) = (column.valueType ?? .double, description.expressionResultType)
      guard wanted == .undefined || wanted == type || (wanted.isNumber && type.isNumber) else {
        throw FetchRequestError.resultType(column: description.name, type: type, wanted: wanted)
      }
      try append(description.name, column)
      types.append(wanted)
    }
  }

  private mutating func append(_ name: String, _ column: StoreQuery.Column) throws {
    guard !all.contains(where: { $0.name == name }) else { throw FetchRequestError.columnTwice(name) }
    all.append((name, column))
    if case .value(.path(let path)) = column { paths.append(path) } else { paths.append(nil) }
  }

  /// The index of the column for a name or key path, which is appended if missing.
  mutating func place(of name: String) throws -> Int {
    if let place = all.firstIndex(where: { $0.name == name }) {
      if case .value = all[place].column { return place }
      throw FetchRequestError.notGrouped(column: name)
    }
    let path = try path(name)
    if let place = paths.firstIndex(of: path) {
      // A group that is also a column under another name has both names.
      otherNames.append((name, place))
      return place
    }
    all.append((name, .value(.path(path))))
    paths.append(path)
    return all.count - 1
  }

  /// Turns columns that aren't grouped by, but are constant within each group, into common columns.
  /// - Throws: ``FetchRequestError/notGrouped(column:)`` for a column that varies within a group.
  mutating func compute(from groups: [Int]) throws {
    let common = Set(groups.compactMap { paths[$0] })
    for (place, entry) in all.enumerated() where !groups.contains(place) {
      let expression: ResolvedExpression
      switch entry.column {
      case .aggregate: continue
      case .value(let value), .computed(let value): expression = value
      }
      let isCommon = expression.paths.allSatisfy { common.contains($0) || rowAggregates.isAggregate($0) }
      guard isCommon, !expression.readsCollections else { throw FetchRequestError.notGrouped(column: entry.name) }
      if case .path(let path) = expression, common.contains(path) { continue }
      all[place].column = .computed(expression)
    }
  }

  private func column(_ description: ExpressionDescription) throws -> StoreQuery.Column {
    switch description.expression {
    case .keyPath(let keyPath): return .value(.path(try path(keyPath)))
    case .aggregate(let function, let keyPath, let isDistinct):
      let element = ResolvedExpression.path(try path(keyPath))
      guard function.takes(element) else {
        throw FetchRequestError.notAggregable(
          column: description.name, function: function.rawValue, type: element.valueType?.rawValue ?? "")
      }
      return .aggregate(.init(function: function, element: element, isDistinct: isDistinct))
    case .computed(let expression):
      let value = try resolver.value(expression, of: description.name)
      try value.checkStored()
      for (_, aggregate) in rowAggregates.found { try aggregate.element.checkStored() }
      if let aggregate = rowAggregates.takeBack(value) { return .aggregate(aggregate) }
      return rowAggregates.reads(value) ? .computed(value) : .value(value)
    }
  }

  private func path(_ keyPath: String) throws -> ResolvedPath {
    let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let path = try ResolvedPath(names, in: entity)
    try path.checkStored()
    return path
  }
}

extension ResolvedPath {
  /// - Throws: ``FetchRequestError/notStored(entity:property:)`` if the path reads a property that no store keeps.
  func checkStored() throws {
    for step in steps where step.isTransient {
      throw FetchRequestError.notStored(entity: step.entity.name, property: step.name)
    }
    switch end {
    case .attribute(let attribute) where attribute.isTransient || attribute.type == .composite:
      throw FetchRequestError.notStored(entity: attribute.entity.name, property: attribute.name)
    case .relationship(let relationship) where relationship.isTransient:
      throw FetchRequestError.notStored(entity: relationship.entity.name, property: relationship.name)
    case .composite(let composite):
      throw FetchPredicateError.unsupported(
        part: "the composite attribute \(composite.name) as a whole",
        hint: "ask whether it is nil, or name its elements: "
          + composite.attributes.map(\.name).joined(separator: ", "))
    case .attribute, .relationship, .objectID, .entityName: break
    }
  }
}

extension AttributeType {
  var isNumber: Bool { ValueKind(self) == .number }
}
