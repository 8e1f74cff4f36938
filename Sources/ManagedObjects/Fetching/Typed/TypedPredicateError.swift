/// Why a `#Predicate` or a Swift key path can't be evaluated by a store.
public enum TypedPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key path isn't a path of properties: it belongs to no managed object class, to a class that doesn't name its slots,
  /// or is computed from several properties.
  case noProperty(String)
  /// A part of the predicate that no store can evaluate.
  case unsupported(String)
  /// A value of a type that no property has.
  case value(type: String)

  /// What is refused, and what to do instead.
  public var description: String {
    switch self {
    case .noProperty(let path):
      return
        "\(path) isn't a stored property of a managed object's class: override propertyNames, or name it in "
        + "keyPathNames; for a class with generated accessors make its model first"
    case .unsupported(let part): return "\(part) can't be asked of a store: fetch with the rest and look at the objects"
    case .value(let type): return "a \(type) can't be compared with any property"
    }
  }
}
