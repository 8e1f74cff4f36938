/// Writes the predicates and expressions of a keyed archive in the format language.
///
/// ```
/// NSComparisonPredicate(NSKeyPathExpression(NSSelfExpression, "rating"), NSComparisonPredicateOperator(3), 4)  →  rating >= 4
/// ```
struct ArchivedPredicate {
  /// Why there is no text.
  enum Failure: Error {
    /// A part that the format language doesn't have, or that isn't known here.
    case unknown(String)
    case tooLarge
    /// The archive can't be read any further.
    case damage(ArchiveDamage)
  }

  private static let depthLimit = 64
  private static let partLimit = 10_000
  private static let textLimit = 64 << 10

  let archive: KeyedArchive
  /// Parts that may still be written: an archive may refer to one part many times.
  private var parts = Self.partLimit
  /// The bytes that their names and constants may still have.
  private var textLeft = Self.textLimit

  init(_ archive: KeyedArchive) { self.archive = archive }

  /// A predicate's text.
  mutating func predicate(_ object: KeyedArchive.Coded) throws(Failure) -> String {
    try predicate(object, depth: 0, isPart: false)
  }

  /// A derived attribute's expression, as model files have it: `orders.@count`, `canonical:(name)`.
  mutating func derivation(_ object: KeyedArchive.Coded) throws(Failure) -> String {
    guard object.className == "NSFunctionExpression", let name = try text("NSSelectorName", of: object) else {
      return try expression(object, depth: 0)
    }
    let arguments = try objects("NSArguments", of: object)
    guard let first = arguments.first else { return name.hasSuffix("()") ? name : "\(name.filter { $0 != ":" })()" }
    guard arguments.count == 1 else { throw .unknown("the function \(name) of several values") }
    let path = try expression(first, depth: 1)
    switch name {
    case "count:": return path.hasSuffix(".@count") ? path : path + ".@count"
    case "sum:":
      if path.contains("@sum") { return path }
      guard let dot = path.lastIndex(of: ".") else { return path + ".@sum" }
      return path[..<dot] + ".@sum" + path[dot...]
    default: return "\(name)(\(path))"
    }
  }

  private mutating func predicate(
    _ object: KeyedArchive.Coded, depth: Int, isPart: Bool
  ) throws(Failure) -> String {
    try enter(depth)
    switch object.className {
    case "NSTruePredicate": return "TRUEPREDICATE"
    case "NSFalsePredicate": return "FALSEPREDICATE"
    case "NSComparisonPredicate": return try comparison(object, depth: depth)
    case "NSCompoundPredicate":
      var inner: [String] = []
      for part in try objects("NSSubpredicates", of: object) {
        inner.append(try predicate(part, depth: depth + 1, isPart: true))
      }
      switch try integer("NSCompoundPredicateType", of: object) {
      case 0:
        guard inner.count == 1 else { throw .unknown("a NOT of \(inner.count) predicates") }
        return "NOT (\(inner[0]))"
      case 1: return join(inner, " AND ", none: "TRUEPREDICATE", isPart)
      case 2: return join(inner, " OR ", none: "FALSEPREDICATE", isPart)
      default: throw .unknown("a compound predicate of an unknown type")
      }
    default: throw .unknown("a predicate of the class \(object.className)")
    }
  }

  private func join(_ parts: [String], _ word: String, none: String, _ isPart: Bool) -> String {
    if parts.isEmpty { return none }
    let text = parts.joined(separator: word)
    return isPart && parts.count > 1 ? "(\(text))" : text
  }

  /// The words for `NSPredicateOperator.Type`.
  private static let words: [Int64: String] = [
    0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
    10: "IN", 99: "CONTAINS", 100: "BETWEEN",
  ]

  private mutating func comparison(_ object: KeyedArchive.Coded, depth: Int) throws(Failure) -> String {
    guard let left = try self.object("NSLeftExpression", of: object),
      let right = try self.object("NSRightExpression", of: object),
      let operation = try self.object("NSPredicateOperator", of: object),
      let type = try integer("NSOperatorType", of: operation), var word = Self.words[type]
    else { throw .unknown("a comparison without its sides, or of an unknown operator") }
    if type == 4, try flag("NSNegate", of: operation) { word = "!=" }
    // Each kind of operator has a name of its own for its options.
    let options = try integer("NSOptions", "NSFlags", of: operation) ?? 0
    let letters = [(1, "c"), (2, "d"), (4, "n"), (8, "l")].filter { options & $0.0 != 0 }.map(\.1).joined()
    if !letters.isEmpty { word += "[\(letters)]" }
    let modifier: String
    switch try integer("NSModifier", of: operation) ?? 0 {
    case 0: modifier = ""
    case 1: modifier = "ALL "
    case 2: modifier = "ANY "
    default: throw .unknown("a comparison with an unknown modifier")
    }
    return try modifier + expression(left, depth: depth + 1) + " \(word) " + expression(right, depth: depth + 1)
  }

