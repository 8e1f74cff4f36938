/// Why a fetch request can't be executed as it stands.
public enum FetchRequestError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The request groups or aggregates, and this column is neither grouped by nor an aggregate.
  case notGrouped(column: String)
  /// There is a `havingPredicate`, but nothing to group by.
  case havingWithoutGroups
  /// Groups and distinct rows can only be sorted by their columns.
  case notAColumn(sortKey: String, columns: [String])
  /// Two columns have the same name.
  case columnTwice(String)
  /// The aggregate doesn't apply to values of this type.
  case notAggregable(column: String, function: String, type: String)
  /// The column's values don't convert to that type.
  case resultType(column: String, type: AttributeType, wanted: AttributeType)
  /// The attribute is transient, so no store keeps it.
  case notStored(entity: String, property: String)
  /// A fetch of objects has an expression among its properties.
  case expressionOfObjects(String)
  /// The context has no queue on which an asynchronous fetch could complete.
  case noQueue
  /// An object's initializer used the store while a fetch was creating the object.
  case readWhileMaking

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .notGrouped(let column):
      return "the column \(column) is neither in propertiesToGroupBy nor an aggregate: add it there or leave it out"
    case .havingWithoutGroups: return "havingPredicate chooses among groups: name some in propertiesToGroupBy"
    case .notAColumn(let key, let columns):
      return "groups and distinct values can be sorted by their columns, not by \(key): "
        + columns.joined(separator: ", ")
    case .columnTwice(let name): return "two of propertiesToFetch are called \(name)"
    case .notAggregable(let column, let function, let type):
      return "the column \(column) can't be the \(function) of values of type \(type)"
    case .resultType(let column, let type, let wanted):
      return "the values of the column \(column) are of type \(type.rawValue), and can't be had as \(wanted.rawValue)"
    case .notStored(let entity, let property):
      return "\(entity).\(property) is transient: fetch objects and read it from them"
    case .expressionOfObjects(let name):
      return "\(name) is an expression, which objects don't have: use fetchDictionaries"
    case .noQueue: return "an asynchronous fetch needs a context with a queue, of its own or the main one"
    case .readWhileMaking:
      return "a fetch is reading the store while an object's initializer runs: read related objects in awakeFromFetch()"
    }
  }
}
