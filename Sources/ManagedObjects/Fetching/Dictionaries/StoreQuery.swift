/// A dictionary fetch in the form that stores execute.
///
/// Either each row yields a dictionary (``isRowwise``), and the fetch's own sort, limit and offset apply; or rows are grouped,
/// made distinct or sorted by a computed column, and ``having``, ``order``, limit and offset apply to the columns. Those
/// conditions are bound to an entity of their own, ``output``, whose attributes are the columns.
public struct StoreQuery: Sendable {
  /// The content of a column.
  package enum Column: Sendable {
    /// An expression over a row, or over the values that a group's rows have in common.
    case value(ResolvedExpression)
    /// An aggregate of an expression over each row of a group.
    case aggregate(RowAggregate)
    /// An expression over ``StoreQuery/aggregates`` and the values that a group's rows have in common.
    case computed(ResolvedExpression)
  }

  /// An aggregate over rows.
  package struct RowAggregate: Sendable {
    package let function: ExpressionDescription.Aggregate
    package let element: ResolvedExpression
    package let isDistinct: Bool
  }

  /// The rows that it is about.
  public package(set) var fetch: StoreFetch
  /// The columns to return.
  package var columns: [Column]
  /// Further columns that only grouping and sorting need.
  package var extras: [Column]
  package var isDistinct: Bool
  /// The indexes in ``outputs`` of the columns to group by. If it is empty and some column is an aggregate, all rows are one
  /// group.
  package var groups: [Int]
  /// The aggregates that computed columns read, each with the attribute that stands for it.
  package var aggregates: [(attribute: AttributeDescription, aggregate: RowAggregate)]
  package var having: ResolvedPredicate?
  package var order: [ResolvedSort] = []
  /// The entity whose attributes are ``outputs``. The query owns it, since property descriptions refer to their entity
  /// unowned; likewise the entity of ``aggregates``.
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

  /// A query for expressions over each fetched row.
  init(_ fetch: StoreFetch, columns: [ResolvedExpression]) {
    let output = EntityDescription.ofColumns("dictionary")
    self.init(
      fetch: fetch, columns: columns.map(Column.value), extras: [], isDistinct: false, groups: [], aggregates: [],
      output: output, aggregated: output)
  }

  /// Whether each row yields a dictionary.
  package var isRowwise: Bool { !isDistinct && !isGrouped && order.isEmpty }

  /// Whether each group of rows yields a dictionary.
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

  /// The content of each attribute of ``output``.
  package var outputs: [Column] { columns + extras }

  /// Whether ties under ``order`` are broken by the columns, which keeps pages from overlapping.
  package var hasOrder: Bool { !order.isEmpty || fetch.limit > 0 || fetch.offset > 0 }

  /// The columns with an order, which break ties under ``order``.
  package var tiebreakers: [AttributeDescription] {
    output.attributes.prefix(columns.count).filter { attribute in
      let kind = ValueKind(attribute.type)
      return kind.isOrdered || kind == .object
    }
  }
}

extension StoreQuery.RowAggregate {
  /// The type of the value; nil for numbers that may be whole or fractional.
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

  /// The expression to read from each row; nil for a column computed from others.
  var expression: ResolvedExpression? {
    switch self {
    case .value(let expression): return expression
    case .aggregate(let aggregate): return aggregate.element
    case .computed: return nil
    }
  }

  /// The type of the values; nil for numbers that may be whole or fractional.
  package var valueType: AttributeType? {
    switch self {
    case .value(let expression), .computed(let expression): return expression.valueType
    case .aggregate(let aggregate): return aggregate.valueType
    }
  }

  /// The column as an attribute of ``StoreQuery/output``.
  func definition(name: String) -> AttributeDefinition {
    // Keeps the attribute's user info, which says how a store encodes the values.
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
