/// A dictionary fetch as a store sees it.
///
/// Either each row gives a dictionary (``isRowwise``), and the fetch's own sort, limit and offset hold; or rows are
/// grouped or made distinct first, and then ``having``, ``order`` and the limit and offset are about the columns. Those
/// conditions are bound to an entity of their own, ``output``, whose attributes are the columns.
package struct StoreQuery: Sendable {
  /// What stands in a column.
  package enum Column: Sendable, Hashable {
    case path(ResolvedPath)
    case aggregate(ExpressionDescription.Aggregate, ResolvedPath, isDistinct: Bool)
  }

  package var fetch: StoreFetch
  /// The columns to bring.
  package var columns: [Column]
  package var isDistinct: Bool
  /// What rows are grouped by. Without any, and with aggregates among the columns, all rows are one group.
  package var groups: [ResolvedPath]
  package var having: ResolvedPredicate?
  package var order: [ResolvedSort]
  /// Its attributes are ``columns`` and behind them what of ``groups`` isn't among these. Kept by whoever has the query,
  /// for its descriptions refer to it without counting.
  package let output: EntityDescription

  /// Whether there is a dictionary for each row.
  package var isRowwise: Bool { !isDistinct && !isGrouped }

  /// Whether there is a dictionary for each group of rows.
  package var isGrouped: Bool {
    !groups.isEmpty
      || columns.contains { column in
        if case .aggregate = column { return true }
        return false
      }
  }

  /// What stands in the attributes of ``output``.
  package var outputs: [Column] {
    groups.reduce(into: columns) { outputs, group in
      if !outputs.contains(.path(group)) { outputs.append(.path(group)) }
    }
  }

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

extension StoreQuery.Column {
  /// The attribute of ``StoreQuery/output`` that the column is.
  func definition(name: String) -> AttributeDefinition {
    switch self {
    case .path(let path): return path.definition(name: name)
    case .aggregate(let function, let path, _):
      switch (function, path.attributeType) {
      case (.count, _): return AttributeDefinition(name, .integer64)
      case (.minimum, _), (.maximum, _): return path.definition(name: name)
      case (.sum, .decimal), (.average, .decimal): return AttributeDefinition(name, .decimal)
      case (.sum, .double), (.sum, .float), (.average, _): return AttributeDefinition(name, .double)
      case (.sum, _): return AttributeDefinition(name, .integer64)
      }
    }
  }
}

extension ResolvedPath {
  /// The type of the values.
  package var attributeType: AttributeType {
    if case .attribute(let attribute) = end { return attribute.type }
    return .objectID
  }

  fileprivate func definition(name: String) -> AttributeDefinition {
    guard case .attribute(let attribute) = end else { return AttributeDefinition(name, .objectID) }
    // With its user info, which says how a store writes it.
    return AttributeDefinition(name, attribute.type, userInfo: attribute.userInfo)
  }
}
