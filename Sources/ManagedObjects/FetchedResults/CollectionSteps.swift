/// A step of a predicate's path over a to-many relationship, or on the path to one.
struct CollectionStep {
  /// The relationships that lead from the predicate's subject to the step's object; at least one.
  let chain: [RelationshipDescription]
  /// The entity of the step's object.
  let destination: EntityDescription
  /// The relationship from the preceding object.
  let last: RelationshipDescription
  /// The slots that the predicate reads: attributes, and the relationships that lead on.
  fileprivate(set) var slots: Set<Int>

  /// The slot in which the object refers to the owner of the set that holds it; nil where only the owner refers to it.
  var ownerSlot: Int? {
    guard last.isToMany, let inverse = last.inverseRelationship, !inverse.isToMany else { return nil }
    return inverse.slot
  }

  /// A predicate that selects the subjects whose path leads to one of `ids`.
  func predicate(reaching ids: some Collection<ManagedObjectID>) -> ResolvedPredicate {
    let list = ResolvedList(ids.map(Value.object))
    let start = Array(chain.prefix { !$0.isToMany })
    if start.count == chain.count {
      return .isIn(.path(ResolvedPath(steps: Array(chain.dropLast()), end: .relationship(last))), list, [])
    }
    let collection = ResolvedCollection(
      origin: 0, start: start, links: chain.dropFirst(start.count).map { .step($0) }, number: 1, entity: destination)
    return .exists(collection, .isIn(.path(ResolvedPath(origin: 1, steps: [], end: .objectID(destination))), list, []))
  }
}

extension ResolvedPredicate {
  /// The steps of the predicate's paths over to-many relationships, each path once.
  var collectionSteps: [CollectionStep] {
    guard readsCollections else { return [] }
    var collector = CollectionStepCollector()
    collector.visit(self, [[]])
    return collector.steps
  }
}

/// Collects the steps of a predicate. Each origin has the path that leads to the objects at which its paths begin.
private struct CollectionStepCollector {
  typealias Path = [RelationshipDescription]

  var steps: [CollectionStep] = []
  private var places: [Path: Int] = [:]

  private mutating func add(_ path: Path, reading slot: Int?) {
    for (index, relationship) in path.enumerated() {
      let chain = Array(path[...index])
      let read = index + 1 < path.count ? path[index + 1].slot : slot
      if places[chain] == nil {
        places[chain] = steps.count
        steps.append(
          CollectionStep(
            chain: chain, destination: relationship.destinationEntity, last: relationship, slots: []))
      }
      if let read, let place = places[chain] { steps[place].slots.insert(read) }
    }
  }

  mutating func visit(_ predicate: ResolvedPredicate, _ paths: [Path]) {
    switch predicate {
    case .constant: break
    case .compare(let left, _, let right, _), .text(let left, _, let right, _):
      visit(left, paths)
      visit(right, paths)
    case .isIn(let left, _, _), .like(let left, _, _), .matches(let left, _): visit(left, paths)
    case .exists(let collection, let inner):
      let path = visit(collection, paths)
      visit(inner, inside(collection, path, paths))
    case .and(let parts), .or(let parts): for part in parts { visit(part, paths) }
    case .not(let inner): visit(inner, paths)
    }
  }

  private mutating func visit(_ expression: ResolvedExpression, _ paths: [Path]) {
    switch expression {
    case .constant: break
    // Paths from the root over to-one relationships only are followed by `RelatedObjects`.
    case .path(let path): if path.origin > 0 { add(paths[path.origin] + path.steps, reading: path.endSlot) }
    case .call(_, let arguments): for argument in arguments { visit(argument, paths) }
    case .cast(let inner, _): visit(inner, paths)
    case .element(let collection, _, let value):
      let path = visit(collection, paths)
      visit(value, inside(collection, path, paths))
    case .aggregate(_, let collection, let value):
      let path = visit(collection, paths)
      if let value { visit(value, inside(collection, path, paths)) }
    case .conditional(let condition, let first, let second):
      visit(condition, paths)
      visit(first, paths)
      visit(second, paths)
    }
  }

