/// Why a model can't be stored in SQLite's tables.
public enum SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Attributes of a type that has no column: undefined ones that aren't transient, and composites without elements.
  case unsupportedAttribute(entity: String, attribute: String, type: String)

  /// What can't be stored, and what to do.
  public var description: String {
    switch self {
    case .unsupportedAttribute(let entity, let attribute, let type):
      return
        "\(entity).\(attribute) is \(type), which has no column in SQLite: give it another type or make it transient"
    }
  }
}
