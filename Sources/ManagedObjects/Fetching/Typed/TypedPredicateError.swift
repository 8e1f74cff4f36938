/// Why a `#Predicate` or key path of Swift can't be asked of a store.
public enum TypedPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key path doesn't lead to properties: it is of no managed object's class, computed from several, or of a class
  /// that doesn't name its slots.
  case noProperty(String)
  /// A part of the predicate that no store can answer.
  case unsupported(String)
  /// A value of a type that no property has.
  case value(type: String)

  /// What can't be asked, and what to do.
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
