/// A data store: what `GET /v1/stores/{store}` answers.
package struct Store: Codable, Sendable, Hashable {
  /// An entity of its model.
  package struct Entity: Codable, Sendable, Hashable {
    package var name: String
    package var isAbstract: Bool
    /// How many objects there are, those of entities that inherit from it included; nil where counting them would take
    /// long and the request didn't ask for it.
    package var count: Int?
    /// Its attributes and relationships, in order.
    package var properties: [String]
    /// Its attributes, inherited ones included, but for those that the store doesn't keep.
    package var attributes: [Attribute]
    /// Its relationships, likewise.
    package var relationships: [Relationship]

    package init(
      name: String, isAbstract: Bool = false, count: Int? = nil, properties: [String] = [],
      attributes: [Attribute] = [], relationships: [Relationship] = []
    ) {
      self.name = name
      self.isAbstract = isAbstract
      self.count = count
      self.properties = properties
      self.attributes = attributes
      self.relationships = relationships
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case name
      case isAbstract = "abstract"
      case count, properties, attributes, relationships
    }
  }

  package var name: String
  package var path: String
  /// The model's path.
  package var model: String
  /// Bytes of the file.
  package var size: Int64
  /// Bytes of the write-ahead log beside it.
  package var walSize: Int64
  package var entities: [Entity]

  /// A store at one moment.
  package init(name: String, path: String, model: String, size: Int64, walSize: Int64, entities: [Entity]) {
    self.name = name
    self.path = path
    self.model = model
    self.size = size
    self.walSize = walSize
    self.entities = entities
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, path, model, size
    case walSize = "wal_size"
    case entities
  }
}

/// The data stores: what `GET /v1/stores` answers.
package struct StoreList: Codable, Sendable, Hashable {
  package var stores: [Store]

  package init(stores: [Store]) { self.stores = stores }

  package enum CodingKeys: String, CodingKey, CaseIterable { case stores }
}

/// Whether to count objects: the query of `GET /v1/stores` and `GET /v1/stores/{store}`.
package struct StoreCountQuery: Sendable, Hashable {
  /// True counts whatever it takes, false never; nil where it is cheap.
  package var counts: Bool?

  package init(counts: Bool? = nil) { self.counts = counts }

  /// Reads `counts`.
  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["counts"])
    self.init(counts: try query.flag("counts"))
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["counts"] = counts.map { $0 ? "true" : "false" }
    return query
  }
}
