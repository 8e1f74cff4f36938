/// One row of a dictionary result: values by column name. It holds no object, so it may cross queues.
///
/// Source: the dictionaries of `NSFetchRequestResultType.dictionaryResultType` of Core Data.
public struct FetchedDictionary: Sendable {
  /// The column names, shared by all rows of a result.
  final class Columns: Sendable {
    let names: [String]
    let places: [String: Int]

    init(_ names: [String]) {
      self.names = names
      places = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }
  }

  private let columns: Columns
  private let values: ContiguousArray<Value>

  init(_ columns: Columns, _ values: ContiguousArray<Value>) {
    self.columns = columns
    self.values = values
  }

  /// The column names in the order of the request.
  public var keys: [String] { columns.names }

  /// The value of a column, `.null` for nil; nil if the request has no such column.
  public func value(forKey key: String) -> Value? { columns.places[key].map { values[$0] } }

  /// The value of a column; nil if it is missing or of another type.
  public subscript<T: AttributeValue>(key: String) -> T? { value(forKey: key).flatMap { T(slotValue: $0) } }

  /// The object ID in a relationship's column or in `objectID`.
  public func objectID(forKey key: String) -> ManagedObjectID? {
    guard case .object(let id)? = value(forKey: key) else { return nil }
    return id
  }

  /// The values that aren't nil, by column name.
  public var valuesByName: [String: Value] {
    Dictionary(uniqueKeysWithValues: zip(columns.names, values).filter { !$1.isNull })
  }
}

extension FetchedDictionary: Hashable {
  /// Whether both have the same values in the same columns.
  public static func == (a: FetchedDictionary, b: FetchedDictionary) -> Bool {
    a.columns.names == b.columns.names && a.values == b.values
  }
  /// Hashes the values.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
