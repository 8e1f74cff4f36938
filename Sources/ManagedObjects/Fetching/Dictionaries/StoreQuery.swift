/// A dictionary fetch as a store sees it.
///
/// Either each row gives a dictionary (``isRowwise``), and the fetch's own sort, limit and offset hold; or rows are
/// grouped or made distinct first, or sorted by what is computed, and then ``having``, ``order`` and the limit and offset
/// are about the columns. Those conditions are bound to an entity of their own, ``output``, whose attributes are the
/// columns.
package struct StoreQuery: Sendable {
  /// What stands in a column.
  package enum Column: Sendable {
    /// What an expression makes of a row; of a group's rows, which have it in common.
    case value(ResolvedExpression)
    /// One value of what an expression makes of each row of a group.
    case aggregate(RowAggregate)
    /// What an expression makes of ``StoreQuery/aggregates`` and of values that a group's rows have in common.
    case computed(ResolvedExpression)
  }

  /// One value from many rows.
  package struct RowAggregate: Sendable {
    package let function: ExpressionDescription.Aggregate
    package let element: ResolvedExpression
    package let isDistinct: Bool
  }

  package var fetch: StoreFetch
  /// The columns to bring.
  package var columns: [Column]
  /// Further columns, that groups and sorts need and nobody is given.
  package var extras: [Column]
  package var isDistinct: Bool
  /// The places in ``outputs`` of what rows are grouped by. Without any, and with aggregates among the columns, all rows
  /// are one group.
  package var groups: [Int]
  /// The aggregates that computed columns are computed from, each the value of the attribute that it stands beside.
  package var aggregates: [(attribute: AttributeDescription, aggregate: RowAggregate)]
  package var having: ResolvedPredicate?
  package var order: [ResolvedSort] = []
  /// Its attributes are ``outputs``. Kept by whoever has the query, for its descriptions refer to it without counting, and
  /// so is the entity of the attributes of ``aggregates``.
  package let output: EntityDescription
  let aggregated: EntityDescription

  init(
    fetch: StoreFetch, columns: [Column], extras: [Column], isDistinct: Bool, groups: [Int],
    aggregates: [(attribute: AttributeDescription, aggregate: RowAggregate)], output: EntityDescription,
    aggregated: EntityDescription
  ) {
    self.fetch = fetch
    self.columns = columns
    self.extras = extras
    self.isDistinct = isDistinct
    self.groups = groups
    self.aggregates = aggregates
    self.output = output
    self.aggregated = aggregated
  }

  /// Expressions of each row that a fetch finds.
  init(_ fetch: StoreFetch, columns: [ResolvedExpression]) {
    let output = EntityDescription(EntityDefinition("dictionary"))
    self.init(
      fetch: fetch, columns: columns.map(Column.value), extras: [], isDistinct: false, groups: [], aggregates: [],
      output: output, aggregated: output)
  }

  /// Whether there is a dictionary for each row.
  package var isRowwise: Bool { !isDistinct && !isGrouped && order.isEmpty }

  /// Whether there is a dictionary for each group of rows.
  package var isGrouped: Bool {
    !groups.isEmpty
      || columns.contains { column in
        switch column {
        case .aggregate, .computed: return true
        case .value: return false
        }
      }
  }

  /// Whether a column is computed from others.
  package var isComputed: Bool { columns.contains(where: \.isComputed) }

  /// What stands in the attributes of ``output``.
  package var outputs: [Column] { columns + extras }

  /// Whether dictionaries that ``order`` leaves equal follow each other by their columns, so that pages don't overlap.
  package var hasOrder: Bool { !order.isEmpty || fetch.limit > 0 || fetch.offset > 0 }

  /// The columns that have an order, which decides where ``order`` doesn't.
  package var tiebreakers: [AttributeDescription] {
    output.attributes.prefix(columns.count).filter { attribute in
      let kind = ValueKind(attribute.type)
      return kind.isOrdered || kind == .object
    }
  }
}

extension StoreQuery.RowAggregate {
  /// The type of the value; nil for a number that is whole or not as it comes.
  package var valueType: AttributeType? {
    switch (function, element.valueType) {
    case (.count, _): return .integer64
    case (.minimum, let type), (.maximum, let type): return type
    case (.sum, .decimal?), (.average, .decimal?): return .decimal
    case (.sum, .double?), (.sum, .float?), (.average, _): return .double
    case (.sum, nil): return nil
    case (.sum, _): return .integer64
    }
  }
}

extension StoreQuery.Column {
  var isComputed: Bool {
    if case .computed = self { return true }
    return false
  }

  /// What is read of each row; nil for what is computed from others.
  var expression: ResolvedExpression? {
    switch self {
    case .value(let expression): return expression
    case .aggregate(let aggregate): return aggregate.element
    case .computed: return nil
    }
  }

  /// The type of the values; nil for numbers that are whole or not as it comes.
  package var valueType: AttributeType? {
    switch self {
    case .value(let expression), .computed(let expression): return expression.valueType
    case .aggregate(let aggregate): return aggregate.valueType
    }
  }

  /// The attribute of ``StoreQuery/output`` that the column is.
  func definition(name: String) -> AttributeDefinition {
    // An attribute's values with its user info, which says how a store writes them.
    switch self {
    case .value(.path(let path)): return path.definition(name: name)
    case .aggregate(let aggregate): return aggregate.definition(name: name)
    case .value, .computed: return AttributeDefinition(name, valueType ?? .double)
    }
  }
}

extension StoreQuery.RowAggregate {
  func definition(name: String) -> AttributeDefinition {
    if function == .minimum || function == .maximum, case .path(let path) = element {
      return path.definition(name: name)
    }
    return AttributeDefinition(name, valueType ?? .double)
  }
}

extension ResolvedPath {
  /// The type of the values.
  package var attributeType: AttributeType {
    switch end {
    case .attribute(let attribute): return attribute.type
    case .entityName: return .string
    case .relationship, .objectID: return .objectID
    case .composite: return .composite
    }
  }

  fileprivate func definition(name: String) -> AttributeDefinition {
    AttributeDefinition(name, attributeType, userInfo: attribute?.userInfo ?? [:])
  }

  /// The attribute at the end, if there is one.
  package var attribute: AttributeDescription? {
    if case .attribute(let attribute) = end { return attribute }
    return nil
  }
}
