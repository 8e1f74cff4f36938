/// A parsed derivation expression.
struct DerivationText {
  /// The kind of derivation.
  enum Part: Equatable {
    case now
    case path([String])
    case count([String])
    case sum([String], of: [String])
  }

  let part: Part
  let transform: Derivation.Transform?

  /// The supported forms, for messages.
  static let notation =
    "now(), a key path, canonical:(…), lowercase:(…) or uppercase:(…) of one, relationship.@count or "
    + "relationship.@sum.attribute"

  /// nil if the text is none of these.
  init?(_ text: String) {
    let text = text.filter { !$0.isWhitespace }
    guard text != "now()", text != "now:()" else {
      (part, transform) = (.now, nil)
      return
    }
    for transform in Derivation.Transform.allCases {
      for start in [transform.rawValue + ":(", transform.rawValue + "("]
      where text.hasPrefix(start) && text.hasSuffix(")") {
        guard let path = Self.names(String(text.dropFirst(start.count).dropLast())) else { return nil }
        (part, self.transform) = (.path(path), transform)
        return
      }
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let place = parts.firstIndex(where: { $0.hasPrefix("@") }) else {
      guard let path = Self.names(text) else { return nil }
      (part, transform) = (.path(path), nil)
      return
    }
    let (before, after) = (Array(parts[..<place]), Array(parts[(place + 1)...]))
    guard Self.areNames(before + after), !before.isEmpty else { return nil }
    switch (parts[place], after.isEmpty) {
    case ("@count", true): part = .count(before)
    case ("@sum", false): part = .sum(before, of: after)
    case ("@sum", true) where before.count > 1: part = .sum([before[0]], of: Array(before.dropFirst()))
    default: return nil
    }
    transform = nil
  }

  private static func names(_ path: String) -> [String]? {
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return areNames(names) ? names : nil
  }

  private static func areNames(_ names: [String]) -> Bool {
    names.allSatisfy { name in
      guard let first = name.first, first.isLetter || first == "_" else { return false }
      return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
  }
}
