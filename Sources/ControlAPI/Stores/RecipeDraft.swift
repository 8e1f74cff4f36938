/// A recipe that a client writes: the body of `PUT /v1/recipes/{recipe}`.
package struct RecipeDraft: Codable, Sendable, Hashable {
  package var store: String
  package var entity: String
  package var mode: ImportMode?
  /// The keys that a submission may give as options.
  package var options: [String: OptionValue]

  package init(store: String, entity: String, mode: ImportMode? = nil, options: [String: OptionValue] = [:]) {
    self.store = store
    self.entity = entity
    self.mode = mode
    self.options = options
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case store, entity, mode, options }

  /// Reads one; `mode` and `options` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      store: try body.decode(String.self, forKey: .store), entity: try body.decode(String.self, forKey: .entity),
      mode: try body.decodeIfPresent(ImportMode.self, forKey: .mode),
      options: try body.decodeIfPresent([String: OptionValue].self, forKey: .options) ?? [:])
  }
}

/// What the configuration says of a recipe: the answer of `GET /v1/recipes/{recipe}`.
package struct RecipeDefinition: Codable, Sendable, Hashable {
  package var name: String
  package var store: String
  package var entity: String
  /// Its keys, but for those two, with their values as the configuration has them.
  package var settings: [String: OptionValue]
  /// Whether it was saved by a client, so that a client may replace or remove it.
  package var isSaved: Bool

  package init(
    name: String, store: String, entity: String, settings: [String: OptionValue] = [:], isSaved: Bool = false
  ) {
    self.name = name
    self.store = store
    self.entity = entity
    self.settings = settings
    self.isSaved = isSaved
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, store, entity, settings
    case isSaved = "saved"
  }
}
