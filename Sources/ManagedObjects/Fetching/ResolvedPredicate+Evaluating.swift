extension ResolvedPredicate {
  /// Whether the predicate is true for `subject`. Call on the subject's queue. The result means nothing once an
  /// ``Interruption`` was requested on this thread.
  package func evaluate(on subject: any PredicateSubject) -> Bool { evaluate(in: PredicateScope(subject)) }

  func evaluate(in scope: PredicateScope) -> Bool {
    switch self {
    case .constant(let holds): return holds
    case .and(let parts): return parts.allSatisfy { $0.evaluate(in: scope) }
    case .or(let parts): return parts.contains { $0.evaluate(in: scope) }
    case .not(let inner): return !inner.evaluate(in: scope)
    case .compare(let left, let relation, let right, let options):
      if options.contains(.localeSensitive) {
        return relation.holds(between: left.value(in: scope), and: right.value(in: scope), options)
      }
      return relation.holds(between: left.value(in: scope, options), and: right.value(in: scope, options))
    case .isIn(let left, let list, let options): return list.contains(left.value(in: scope, options))
    case .text(let left, let operation, let right, let options):
      let (text, part) = (left.value(in: scope, options), right.value(in: scope, options))
      return !text.isInterrupted && operation.holds(of: text, and: part)
    case .like(let left, let pattern, let options):
      let value = left.value(in: scope, options)
      guard case .string(let text) = value, !value.isInterrupted else { return false }
      return pattern.matches(text)
    case .matches(let left, let expression):
      guard case .string(let text) = left.value(in: scope) else { return false }
      return expression.matches(text)
    case .exists(let collection, let predicate):
      return collection.subjects(in: scope).contains { predicate.evaluate(in: scope.with($0, collection.number)) }
    }
  }
}

extension Value {
  /// Texts shorter than this are matched in microseconds, so it isn't asked before each whether to end.
  private static var longText: Int { 1 << 12 }

  /// Whether it is a long text, and the work that looks at it is to end.
  fileprivate var isInterrupted: Bool {
    guard case .string(let text) = self, text.utf8.count >= Self.longText else { return false }
    return Interruption.isRequested
  }
}

extension ResolvedPath {
  /// The value at the path from `subject`, nil if a relationship on the path is empty.
  package func value(of subject: any PredicateSubject) -> Value {
    var subject = subject
    for step in steps {
      guard let next = subject.subject(inSlot: step.slot) else { return .null }
      subject = next
    }
    switch end {
    case .attribute(let attribute): return subject.value(inSlot: attribute.slot)
    case .relationship(let relationship): return subject.value(inSlot: relationship.slot)
    case .objectID: return .object(subject.subjectID)
    case .entityName: return .string(subject.subjectID.entity.name)
    // Read through its elements.
    case .composite: return .null
    }
  }
}

extension ResolvedPredicate.Relation {
  /// Compares strings by the current locale, and other values as without the option.
  func holds(between a: Value, and b: Value, _ options: FetchPredicate.Options) -> Bool {
    guard case .string(let first) = a, case .string(let second) = b else { return holds(between: a, and: b) }
    let order = options.localizedOrder(first, second)
    switch self {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    case .greaterOrEqual: return order >= 0
    }
  }

  func holds(between a: Value, and b: Value) -> Bool {
    switch self {
    case .equal: return a.isEqualForPredicates(to: b)
    case .notEqual: return !a.isEqualForPredicates(to: b)
    case .less: return a.order(to: b).map { $0 < 0 } ?? false
    case .lessOrEqual: return a.order(to: b).map { $0 <= 0 } ?? false
    case .greater: return a.order(to: b).map { $0 > 0 } ?? false
    case .greaterOrEqual: return a.order(to: b).map { $0 >= 0 } ?? false
    }
  }
}

extension ResolvedPredicate.TextOperator {
  func holds(of a: Value, and b: Value) -> Bool {
    guard case .string(let text) = a, case .string(let part) = b else { return false }
    switch self {
    case .beginsWith: return UTF8Order.hasPrefix(text, part)
    case .endsWith: return UTF8Order.hasSuffix(text, part)
    case .contains: return UTF8Order.contains(text, part)
    }
  }
}
