/// Who may use a generated class: `accessLevel` in the entity's `userInfo`, `public` unless it says otherwise, as Xcode
/// generates them.
enum AccessLevel: String, Comparable, CaseIterable {
  case `internal`
  case package
  case `public`

  /// What stands in front of a declaration.
  var prefix: String { self == .internal ? "" : rawValue + " " }

  static func < (a: AccessLevel, b: AccessLevel) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .internal: return 0
    case .package: return 1
    case .public: return 2
    }
  }
}
