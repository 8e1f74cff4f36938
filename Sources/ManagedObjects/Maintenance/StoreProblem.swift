/// One thing that is wrong with what a store holds.
package struct StoreProblem: Error, Sendable, Hashable, Codable {
  /// What kind of thing it is.
  package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The file itself: a page that can't be right, an index that doesn't agree with its rows.
    case damage
    /// A row refers to one that isn't there.
    case reference
    /// What the store notes about itself doesn't fit what it holds.
    case metadata
    /// A table, column or index isn't there.
    case schema
    /// Two ends of a relationship say different things.
    case inverse
    /// An object's values aren't valid by its model.
    case validation
    /// Several objects have the same values in what is to be unique.
    case uniqueness
  }

  package var kind: Kind
  /// The entity, or the table, that it is in; nil for the file as a whole.
  package var entity: String?
  /// The row's number.
  package var number: Int64?
  /// The property, or the column.
  package var property: String?
  /// What is wrong, for people; in one line.
  package var message: String
  /// Whether it was put right.
  package var isRepaired: Bool?

  package init(
    _ kind: Kind, entity: String? = nil, number: Int64? = nil, property: String? = nil, message: String,
    isRepaired: Bool? = nil
  ) {
    self.kind = kind
    self.entity = entity
    self.number = number
    self.property = property
    self.message = message
    self.isRepaired = isRepaired
  }
}

extension StoreProblem: CustomStringConvertible {
  /// Where it is, and what is wrong.
  package var description: String {
    var place = entity ?? ""
    if let number { place += " \(number)" }
    if let property { place += ".\(property)" }
    return (place.isEmpty ? "" : place + ": ") + message
  }
}