  private mutating func expression(_ object: KeyedArchive.Coded, depth: Int) throws(Failure) -> String {
    try enter(depth)
    switch object.className {
    case "NSSelfExpression": return "SELF"
    case "NSVariableExpression":
      guard let name = try text("NSVariable", of: object) else { throw .unknown("a variable without a name") }
      return "$" + name
    case "NSConstantValueExpression": return try constant(object)
    case "NSKeyPathSpecifierExpression":
      guard let path = try text("NSKeyPath", of: object) else { throw .unknown("a key path without names") }
      return path
    case "NSKeyPathExpression":
      guard let base = try self.object("NSOperand", of: object),
        let path = try objects("NSArguments", of: object).first
      else { throw .unknown("a key path without names") }
      let names = try expression(path, depth: depth + 1)
      return base.className == "NSSelfExpression" ? names : try expression(base, depth: depth + 1) + "." + names
    case "NSAggregateExpression":
      return "{" + (try list(objects("NSCollection", of: object), depth: depth)) + "}"
    case "NSFunctionExpression":
      guard let name = try text("NSSelectorName", of: object), let base = try self.object("NSOperand", of: object)
      else { throw .unknown("a function without a name") }
      let arguments = try objects("NSArguments", of: object)
      // Foundation's own functions belong to one class.
      if try text("NSConstantValueClassName", of: base) == "_NSPredicateUtilities" {
        return try "\(name)(" + list(arguments, depth: depth) + ")"
      }
      let target = try expression(base, depth: depth + 1)
      let rest = arguments.isEmpty ? "" : try ", " + list(arguments, depth: depth)
      return "FUNCTION(\(target), '\(name)'\(rest))"
    case "NSSubqueryExpression":
      guard
        let collection = try self.object("NSCollection", "NSSubqueryCollection", of: object),
        let inner = try self.object("NSPredicate", "NSSubpredicate", of: object)
      else { throw .unknown("a subquery without its parts") }
      let variable: String
      if let name = try text("NSVariable", of: object) {
        variable = "$" + name
      } else if let name = try self.object("NSVariable", "NSVariableExpression", of: object) {
        variable = try expression(name, depth: depth + 1)
      } else {
        throw .unknown("a subquery without a variable")
      }
      return try "SUBQUERY(" + expression(collection, depth: depth + 1) + ", \(variable), "
        + predicate(inner, depth: depth + 1, isPart: false) + ")"
    default: throw .unknown("an expression of the class \(object.className)")
    }
  }

  private mutating func list(_ elements: [KeyedArchive.Coded], depth: Int) throws(Failure) -> String {
    var texts: [String] = []
    for element in elements { texts.append(try expression(element, depth: depth + 1)) }
    return texts.joined(separator: ", ")
  }

  private mutating func constant(_ object: KeyedArchive.Coded) throws(Failure) -> String {
    let item = try get { () throws(ArchiveDamage) in try archive.item("NSConstantValue", of: object) }
    switch item {
    case .null: return "NULL"
    case .bool(let flag): return flag ? "TRUE" : "FALSE"
    case .integer(let number): return "\(number)"
    case .real(let number) where number.isFinite: return "\(number)"
    case .real: throw .unknown("a constant that isn't a number")
    case .string(let text): return try quoted(text)
    case .date, .data: throw .unknown("a constant date or data")
    case .coded(let coded):
      guard let text = try get({ () throws(ArchiveDamage) in try archive.text(item) }) else {
        throw .unknown("a constant of the class \(coded.className)")
      }
      return try quoted(text)
    }
  }

  private mutating func quoted(_ text: String) throws(Failure) -> String {
    try spend(text)
    return FetchPredicate.Expression.constant(.string(text)).description
  }

  private mutating func enter(_ depth: Int) throws(Failure) {
    parts -= 1
    guard depth < Self.depthLimit, parts > 0 else { throw .tooLarge }
  }

  private mutating func spend(_ text: String) throws(Failure) {
    textLeft -= text.utf8.count
    guard textLeft >= 0 else { throw .tooLarge }
  }

  // MARK: Fields

  private func get<Found>(_ read: () throws(ArchiveDamage) -> Found) throws(Failure) -> Found {
    do throws(ArchiveDamage) { return try read() } catch { throw .damage(error) }
  }

  private mutating func text(_ name: String, of object: KeyedArchive.Coded) throws(Failure) -> String? {
    let text = try get { () throws(ArchiveDamage) in try archive.text(name, of: object) }
    if let text { try spend(text) }
    return text
  }

  /// The number in the first of these fields that has one.
  private func integer(_ names: String..., of object: KeyedArchive.Coded) throws(Failure) -> Int64? {
    for name in names {
      if let found = try get({ () throws(ArchiveDamage) in try archive.integer(name, of: object) }) { return found }
    }
    return nil
  }

  private func flag(_ name: String, of object: KeyedArchive.Coded) throws(Failure) -> Bool {
    try get { () throws(ArchiveDamage) in try archive.flag(name, of: object) }
  }

  /// The object in the first of these fields that has one.
  private func object(_ names: String..., of object: KeyedArchive.Coded) throws(Failure) -> KeyedArchive.Coded? {
    for name in names {
      if let found = try get({ () throws(ArchiveDamage) in try archive.object(name, of: object) }) { return found }
    }
    return nil
  }

  private func objects(_ name: String, of object: KeyedArchive.Coded) throws(Failure) -> [KeyedArchive.Coded] {
    try get { () throws(ArchiveDamage) in try archive.elements(name, of: object) }.compactMap { item in
      guard case .coded(let found) = item else { return nil }
      return found
    }
  }
}
