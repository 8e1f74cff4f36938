/// One row of a dictionary result: values by the names of what was fetched. It holds no object, and can be taken
/// anywhere.
///
/// Source: the dictionaries of `NSFetchRequestResultType.dictionaryResultType` of Core Data.
public struct FetchedDictionary: Sendable {
  /// Names that all rows of a result share.
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

  /// The names, in the order in which they were asked for.
  public var keys: [String] { columns.names }

  /// The value under a name, `.null` for nil; nil when the request didn't ask for such.
  public func value(forKey key: String) -> Value? { columns.places[key].map { values[$0] } }

  /// The value under a name; nil when there is none, or one of another type.
  public subscript<T: AttributeValue>(key: String) -> T? { value(forKey: key).flatMap { T(slotValue: $0) } }

  /// The object that a relationship's column, or `objectID`, stands for.
  public func objectID(forKey key: String) -> ManagedObjectID? {
    guard case .object(let id)? = value(forKey: key) else { return nil }
    return id
  }

  /// The values that aren't nil, by name.
  public var valuesByName: [String: Value] {
    Dictionary(uniqueKeysWithValues: zip(columns.names, values).filter { !$1.isNull })
  }
}

extension FetchedDictionary: Hashable {
  /// Whether both have the same values under the same names.
  public static func == (a: FetchedDictionary, b: FetchedDictionary) -> Bool {
    a.columns.names == b.columns.names && a.values == b.values
  }
  /// Hashes the values.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
