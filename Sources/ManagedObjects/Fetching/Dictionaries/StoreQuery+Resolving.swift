extension FetchRequest {
  /// Binds what a dictionary fetch asks for to the entity. `fetch` is the request's bound to it without its sort.
  /// - Throws: ``FetchPredicateError`` or ``FetchRequestError``.
  func query(_ fetch: StoreFetch) throws -> (query: StoreQuery, names: [String], types: [AttributeType]) {
    let entity = fetch.entity
    var names: [String] = []
    var types: [AttributeType] = []
    var columns: [StoreQuery.Column] = []
    let properties =
      propertiesToFetch
      ?? entity.attributes.filter { !$0.isTransient && $0.type != .composite }.map { .property($0.name) }
    for property in properties {
      let (name, column, type) = try Self.resolve(property, in: entity)
      guard !names.contains(name) else { throw FetchRequestError.columnTwice(name) }
      names.append(name)
      columns.append(column)
      types.append(type)
    }
    let groups = try propertiesToGroupBy.map { try Self.path($0, in: entity) }
    var query = StoreQuery(
      fetch: fetch, columns: columns, isDistinct: returnsDistinctResults, groups: groups, order: [],
      output: OutputEntity.make(columns: zip(names, columns), groups: zip(propertiesToGroupBy, groups)))
    if query.isGrouped {
      for (name, column) in zip(names, columns) {
        if case .path(let path) = column, !groups.contains(path) { throw FetchRequestError.notGrouped(column: name) }
      }
    }
    if let havingPredicate {
      guard !groups.isEmpty else { throw FetchRequestError.havingWithoutGroups }
      query.having = try havingPredicate.resolved(in: query.output)
    }
    if query.isRowwise {
      query.fetch.sort = try sortDescriptors.map { try $0.resolved(in: entity) }
    } else {
      query.order = try sortDescriptors.map { descriptor in
        guard query.output.propertiesByName[descriptor.keyPath] != nil else {
          throw FetchRequestError.notAColumn(sortKey: descriptor.keyPath, columns: names)
        }
        return try descriptor.resolved(in: query.output)
      }
    }
    return (query, names, types)
  }

  private static func resolve(
    _ property: FetchedProperty, in entity: EntityDescription
  ) throws -> (name: String, column: StoreQuery.Column, type: AttributeType) {
    switch property {
    case .property(let name): return (name, .path(try path(name, in: entity)), .undefined)
    case .expression(let description):
      let column: StoreQuery.Column
      switch description.expression {
      case .keyPath(let keyPath): column = .path(try path(keyPath, in: entity))
      case .aggregate(let function, let keyPath, let isDistinct):
        let path = try path(keyPath, in: entity)
        guard function.takes(path) else {
          throw FetchRequestError.notAggregable(
            column: description.name, function: function.rawValue, type: path.attributeType.rawValue)
        }
        column = .aggregate(function, path, isDistinct: isDistinct)
      }
      let (type, wanted) = (column.definition(name: description.name).type, description.expressionResultType)
      guard wanted == .undefined || wanted == type || (wanted.isNumber && type.isNumber) else {
        throw FetchRequestError.resultType(column: description.name, type: type, wanted: wanted)
      }
      return (description.name, column, wanted)
    }
  }

  private static func path(_ keyPath: String, in entity: EntityDescription) throws -> ResolvedPath {
    let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let path = try ResolvedPath(names, in: entity)
    if case .attribute(let attribute) = path.end, attribute.isTransient || attribute.type == .composite {
      throw FetchRequestError.notStored(entity: attribute.entity.name, property: attribute.name)
    }
    return path
  }
}

extension ExpressionDescription.Aggregate {
  /// Whether it makes sense of the values at a path.
  fileprivate func takes(_ path: ResolvedPath) -> Bool {
    switch self {
    case .count: return true
    case .sum, .average: return path.kind == .number
    case .minimum, .maximum: return path.kind.isOrdered
    }
  }
}

extension AttributeType {
  var isNumber: Bool { ValueKind(self) == .number }
}

/// An entity that stands for the columns of a dictionary result, so that conditions and sorts over columns are bound and
/// answered as those over objects are.
enum OutputEntity {
  static func make(
    columns: some Sequence<(String, StoreQuery.Column)>, groups: some Sequence<(String, ResolvedPath)>
  ) -> EntityDescription {
    var definitions: [AttributeDefinition] = []
    var columnsSoFar: [StoreQuery.Column] = []
    for (name, column) in columns {
      definitions.append(column.definition(name: name))
      columnsSoFar.append(column)
    }
    var others: [(String, Int)] = []
    for (name, path) in groups {
      if let place = columnsSoFar.firstIndex(of: .path(path)) {
        // A group that is a column under another name is known by both.
        others.append((name, place))
      } else {
        definitions.append(StoreQuery.Column.path(path).definition(name: name))
        columnsSoFar.append(.path(path))
      }
    }
    let entity = EntityDescription(EntityDefinition("dictionary", attributes: definitions))
    entity.rootEntity = entity
    for (slot, definition) in definitions.enumerated() {
      let attribute = AttributeDescription(definition, slot: slot, entity: entity)
      entity.properties.append(attribute)
      entity.attributes.append(attribute)
      entity.propertiesByName[definition.name] = attribute
    }
    for (name, place) in others where entity.propertiesByName[name] == nil {
      entity.propertiesByName[name] = entity.properties[place]
    }
    return entity
  }
}
