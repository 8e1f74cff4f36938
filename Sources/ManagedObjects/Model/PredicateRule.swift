/// A validation predicate of an attribute, bound to the attribute's type.
struct PredicateRule: Sendable {
  let attribute: AttributeDescription
  let definition: ValidationPredicate
  private let predicate: ResolvedPredicate
  /// The value as an entity's only attribute. Kept, because the predicate refers to it unowned.
  private let subject: EntityDescription

  /// - Throws: ``PredicateFormatError`` or ``FetchPredicateError`` when the predicate can't be evaluated for the attribute.
  init(_ definition: ValidationPredicate, of attribute: AttributeDescription) throws {
    self.attribute = attribute
    self.definition = definition
    subject = .ofColumns("\(attribute.entity.name).\(attribute.name)", [AttributeDefinition("value", attribute.type)])
    let value = FetchPredicate.Expression.keyPath(["value"])
    predicate = try FetchPredicate(format: definition.predicateFormat).replacingLeaves {
      leaf throws(FetchPredicateError) in
      switch leaf {
      case .evaluatedObject: return value
      case .keyPath(["length"]): return .function(.length, [value])
      case .keyPath(let path):
        throw .unsupported(
          part: path.joined(separator: "."), hint: "a validation predicate knows the value only, as SELF and its length"
        )
      default: return nil
      }
    }.resolved(in: subject)
  }

  /// Whether a value may be saved; nil may, as far as this rule is concerned.
  func permits(_ value: Value) -> Bool { value.isNull || predicate.evaluate(on: OutputRow(values: [value])) }
}
