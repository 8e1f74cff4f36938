/// The subject of the in-memory evaluator: an object, or a row of an in-memory store.
package protocol PredicateSubject {
  /// The object's ID.
  var subjectID: ManagedObjectID { get }
  /// The value in a slot of the object's entity.
  func value(inSlot slot: Int) -> Value
  /// The object of a to-one relationship, nil if it is empty.
  func subject(inSlot slot: Int) -> (any PredicateSubject)?
  /// The distinct objects of a to-many relationship, in order if it is ordered.
  func subjects(inSlot slot: Int) -> [any PredicateSubject]
  /// The value at a path.
  func value(at path: ResolvedPath) -> Value
}

extension PredicateSubject {
  package func value(at path: ResolvedPath) -> Value { path.value(of: self) }
}

/// The objects that paths start at during evaluation; see ``ResolvedPath/origin``.
struct PredicateScope {
  /// The evaluated object.
  let root: any PredicateSubject
  /// The current object of each enclosing collection, outermost first.
  private(set) var elements: [any PredicateSubject] = []

  init(_ root: any PredicateSubject) { self.root = root }

  subscript(_ origin: Int) -> any PredicateSubject { origin == 0 ? root : elements[origin - 1] }

  /// The scope inside the collection with that number, at `element`.
  func with(_ element: any PredicateSubject, _ number: Int) -> PredicateScope {
    var inner = self
    inner.elements.removeSubrange((number - 1)...)
    inner.elements.append(element)
    return inner
  }
}

extension ResolvedCollection {
  /// The objects.
  func subjects(in scope: PredicateScope) -> [any PredicateSubject] {
    if Interruption.isRequested { return [] }
    var first = scope[origin]
    for step in start {
      guard let next = first.subject(inSlot: step.slot) else { return [] }
      first = next
    }
    var found = [first]
    var isFirst = true
    for link in links {
      switch link {
      case .filter(let predicate):
        found = found.filter { !Interruption.isRequested && predicate.evaluate(in: scope.with($0, number)) }
      case .step(let relationship):
        found = found.flatMap { subject in
          relationship.isToMany
            ? subject.subjects(inSlot: relationship.slot)
            : subject.subject(inSlot: relationship.slot).map { [$0] } ?? []
        }
        if !isFirst {
          var known: Set<ManagedObjectID> = []
          found = found.filter { known.insert($0.subjectID).inserted }
        }
        isFirst = false
      }
    }
    return found
  }
}

extension ResolvedExpression {
  /// The value for `subject`. Call on the subject's queue.
  package func value(of subject: any PredicateSubject) -> Value { value(in: PredicateScope(subject)) }

  func value(in scope: PredicateScope) -> Value {
    switch self {
    case .constant(let value): return value
    case .path(let path): return scope[path.origin].value(at: path)
    case .call(let function, let arguments): return function.value(of: arguments.map { $0.value(in: scope) })
    case .cast(let inner, let type): return type.value(of: inner.value(in: scope))
    case .conditional(let predicate, let first, let second):
      return predicate.evaluate(in: scope) ? first.value(in: scope) : second.value(in: scope)
    case .element(let collection, let index, let value):
      guard let subject = index.element(of: collection.subjects(in: scope)) else { return .null }
      return value.value(in: scope.with(subject, collection.number))
    case .aggregate(let function, let collection, let value):
      let subjects = collection.subjects(in: scope)
      guard let value else { return .int(Int64(subjects.count)) }
      let values = subjects.map { value.value(in: scope.with($0, collection.number)) }
      return Aggregation.value(function, of: collection.isDistinct ? Aggregation.distinct(values) : values)
    }
  }

  /// The value as it is compared: strings are folded by the options. Constants were folded on resolving.
  func value(in scope: PredicateScope, _ options: FetchPredicate.Options) -> Value {
    let value = value(in: scope)
    guard !options.isEmpty, case .string(let text) = value else { return value }
    if case .constant = self { return value }
    return .string(options.folded(text))
  }
}
