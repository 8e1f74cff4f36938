/// A standing query: `GET /v1/watch`.
package struct WatchQuery: Sendable, Hashable {
  /// The most objects that a standing query may have.
  package static let maximumLimit = 1000

  package var entity: String
  /// The store's name; nil for the only one that has the entity.
  package var store: String?
  /// A predicate in the format language, without `MATCHES`.
  package var predicate: String?
  /// Key paths to sort by, the first one first; at the end by the object itself.
  package var sort: [SortKey]
  /// How many objects to follow, from the first on; an object that comes before them displaces the last. Nil for all, at
  /// most ``maximumLimit``.
  package var limit: Int?
  /// Key paths to show; empty for every attribute.
  package var columns: [String]

  /// A standing query; with the entity only, all of its objects.
  package init(
    entity: String, store: String? = nil, predicate: String? = nil, sort: [SortKey] = [], limit: Int? = nil,
    columns: [String] = []
  ) {
    self.entity = entity
    self.store = store
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.columns = columns
  }

  /// Reads `entity`, which has to be there, `store`, `where`, `sort`, `limit` and `columns`.
  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["entity", "store", "where", "sort", "limit", "columns"])
    guard let entity = query["entity"] else { throw QueryError.missing(name: "entity") }
    self.init(
      entity: entity, store: query["store"], predicate: query["where"],
      sort: try query.list("sort").map(SortKey.init),
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init),
      columns: query.list("columns"))
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["entity"] = entity
    query["store"] = store
    query["where"] = predicate
    query["sort"] = sort.isEmpty ? nil : sort.map(\.text).joined(separator: ",")
    query["limit"] = limit.map { String($0) }
    query["columns"] = columns.isEmpty ? nil : columns.joined(separator: ",")
    return query
  }
}
