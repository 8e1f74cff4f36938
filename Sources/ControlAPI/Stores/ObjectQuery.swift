/// Which objects to fetch or count: the query of `GET /v1/objects/{entity}` and `GET /v1/count/{entity}`.
package struct ObjectQuery: Sendable, Hashable {
  /// The most that one answer holds.
  package static let maximumLimit = 10_000

  package var entity: String
  /// The store's name; nil for the only one that has the entity.
  package var store: String?
  /// A predicate in the format language.
  package var predicate: String?
  /// Key paths to sort by, the first one first.
  package var sort: [SortKey]
  /// How many at most; 1 to ``maximumLimit``.
  package var limit: Int
  package var offset: Int
  /// Key paths to show; empty for every attribute.
  package var columns: [String]

  /// A query; with the entity only, its first 100 objects.
  package init(
    entity: String, store: String? = nil, predicate: String? = nil, sort: [SortKey] = [], limit: Int = 100,
    offset: Int = 0, columns: [String] = []
  ) {
    self.entity = entity
    self.store = store
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.columns = columns
  }

  /// Reads `store`, `where`, `sort`, `limit`, `offset` and `columns`.
  /// - Throws: ``QueryError`` for a parameter that isn't one of those, is there twice or isn't what it should be.
  package init(entity: String, _ query: QueryString) throws {
    try query.refuseNames(otherThan: ["store", "where", "sort", "limit", "offset", "columns"])
    self.init(
      entity: entity, store: query["store"], predicate: query["where"],
      sort: try query.list("sort").map(SortKey.init),
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 100,
      offset: try query.integer("offset", in: 0...Int64.max).map(Int.init) ?? 0,
      columns: query.list("columns"))
  }

  /// The query as it is sent; the entity is in the path.
  package var queryString: QueryString {
    var query = QueryString()
    query["store"] = store
    query["where"] = predicate
    query["sort"] = sort.isEmpty ? nil : sort.map(\.text).joined(separator: ",")
    query["limit"] = String(limit)
    query["offset"] = offset == 0 ? nil : String(offset)
    query["columns"] = columns.isEmpty ? nil : columns.joined(separator: ",")
    return query
  }
}

/// A key path to sort by, and which way: `name`, or `-age` for the greatest first.
package struct SortKey: Sendable, Hashable {
  package var keyPath: String
  package var ascending: Bool

  /// A key path and its direction.
  package init(keyPath: String, ascending: Bool) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Reads `name` or `-name`.
  /// - Throws: ``QueryError/invalid(name:value:expected:)`` when there is no name.
  package init(_ text: String) throws {
    let ascending = !text.hasPrefix("-")
    let keyPath = String(ascending ? text[...] : text.dropFirst())
    guard !keyPath.isEmpty else {
      throw QueryError.invalid(name: "sort", value: text, expected: "key paths with commas between, such as name,-age")
    }
    self.init(keyPath: keyPath, ascending: ascending)
  }

  /// The form that ``init(_:)`` reads.
  package var text: String { ascending ? keyPath : "-" + keyPath }
}
