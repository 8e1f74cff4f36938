/// Why a fetch request can't be carried out as it is put together.
public enum FetchRequestError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Rows are grouped or an aggregate is asked for, and this column is neither grouped by nor an aggregate.
  case notGrouped(column: String)
  /// There is a having predicate, but nothing to group by.
  case havingWithoutGroups
  /// Dictionaries of groups or of distinct values can't be sorted by what isn't among their columns.
  case notAColumn(sortKey: String, columns: [String])
  /// Two columns have the same name.
  case columnTwice(String)
  /// The aggregate makes no sense of the values.
  case notAggregable(column: String, function: String, type: String)
  /// The column's values can't be had as that type.
  case resultType(column: String, type: AttributeType, wanted: AttributeType)
  /// The attribute is transient, so that no store has it.
  case notStored(entity: String, property: String)
  /// Objects are fetched with an expression among their properties.
  case expressionOfObjects(String)
  /// The context has no queue of its own to tell of the end of an asynchronous fetch.
  case noQueue
  /// An object's initializer read the store, or wrote to it, while a fetch was making the object of its row.
  case readWhileMaking

  /// What doesn't fit, and what to do.
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
