package import FoundationEssentials

/// A job to be made: the body of `POST /v1/jobs`. What is nil, the recipe or the daemon's configuration says.
///
/// A key that this version doesn't know is an error, not ignored: a misspelt `priority` must not be a job without one.
package struct JobSubmission: Codable, Sendable, Hashable {
  package var kind: String
  package var store: String?
  package var entity: String?
  package var recipe: String?
  /// The input's absolute path, as the daemon sees it.
  package var source: String
  package var mode: ImportMode?
  package var lane: String?
  package var priority: Int?
  /// Not started before this.
  package var notBefore: Date?
  /// A job with the same key that hasn't ended is the answer instead of a second one.
  package var uniqueKey: String?
  package var maxAttempts: Int?
  /// For the reader and the mapping, by name, such as `delimiter`.
  package var options: [String: OptionValue]

  /// A submission of one file.
  package init(
    kind: String = "import", source: String, store: String? = nil, entity: String? = nil, recipe: String? = nil,
    mode: ImportMode? = nil, lane: String? = nil, priority: Int? = nil, notBefore: Date? = nil,
    uniqueKey: String? = nil, maxAttempts: Int? = nil, options: [String: OptionValue] = [:]
  ) {
    self.kind = kind
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.source = source
    self.mode = mode
    self.lane = lane
    self.priority = priority
    self.notBefore = notBefore
    self.uniqueKey = uniqueKey
    self.maxAttempts = maxAttempts
    self.options = options
  }

  /// Reads one; `kind` and `options` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.refuseKeys(otherThan: CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try body.decodeIfPresent(String.self, forKey: .kind) ?? "import",
      source: try body.decode(String.self, forKey: .source),
      store: try body.decodeIfPresent(String.self, forKey: .store),
      entity: try body.decodeIfPresent(String.self, forKey: .entity),
      recipe: try body.decodeIfPresent(String.self, forKey: .recipe),
      mode: try body.decodeIfPresent(ImportMode.self, forKey: .mode),
      lane: try body.decodeIfPresent(String.self, forKey: .lane),
      priority: try body.decodeIfPresent(Int.self, forKey: .priority),
      notBefore: try body.decodeIfPresent(Date.self, forKey: .notBefore),
      uniqueKey: try body.decodeIfPresent(String.self, forKey: .uniqueKey),
      maxAttempts: try body.decodeIfPresent(Int.self, forKey: .maxAttempts),
      options: try body.decodeIfPresent([String: OptionValue].self, forKey: .options) ?? [:])
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, store, entity, recipe, source, mode, lane, priority
    case notBefore = "not_before"
    case uniqueKey = "unique_key"
    case maxAttempts = "max_attempts"
    case options
  }
}
