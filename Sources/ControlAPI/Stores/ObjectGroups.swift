/// How to count the objects of a query by one of their values: the query of `GET /v1/groups/{entity}`.
package struct GroupQuery: Sendable, Hashable {
  /// The most groups that one answer holds.
  package static let maximumLimit = 1000

  package var entity: String
  /// The store's name; nil for the only one that has the entity.
  package var store: String?
  /// A predicate in the format language.
  package var predicate: String?
  /// A key path over to-one relationships: an attribute, or a to-one relationship.
  package var by: String
  /// How many groups at most; 1 to ``maximumLimit``.
  package var limit: Int

  package init(entity: String, store: String? = nil, predicate: String? = nil, by: String, limit: Int = 10) {
    self.entity = entity
    self.store = store
    self.predicate = predicate
    self.by = by
    self.limit = limit
  }

  /// Reads `by`, which has to be there, `store`, `where` and `limit`.
  /// - Throws: ``QueryError``.
  package init(entity: String, _ query: QueryString) throws {
    try query.refuseNames(otherThan: ["by", "store", "where", "limit"])
    guard let by = query["by"], !by.isEmpty else { throw QueryError.missing(name: "by") }
    self.init(
      entity: entity, store: query["store"], predicate: query["where"], by: by,
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 10)
  }

  /// The query as it is sent; the entity is in the path.
  package var queryString: QueryString {
    var query = QueryString()
    query["by"] = by
    query["store"] = store
    query["where"] = predicate
    query["limit"] = String(limit)
    return query
  }
}

/// Objects counted by one of their values: what `GET /v1/groups/{entity}` answers.
package struct ObjectGroups: Codable, Sendable, Hashable {
  package struct Group: Codable, Sendable, Hashable {
    /// What the objects of the group have in common; of a relationship, the key or number of the object that they refer to.
    package var value: JSONValue
    /// The number of that object.
    package var number: Int64?
    package var count: Int

    package init(value: JSONValue, number: Int64? = nil, count: Int) {
      self.value = value
      self.number = number
      self.count = count
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case value, number, count }
  }

  package var entity: String
  package var by: String
  /// The largest groups, the largest first.
  package var groups: [Group]
  /// Whether there are more.
  package var hasMore: Bool

  package init(entity: String, by: String, groups: [Group], hasMore: Bool) {
    self.entity = entity
    self.by = by
    self.groups = groups
    self.hasMore = hasMore
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case entity, by, groups
    case hasMore = "more"
  }
}
