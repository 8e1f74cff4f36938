/// An object that an import would insert or change: a part of the answer of `POST /v1/recipes/test`.
package struct RecipeTestExample: Codable, Sendable, Hashable {
  package enum Change: String, Codable, Sendable, CaseIterable {
    case inserted, updated
  }

  /// What becomes of one of its values.
  package struct Value: Codable, Sendable, Hashable {
    /// An attribute, or a relationship to one object.
    package var property: String
    /// As text, cut where it is long; nil where there is none. Another object is its key.
    package var old: String?
    package var new: String?

    package init(property: String, old: String? = nil, new: String? = nil) {
      self.property = property
      self.old = old
      self.new = new
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case property, old, new }
  }

  package var change: Change
  package var entity: String
  /// The values that identify it; nil where its entity has no key.
  package var key: String?
  /// Those that differ from an empty object, or from the stored one.
  package var values: [Value]

  package init(change: Change, entity: String, key: String? = nil, values: [Value]) {
    self.change = change
    self.entity = entity
    self.key = key
    self.values = values
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case change, entity, key, values }
}
