package import FoundationEssentials

/// Which objects' origins to show: the query of `GET /v1/origin/{entity}`.
package struct OriginQuery: Sendable, Hashable {
  /// The most objects that one answer has.
  package static let maximumLimit = 1000

  package var entity: String
  /// The store's name; nil for the only one that has the entity.
  package var store: String?
  /// The value of the entity's first uniqueness constraint of one attribute, or the object's number if it has none.
  package var key: String?
  /// A predicate in the format language, in place of a key.
  package var predicate: String?
  /// How many at most; 1 to ``maximumLimit``.
  package var limit: Int

  /// A query, by a key or a predicate.
  package init(
    entity: String, store: String? = nil, key: String? = nil, predicate: String? = nil, limit: Int = 100
  ) {
    self.entity = entity
    self.store = store
    self.key = key
    self.predicate = predicate
    self.limit = limit
  }

  /// Reads `store`, `key`, `where` and `limit`.
  /// - Throws: ``QueryError`` for a parameter that isn't one of those, is there twice or isn't what it should be.
  package init(entity: String, _ query: QueryString) throws {
    try query.refuseNames(otherThan: ["store", "key", "where", "limit"])
    self.init(
      entity: entity, store: query["store"], key: query["key"], predicate: query["where"],
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 100)
  }

  /// The query as it is sent; the entity is in the path.
  package var queryString: QueryString {
    var query = QueryString()
    query["store"] = store
    query["key"] = key
    query["where"] = predicate
    query["limit"] = String(limit)
    return query
  }
}

/// Where objects of an entity come from: the answer of `GET /v1/origin/{entity}`.
package struct RowOrigins: Codable, Sendable, Hashable {
  package var entity: String
  package var store: String
  package var objects: [RowOrigin]

  /// The origins of some objects of a store.
  package init(entity: String, store: String, objects: [RowOrigin]) {
    self.entity = entity
    self.store = store
    self.objects = objects
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case entity, store, objects }
}

/// Where one object comes from, and what has changed it since.
package struct RowOrigin: Codable, Sendable, Hashable {
  /// The object's number.
  package var number: Int64
  /// What people know it by.
  package var key: String
  /// The oldest first; none for an object of unknown origin.
  package var steps: [OriginStep]

  /// The origin of an object.
  package init(number: Int64, key: String, steps: [OriginStep]) {
    self.number = number
    self.key = key
    self.steps = steps
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case number, key, steps }
}

/// What one job did to an object. What isn't known is nil.
package struct OriginStep: Codable, Sendable, Hashable {
  /// `inserted`, `updated` or `deleted`.
  package var event: String
  package var job: Int64
  package var kind: String
  package var file: String?
  package var sha256: String?
  package var member: String?
  package var record: Int64?
  package var line: Int64?
  package var byte: Int64?
  package var recipe: String?
  package var submittedBy: String
  package var submittedAt: Date
  package var endedAt: Date?
  package var undoes: Int64?
  package var undoneBy: Int64?

  /// A step with what every one has.
  package init(event: String, job: Int64, kind: String, submittedBy: String, submittedAt: Date) {
    self.event = event
    self.job = job
    self.kind = kind
    self.submittedBy = submittedBy
    self.submittedAt = submittedAt
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case event, job, kind, file, sha256, member, record, line, byte, recipe
    case submittedBy = "submitted_by"
    case submittedAt = "submitted_at"
    case endedAt = "ended_at"
    case undoes
    case undoneBy = "undone_by"
  }
}