  /// Returns the path to the collection's objects.
  private mutating func visit(_ collection: ResolvedCollection, _ paths: [Path]) -> Path {
    var path = paths[collection.origin] + collection.start
    for link in collection.links {
      switch link {
      case .step(let relationship): path.append(relationship)
      case .filter(let predicate): visit(predicate, inside(collection, path, paths))
      }
    }
    add(path, reading: nil)
    return path
  }

  private func inside(_ collection: ResolvedCollection, _ path: Path, _ paths: [Path]) -> [Path] {
    paths.prefix(collection.number) + [path]
  }
}

/// Changed objects on a predicate's paths over to-many relationships.
///
/// Over a to-many relationship a predicate reads any number of objects that nothing holds, so a change of one of them is
/// traced back: first to the owner, by what the object itself says, now and before; from there to the predicate's subjects, by
/// a query for those that lead there. Among unsaved changed objects on one path, the one nearest to the root counts, because
/// all links before it are as the store has them. So each of them is queried.
struct CollectionChanges {
  private let steps: [CollectionStep]
  /// By step: the objects of which the predicate now reads other values.
  private(set) var sources: [Set<ManagedObjectID>]
  /// Subjects of the predicate whose sets gained or lost objects.
  private(set) var roots: Set<ManagedObjectID> = []
  /// Whether objects came or went whose owners are unknown.
  private(set) var isUnknown = false

  init(_ steps: [CollectionStep]) {
    self.steps = steps
    sources = Array(repeating: [], count: steps.count)
  }

  var isEmpty: Bool { roots.isEmpty && sources.allSatisfy(\.isEmpty) }

  mutating func formUnion(_ other: CollectionChanges) {
    roots.formUnion(other.roots)
    for index in sources.indices { sources[index].formUnion(other.sources[index]) }
  }

  /// Notes an object of the context, with its former values.
  mutating func note(_ object: ManagedObject, former: ContiguousArray<Value>?, isKnownChange: Bool) {
    for (index, step) in steps.enumerated() where object.entity.isKindOf(step.destination) {
      if let slot = step.ownerSlot {
        for values in [former ?? [], object.committed, object.slots] { noteOwner(values, slot, of: step) }
      }
      let isSame =
        isKnownChange && former.map { former in step.slots.allSatisfy { former[$0] == object.slots[$0] } } == true
      if !isSame { sources[index].insert(object.id) }
    }
  }

  /// Notes the rows of a merged save.
  mutating func note(_ save: ContextSave) {
    for (index, step) in steps.enumerated() {
      let slot = step.ownerSlot
      if let slot {
        save.forEachInserted(of: { $0.entity.isKindOf(step.destination) }) { noteOwner($0.values, slot, of: step) }
      }
      for update in save.updated where update.id.entity.isKindOf(step.destination) {
        if update.committed.isEmpty {
          isUnknown = isUnknown || slot != nil
          sources[index].insert(update.id)
          continue
        }
        if let slot, update.committed[slot] != update.values[slot] {
          noteOwner(update.committed, slot, of: step)
          noteOwner(update.values, slot, of: step)
        }
        if step.slots.contains(where: { update.committed[$0] != update.values[$0] }) {
          sources[index].insert(update.id)
        }
      }
      for row in save.deleted where row.id.entity.isKindOf(step.destination) {
        guard !row.values.isEmpty else {
          isUnknown = true
          continue
        }
        if let slot { noteOwner(row.values, slot, of: step) }
      }
      for refresh in save.refreshed where refresh.id.entity.isKindOf(step.destination) {
        if refresh.values.keys.contains(where: step.slots.contains) { sources[index].insert(refresh.id) }
      }
    }
  }

  /// Notes the owner of the set that holds an object.
  private mutating func noteOwner(_ values: ContiguousArray<Value>, _ slot: Int, of step: CollectionStep) {
    guard !values.isEmpty, case .object(let owner) = values[slot] else { return }
    let before = Array(step.chain.dropLast())
    if before.isEmpty {
      roots.insert(owner)
    } else if let index = steps.firstIndex(where: { $0.chain == before }) {
      sources[index].insert(owner)
    }
  }
}
