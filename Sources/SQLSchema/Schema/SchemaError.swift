/// Why a model can't be stored in tables.
public enum SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Attributes of a type that has no column: undefined ones that aren't transient, and composites without elements.
  case unsupportedAttribute(entity: String, attribute: String, type: String)
  /// A table would have more columns than the database allows.
  case tooManyColumns(table: String, count: Int, limit: Int, database: String)

  /// What can't be stored, and what to do.
  public var description: String {
    switch self {
    case .unsupportedAttribute(let entity, let attribute, let type):
      return
        "\(entity).\(attribute) is \(type), which has no column in a table: give it another type or make it transient"
    case .tooManyColumns(let table, let count, let limit, let database):
      return
        "\(table) would be a table of \(count) columns, and \(database)'s have at most \(limit): leave attributes out of "
        + "the model, or move some to an entity of their own"
    }
  }
}
