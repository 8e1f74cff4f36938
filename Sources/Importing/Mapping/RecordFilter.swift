import ManagedObjects

/// The records that a recipe wants: a predicate over what a record says, evaluated on its row before it becomes an object.
///
/// The store isn't read. So a filter can use the attributes, as given by the record and the recipe's constants and defaults,
/// and for a to-one relationship its key or whether it is empty; anything else is refused. Where a record doesn't mention an
/// attribute, the filter sees the value of a new object, even if the record will update one.
final class RecordFilter: Sendable {
  private let predicate: ResolvedPredicate
  private let entity: EntityDescription
  /// The slots of the attributes and relationships that it reads.
  private let slots: Set<Int>

  /// - Throws: ``MappingError/badFilter(entity:filter:reason:)``.
  init(_ text: String, of entity: EntityDescription, _ options: MappingOptions) throws(MappingError) {
    self.entity = entity
    do throws(FilterProblem) {
      predicate = try Self.resolved(text, entity)
      var check = FilterCheck(entity: entity, options: options)
      try check.check(predicate)
      slots = check.slots
    } catch {
      throw .badFilter(entity: entity.name, filter: text, reason: error.reason)
    }
  }

  private static func resolved(_ text: String, _ entity: EntityDescription) throws(FilterProblem) -> ResolvedPredicate {
    let predicate: FetchPredicate
    do {
      predicate = try FetchPredicate(format: text)
    } catch {
      throw FilterProblem(reason: "column \(error.column): \(error.reason)")
    }
    do {
      return try predicate.resolved(in: entity)
    } catch {
      throw FilterProblem(reason: "\(error)")
    }
  }

  /// Whether the filter reads the attribute or relationship in a slot.
  func reads(_ slot: Int) -> Bool { slots.contains(slot) }

  /// Whether the filter takes the record of this row.
  /// - Parameter keys: one for each of the references.
  /// - Throws: ``Interrupted``: a text of megabytes may take a predicate long.
  func takes(
    _ values: ContiguousArray<Value>, keys: [Value], of references: [ReferenceMapping]
  ) throws(Interrupted) -> Bool {
    let takes = predicate.evaluate(
      on: RecordSubject(entity: entity, values: values, keys: keys, references: references))
    try Interruption.check()
    return takes
  }
}

/// Why a filter can't be used.
struct FilterProblem: Error {
  let reason: String
}

/// Finds what a filter reads that a record can't say.
private struct FilterCheck {
  let entity: EntityDescription
  let options: MappingOptions
  private(set) var slots: Set<Int> = []

  init(entity: EntityDescription, options: MappingOptions) {
    self.entity = entity
    self.options = options
  }

  mutating func check(_ predicate: ResolvedPredicate) throws(FilterProblem) {
    switch predicate {
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let inner): try check(inner)
    case .compare(.path(let path), .equal, .constant(.null), _),
      .compare(.path(let path), .notEqual, .constant(.null), _):
      guard path.steps.isEmpty, case .relationship(let relationship) = path.end else { return try checkLeaf(predicate) }
      slots.insert(relationship.slot)
    default: try checkLeaf(predicate)
    }
  }

  private mutating func checkLeaf(_ predicate: ResolvedPredicate) throws(FilterProblem) {
    var paths: [ResolvedPath] = []
    var isCollection = false
    predicate.visit { expression in
      if case .path(let path) = expression { paths.append(path) }
    } collections: { _ in
      isCollection = true
    }
    if isCollection { throw FilterProblem(reason: "a record doesn't say what a to-many relationship holds") }
    for path in paths { try check(path) }
  }

  private mutating func check(_ path: ResolvedPath) throws(FilterProblem) {
    switch (path.steps.first, path.end) {
    case (nil, .attribute(let attribute)):
      guard !attribute.isTransient, attribute.definition.derivationExpression == nil else {
        throw FilterProblem(
          reason: "\(path.text) is \(attribute.isTransient ? "transient" : "derived"): no record says it")
      }
      slots.insert(attribute.slot)
    case (nil, .entityName): return
    case (let relationship?, .attribute(let attribute)):
      guard path.steps.count == 1, case .success(let key) = ReferenceMapping.key(of: relationship, options),
        key.slot == attribute.slot
      else { throw unknown(path) }
      slots.insert(relationship.slot)
    default: throw unknown(path)
    }
  }

  private func unknown(_ path: ResolvedPath) -> FilterProblem {
    let unknown = "\(path.text) isn't known before the record is an object"
    guard let relationship = path.steps.first ?? path.relationship else { return FilterProblem(reason: unknown) }
    var known = "whether it has any, \(relationship.name) == nil"
    if case .success(let key) = ReferenceMapping.key(of: relationship, options) {
      known = "\(relationship.name).\(key.name), and " + known
    }
    return FilterProblem(reason: "\(unknown): of \(relationship.name) a filter may ask for \(known)")
  }
}

extension ResolvedPath {
  fileprivate var relationship: RelationshipDescription? {
    if case .relationship(let relationship) = end { return relationship }
    return nil
  }
}

/// A record's row, with the keys of the objects that it refers to.
private struct RecordSubject: PredicateSubject {
  let entity: EntityDescription
  let values: ContiguousArray<Value>
  let keys: [Value]
  let references: [ReferenceMapping]

  func value(at path: ResolvedPath) -> Value {
    if let relationship = path.steps.first { return key(of: relationship) }
    switch path.end {
    case .attribute(let attribute): return values[attribute.slot]
    // A filter only asks whether there is one.
    case .relationship(let relationship): return key(of: relationship).isNull ? .null : .bool(true)
    case .entityName: return .string(entity.name)
    case .objectID, .composite: return .null
    }
  }

  private func key(of relationship: RelationshipDescription) -> Value {
    guard let place = references.firstIndex(where: { $0.relationship.slot == relationship.slot }) else { return .null }
    return keys[place] == .unresolved ? references[place].defaultKey ?? .null : keys[place]
  }

  // A filter can't read anything that needs these.
  var subjectID: ManagedObjectID { ManagedObjectID(scope: .of(entity, in: ""), number: 0) }
  func value(inSlot slot: Int) -> Value { values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }
}
