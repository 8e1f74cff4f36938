extension Store {
  /// An attribute that a store keeps.
  package struct Attribute: Codable, Sendable, Hashable {
    package var name: String
    /// Its type in the model's words: `Integer 64`.
    package var type: String

    package init(name: String, type: String) {
      self.name = name
      self.type = type
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case name, type }
  }

  /// A relationship that a store keeps.
  package struct Relationship: Codable, Sendable, Hashable {
    package var name: String
    /// The entity that it leads to.
    package var entity: String
    package var isToMany: Bool
    /// The relationship that leads back; nil if there is none.
    package var inverse: String?

    package init(name: String, entity: String, isToMany: Bool = false, inverse: String? = nil) {
      self.name = name
      self.entity = entity
      self.isToMany = isToMany
      self.inverse = inverse
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case name, entity
      case isToMany = "to_many"
      case inverse
    }
  }
}
