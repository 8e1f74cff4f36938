/// A recipe of the configuration, by which files are imported.
package struct Recipe: Codable, Sendable, Hashable {
  package var name: String
  package var store: String
  package var entity: String
  package var lane: String

  package init(name: String, store: String, entity: String, lane: String) {
    self.name = name
    self.store = store
    self.entity = entity
    self.lane = lane
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case name, store, entity, lane }
}

/// The recipes: what `GET /v1/recipes` answers.
package struct RecipeList: Codable, Sendable, Hashable {
  package var recipes: [Recipe]

  package init(recipes: [Recipe]) { self.recipes = recipes }

  package enum CodingKeys: String, CodingKey, CaseIterable { case recipes }
}
