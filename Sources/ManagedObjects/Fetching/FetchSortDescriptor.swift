/// A key path to order fetched objects by.
///
/// Nil sorts before every value in ascending order and after it in descending order. Strings sort by their UTF-8 bytes,
/// which an index provides, or as a ``Comparison`` says. Every store, a context with unsaved changes and a fetched results
/// controller sort the same way. Source: Core Data's `NSSortDescriptor`; the name avoids Foundation's `SortDescriptor`.
public struct FetchSortDescriptor: Sendable, Hashable {
  /// How two values are compared; the raw value is the selector that Core Data takes for it in SQL stores.
  ///
  /// The localized comparisons use the Unicode Collation Algorithm with CLDR's root rules, which suit English, French, German
  /// and most languages in their own script. They are the same in every process, whatever its locale; Core Data's depend on
  /// the user's. No index helps them.
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// By value; strings by their bytes.
    case natural = "compare:"
    /// Strings without regard to case, by the bytes of the folded strings.
    case caseInsensitive = "caseInsensitiveCompare:"
    /// Strings as words are ordered: "apple", "Äpfel", "Zebra".
    case localized = "localizedCompare:"
    /// As ``localized``, without regard to case.
    case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
    /// As a file manager lists names: as ``localized``, with digits as numbers, "file 2" before "file 10".
    case localizedStandard = "localizedStandardCompare:"

    /// The comparison that a selector names, with or without its colon.
    /// - Throws: ``FetchPredicateError/unsupported(part:hint:)`` with a selector that no store can honour.
    public init(selector: String) throws(FetchPredicateError) {
      guard let known = Self(rawValue: selector) ?? Self(rawValue: selector + ":") else {
        throw .unsupported(
          part: "sorting by \(selector)",
          hint: "stores sort by " + Self.allCases.map(\.rawValue).joined(separator: ", ")
            + "; sort the fetched objects by anything else")
      }
      self = known
    }

    /// The order of text, for the localized comparisons.
    package var collation: TextCollation? {
      switch self {
      case .natural, .caseInsensitive: return nil
      case .localized: return .localized
      case .localizedCaseInsensitive: return .localizedCaseInsensitive
      case .localizedStandard: return .localizedStandard
      }
    }

    /// Its name in messages.
    fileprivate var operation: String {
      switch self {
      case .natural: return "sorting"
      case .caseInsensitive: return "sorting without regard to case"
      case .localized, .localizedCaseInsensitive, .localizedStandard: return "localized sorting"
      }
    }
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

  /// Orders by the values at `keyPath`, compared as Core Data's selector says: `"localizedStandardCompare:"`.
  ///
  /// Source: `init(key:ascending:selector:)` of Core Data's `NSSortDescriptor`.
  /// - Throws: ``FetchPredicateError/unsupported(part:hint:)`` with a selector that no store can honour.
  public init(key keyPath: String, ascending: Bool, selector: String) throws(FetchPredicateError) {
    self.init(keyPath, ascending: ascending, comparison: try Comparison(selector: selector))
  }

  /// The descriptor of the opposite order. Source: `reversedSortDescriptor` of Core Data's `NSSortDescriptor`.
  public var reversed: FetchSortDescriptor {
    FetchSortDescriptor(keyPath, ascending: !ascending, comparison: comparison)
  }

  /// Binds the descriptor to `entity`.
  /// - Throws: ``FetchPredicateError`` when the key path is unknown or ends at values without an order.
  package func resolved(in entity: EntityDescription) throws(FetchPredicateError) -> ResolvedSort {
    var names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.first?.uppercased() == "SELF", entity.propertiesByName[names[0]] == nil { names.removeFirst() }
    let path = try ResolvedPath(names, in: entity)
    guard path.kind.isOrdered || path.isSelf, comparison == .natural || path.kind == .string else {
      throw .notComparable(property: path.name, type: path.typeName, operation: comparison.operation)
    }
    if let collation = comparison.collation, !collation.isAvailable {
      throw .unsupported(part: "localized sorting", hint: "this system's Foundation has no collation rules")
    }
    return ResolvedSort(path: path, ascending: ascending, comparison: comparison)
  }
}
