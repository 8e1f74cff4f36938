/// An expression of a mapping model, as far as a mapping can hold it.
struct MappingExpression {
  private let archive: KeyedArchive

  init(_ archive: KeyedArchive) { self.archive = archive }

  /// Whether the source's objects are fetched without a condition.
  func takesAll(_ expression: KeyedArchive.Coded) throws(ArchiveDamage) -> Bool {
    guard let request = try archive.object("NSFRExpression", of: expression),
      try archive.text("NSSelectorName", of: request) == "fetchRequestForSourceEntityNamed:predicateString:",
      let condition = try archive.elements("NSArguments", of: request).last, case .coded(let constant) = condition
    else { return false }
    return try archive.text("NSConstantValue", of: constant) == "TRUEPREDICATE"
  }

  /// Functions of the migration manager that give what objects were converted to: by a mapping, or by the one mapping that
  /// follows from the relationship.
  private static let conversions: Set<String> = [
    "destinationInstancesForEntityMappingNamed:sourceInstances:",
    "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
  ]

  /// `$source.name`; a constant; or, for a relationship, what the objects of `$source.name` were converted to.
  /// - Parameter type: the type of the attribute that gets the value; nil for a relationship.
  func source(
    _ expression: KeyedArchive.Coded, _ type: AttributeType?
  ) throws(ArchiveDamage) -> PropertyMapping.Source? {
    switch expression.className {
    case "NSKeyPathExpression": return try sourceProperty(expression).map { .property($0) }
    case "NSConstantValueExpression":
      let item = try archive.item("NSConstantValue", of: expression)
      return try type.flatMap { type throws(ArchiveDamage) in try archive.value(item, type) }.map { .value($0) }
    case "NSFunctionExpression":
      guard let selector = try archive.text("NSSelectorName", of: expression), Self.conversions.contains(selector),
        let last = try archive.elements("NSArguments", of: expression).last, case .coded(let path) = last
      else { return nil }
      return try sourceProperty(path).map { .property($0) }
    default: return nil
    }
  }

  /// The name after `$source.`.
  private func sourceProperty(_ expression: KeyedArchive.Coded) throws(ArchiveDamage) -> String? {
    guard expression.className == "NSKeyPathExpression",
      let base = try archive.object("NSOperand", of: expression),
      try archive.text("NSVariable", of: base) == "source",
      let first = try archive.elements("NSArguments", of: expression).first, case .coded(let path) = first,
      let name = try archive.text("NSKeyPath", of: path), !name.contains(".")
    else { return nil }
    return name
  }
}
