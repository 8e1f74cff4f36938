/// A key path to order fetched objects by.
///
/// Nil sorts before every value in ascending order and after it in descending order. Strings sort by their UTF-8 bytes.
/// Every store sorts this way. Source: Core Data's `NSSortDescriptor`; the name avoids Foundation's `SortDescriptor`.
public struct FetchSortDescriptor: Sendable, Hashable {
  /// How two values are compared.
  public enum Comparison: Sendable, Hashable {
    /// By value; strings by their bytes.
    case natural
    /// Strings without regard to case.
    case caseInsensitive
  }

  /// A dotted path over to-one relationships to an attribute; `objectID` for the object itself.
  public var keyPath: String
  /// Whether the order is ascending.
  public var ascending: Bool
  /// How two values are compared.
  public var comparison: Comparison

  /// Orders by the values at `keyPath`.
  public init(_ keyPath: String, ascending: Bool = true, comparison: Comparison = .natural) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.comparison = comparison
  }

  /// Binds the descriptor to `entity`.
  /// - Throws: ``FetchPredicateError`` when the key path is unknown or ends at values without an order.
  package func resolved(in entity: EntityDescription) throws(FetchPredicateError) -> ResolvedSort {
    var names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.first?.uppercased() == "SELF", entity.propertiesByName[names[0]] == nil { names.removeFirst() }
    let path = try ResolvedPath(names, in: entity)
    guard path.kind.isOrdered || path.isSelf else {
      throw .notComparable(property: path.name, type: path.typeName, operation: "sorting")
    }
    guard comparison == .natural || path.kind == .string else {
      throw .notComparable(property: path.name, type: path.typeName, operation: "sorting without regard to case")
    }
    return ResolvedSort(path: path, ascending: ascending, options: comparison == .natural ? [] : .caseInsensitive)
  }
}
