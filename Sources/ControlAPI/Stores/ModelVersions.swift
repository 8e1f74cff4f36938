/// The versions of a store's model, and what differs between two of them: what `GET /v1/stores/{store}/versions` answers.
package struct ModelVersions: Codable, Sendable, Hashable {
  /// One difference.
  package struct Change: Codable, Sendable, Hashable {
    /// `added`, `removed`, `renamed` or `changed`.
    package var change: String
    /// In the newer version; of what is removed, in the older one.
    package var entity: String
    /// The attribute or relationship; nil for the entity itself.
    package var property: String?
    /// What it was, or the older name.
    package var old: String?
    package var new: String?
    /// What becomes of the stored data: `kept`, `converted`, `empty`, `filled` with the default, `lost`, or `refused`.
    package var data: String

    package init(
      change: String, entity: String, property: String? = nil, old: String? = nil, new: String? = nil, data: String
    ) {
      self.change = change
      self.entity = entity
      self.property = property
      self.old = old
      self.new = new
      self.data = data
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case change, entity, property, old, new, data }
  }

  /// What a store goes through that is migrated from one version to another.
  package struct Difference: Codable, Sendable, Hashable {
    package var from: String
    package var to: String
    package var changes: [Change]
    /// How many changes there are beyond those.
    package var others: Int
    /// What keeps a store from being migrated without a mapping model, with what to do about each; empty where nothing does.
    package var obstacles: [String]
    /// What would be lost, with what to do about it.
    package var losses: [String]
    /// Whether the store's configuration allows these losses. A store isn't opened where it doesn't.
    package var allowsLosses: Bool

    package init(
      from: String, to: String, changes: [Change], others: Int = 0, obstacles: [String] = [], losses: [String] = [],
      allowsLosses: Bool = true
    ) {
      self.from = from
      self.to = to
      self.changes = changes
      self.others = others
      self.obstacles = obstacles
      self.losses = losses
      self.allowsLosses = allowsLosses
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case from, to, changes, others, obstacles, losses
      case allowsLosses = "allows_losses"
    }
  }

  package var store: String
  /// The model's path.
  package var model: String
  /// The names of its versions, in the order of their numbers.
  package var versions: [String]
  /// The one that is current in the files; the daemon uses it from its next start or migration on.
  package var current: String?
  /// Nil where there is only one version.
  package var difference: Difference?

  package init(store: String, model: String, versions: [String], current: String?, difference: Difference? = nil) {
    self.store = store
    self.model = model
    self.versions = versions
    self.current = current
    self.difference = difference
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case store, model, versions, current, difference }
}

/// Which versions of a model are compared: the query of `GET /v1/stores/{store}/versions`.
package struct ModelVersionQuery: Sendable, Hashable {
  /// Nil for the one before ``to``.
  package var from: String?
  /// Nil for the current one.
  package var to: String?

  package init(from: String? = nil, to: String? = nil) {
    self.from = from
    self.to = to
  }

  /// Reads `from` and `to`.
  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["from", "to"])
    self.init(
      from: query["from"].flatMap { $0.isEmpty ? nil : $0 }, to: query["to"].flatMap { $0.isEmpty ? nil : $0 })
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    (query["from"], query["to"]) = (from, to)
    return query
  }
}
