/// What the memory evaluator reads: an object, or a row of a store in memory.
package protocol PredicateSubject {
  /// The object's ID.
  var subjectID: ManagedObjectID { get }
  /// The value in a slot of the object's entity.
  func value(inSlot slot: Int) -> Value
  /// The object that a to-one relationship's slot points to, nil if it points nowhere.
  func subject(inSlot slot: Int) -> (any PredicateSubject)?
}

extension ResolvedPredicate {
  /// Whether the predicate holds for `subject`. Called on the queue that `subject` belongs to.
  package func evaluate(on subject: any PredicateSubject) -> Bool {
    switch self {
    case .constant(let holds): return holds
    case .and(let parts): return parts.allSatisfy { $0.evaluate(on: subject) }
    case .or(let parts): return parts.contains { $0.evaluate(on: subject) }
    case .not(let inner): return !inner.evaluate(on: subject)
    case .compare(let path, let relation, let operand, let options):
      return relation.holds(
        between: path.value(of: subject, options), and: operand.value(of: subject, options))
    case .isIn(let path, let list, let options): return list.contains(path.value(of: subject, options))
    case .text(let left, let operation, let right, let options):
      return operation.holds(of: left.value(of: subject, options), and: right.value(of: subject, options))
    case .like(let path, let pattern, let options):
      guard case .string(let text) = path.value(of: subject, options) else { return false }
      return pattern.matches(text)
    case .matches(let path, let expression):
      guard case .string(let text) = path.value(of: subject) else { return false }
      return expression.matches(text)
    }
  }
}

extension ResolvedOperand {
  /// A constant was folded when it was resolved; what a path reads is folded here.
  func value(of subject: any PredicateSubject, _ options: FetchPredicate.Options) -> Value {
    switch self {
    case .constant(let value): return value
    case .path(let path): return path.value(of: subject, options)
    }
  }
}

extension ResolvedPath {
  /// The value that the path leads to from `subject`: nil where a relationship on the way points nowhere.
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
    }
  }

  func value(of subject: any PredicateSubject, _ options: FetchPredicate.Options) -> Value {
    let value = value(of: subject)
    guard !options.isEmpty, case .string(let text) = value else { return value }
    return .string(options.folded(text))
  }
}

extension ResolvedPredicate.Relation {
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
