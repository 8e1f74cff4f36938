/// A problem with a store's content.
public struct StoreProblem: Error, Sendable, Hashable, Codable {
  /// What kind of problem it is.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The file itself: an impossible block, an index that doesn't agree with its rows.
    case damage
    /// A row refers to one that doesn't exist.
    case reference
    /// The metadata doesn't fit the content.
    case metadata
    /// A table, column or index is missing.
    case schema
    /// The two ends of a relationship disagree.
    case inverse
    /// An object's values aren't valid by its model.
    case validation
    /// Several objects have the same values in a uniqueness constraint.
    case uniqueness
  }

  /// What kind of problem it is.
  public var kind: Kind
  /// The entity, or the table; nil for the file as a whole.
  public var entity: String?
  /// The row's number.
  public var number: Int64?
  /// The property, or the column.
  public var property: String?
  /// What is wrong, for people, in one line.
  public var message: String
  /// Whether it was repaired.
  public var isRepaired: Bool?

  /// A problem.
  public init(
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
  public var description: String {
    var place = entity ?? ""
    if let number { place += " \(number)" }
    if let property { place += ".\(property)" }
    return (place.isEmpty ? "" : place + ": ") + message
  }
}
