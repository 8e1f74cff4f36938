/// Which batches to list: the query of `GET /v1/batches`. The newest come first.
package struct BatchQuery: Sendable, Hashable {
  /// The most that one answer holds.
  package static let maximumLimit = 1000

  /// How many at most; 1 to ``maximumLimit``.
  package var limit: Int
  /// Only batches with a smaller number.
  package var before: Int64?

  package init(limit: Int = 100, before: Int64? = nil) {
    self.limit = limit
    self.before = before
  }

  /// Reads `limit` and `before`.
  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["limit", "before"])
    self.init(
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 100,
      before: try query.integer("before", in: 0...Int64.max))
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["limit"] = String(limit)
    query["before"] = before.map { String($0) }
    return query
  }
}

/// Some of the batches, the newest first: what `GET /v1/batches` answers. Their jobs and progress are left out.
package struct BatchList: Codable, Sendable, Hashable {
  package var batches: [Batch]
  /// The next query's `before`; nil when these were the last.
  package var next: Int64?

  package init(batches: [Batch], next: Int64? = nil) {
    self.batches = batches
    self.next = next
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case batches, next }
}
