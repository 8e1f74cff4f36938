import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Every operation on a tree, at random but from fixed seeds, here and in other contexts whose saves are merged. Few of the
/// objects have been read: whatever has, both ends of the relationship agree, and with what was asked for.
@Suite("Trees and random changes")
struct RandomTreeTests {
  @Test("a set holds what points to its owner", arguments: StoreKind.allCases, 1...12)
  func ends(_ kind: StoreKind, _ seed: Int) throws {
    var run = try TreeRun(kind, isNested: seed.isMultiple(of: 3), seed: UInt64(seed))
    for step in 0..<150 {
      let operation = try run.step()
      try run.checkSome("step \(step) of seed \(seed): \(operation)")
    }
    try run.checkAll("the end of seed \(seed)")
  }
}

/// One run of random changes. Nodes are known by numbers.
private struct TreeRun {
  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Node", attributes: [AttributeDefinition("name", .string)],
          relationships: [
            RelationshipDefinition("parent", to: "Node", inverse: "children"),
            RelationshipDefinition("children", to: "Node", inverse: "parent", isToMany: true),
          ])
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private let stack: CompanyStack
  /// The parent of the context under test; nil where it has none.
  private let above: ManagedObjectContext?
  private let here: ManagedObjectContext
  /// The IDs of saved nodes, and the objects of new ones.
  private var ids: [Int: ManagedObjectID] = [:]
  private var new: [Int: ManagedObject] = [:]
  /// The parent of each node: in the store, and in the context under test.
  private var stored: [Int: Int?] = [:]
  private var now: [Int: Int?] = [:]
  /// Objects that the program holds.
  private var held: [ManagedObject] = []
  private var random: FixedNumbers
  private var last = 0

  init(_ kind: StoreKind, isNested: Bool, seed: UInt64) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let above = isNested ? stack.context("above") : nil
    here = above.map { ManagedObjectContext(.confinement, parent: $0) } ?? stack.context("here")
    (self.stack, self.above) = (stack, above)
    random = FixedNumbers(state: seed)
    for _ in 0..<12 { _ = try insert() }
    try save()
    here.reset()
    above?.reset()
  }

  // MARK: Nodes

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick(_ nodes: some Sequence<Int>) -> Int? { nodes.sorted().randomElement(using: &random) }

  private func id(_ node: Int) throws -> ManagedObjectID {
    if let object = new[node] { return object.objectID }
    return try #require(ids[node])
  }

  private func object(_ node: Int) throws -> ManagedObject { here.object(with: try id(node)) }

  private func value(_ node: Int?) throws -> Value { try node.map { Value.object(try id($0)) } ?? .null }

  /// Whether a node is in the store as it is here.
  private func isUntouched(_ node: Int) -> Bool {
    if let there = stored[node], let mine = now[node] { return there == mine }
    return false
  }

  private func children(of node: Int?, _ parents: [Int: Int?]) -> [Int] {
    parents.filter { $0.value == node }.map(\.key)
  }

  // MARK: Operations

  mutating func step() throws -> String {
    switch number(16) {
    case 0...3: return try move()
    case 4: return try addToSet()
    case 5: return try removeFromSet()
    case 6: return try "inserted \(insert())"
    case 7: return try delete()
    case 8: return try moveElsewhere()
    case 9: return try deleteElsewhere()
    case 10: return try refresh()
    case 11:
      here.refreshAllObjects()
      return "refreshed everything"
    case 12:
      if let node = pick(now.keys) { held.append(try object(node)) }
      return "held one"
    case 13:
      held = []
      here.performAndWait { _ in }
      return "released all"
    case 14:
      here.rollback()
      (now, new) = (stored, [:])
      return "rolled back"
    default:
      try save()
      return "saved"
    }
  }

  private mutating func move() throws -> String {
    guard let node = pick(now.keys) else { return "nothing" }
    let target = number(4) == 0 ? nil : pick(now.keys)
    try object(node).setValue(value(target), forKey: "parent")
    now[node] = .some(target)
    return "moved \(node) to \(target ?? -1)"
  }

  private mutating func addToSet() throws -> String {
    guard let node = pick(now.keys), let target = pick(now.keys) else { return "nothing" }
    try object(target).mutableSetValue(forKey: "children")?.add(object(node))
    now[node] = .some(target)
    return "added \(node) to the set of \(target)"
  }

  private mutating func removeFromSet() throws -> String {
    guard let node = pick(now.keys), case let parent?? = now[node] else { return "nothing" }
    try object(parent).mutableSetValue(forKey: "children")?.remove(object(node))
    now[node] = .some(nil)
    return "removed \(node) from the set of \(parent)"
  }

  private mutating func insert() throws -> Int {
    last += 1
    let target = number(3) == 0 ? nil : pick(now.keys)
    let object = try here.insert("Node")
    try object.setValue(value(target), forKey: "parent")
    new[last] = object
    now[last] = .some(target)
    return last
  }

  private mutating func delete() throws -> String {
    guard let node = pick(now.keys) else { return "nothing" }
    here.delete(try object(node))
    if number(2) == 0 { here.performAndWait { _ in } } else { here.processPendingChanges() }
    for child in children(of: node, now) { now[child] = .some(nil) }
    now[node] = nil
    new[node] = nil
    return "deleted \(node)"
  }

  private mutating func moveElsewhere() throws -> String {
    guard let node = pick(now.keys.filter(isUntouched)) else { return "nothing" }
    let target = pick(now.keys.filter { stored[$0] != nil })
    let there = stack.context()
    try there.object(with: id(node)).setValue(value(target), forKey: "parent")
    try merge(there)
    stored[node] = .some(target)
    now[node] = .some(target)
    return "moved \(node) to \(target ?? -1) elsewhere"
  }

  private mutating func deleteElsewhere() throws -> String {
    let alone = now.keys.filter { node in
      isUntouched(node) && Set(children(of: node, now)) == Set(children(of: node, stored))
    }
    guard number(2) == 0, let node = pick(alone) else { return "nothing" }
    let there = stack.context()
    there.delete(there.object(with: try id(node)))
    try merge(there)
    for child in children(of: node, stored) {
      stored[child] = .some(nil)
      now[child] = .some(nil)
    }
    (stored[node], now[node], ids[node]) = (nil, nil, nil)
    return "deleted \(node) elsewhere"
  }

  private func merge(_ there: ManagedObjectContext) throws {
    guard let save = try there.saveAndTell() else { return }
    above?.mergeChanges(fromContextDidSave: save)
    here.mergeChanges(fromContextDidSave: save)
    here.processPendingChanges()
    above?.processPendingChanges()
  }

  private mutating func refresh() throws -> String {
    guard let node = pick(now.keys.filter { new[$0] == nil }), let former = stored[node] else { return "nothing" }
    let keeps = number(2) == 0 || former.map { now[$0] == nil } == true
    here.refresh(try object(node), mergeChanges: keeps)
    if !keeps { now[node] = .some(former) }
    return "refreshed \(node)\(keeps ? "" : " without its changes")"
  }

  private mutating func save() throws {
    try here.save()
    try above?.save()
    here.performAndWait { _ in }
    for (node, object) in new { ids[node] = object.objectID }
    for node in ids.keys where now[node] == nil { ids[node] = nil }
    (stored, new) = (now, [:])
    #expect(!here.hasChanges)
  }

  // MARK: Checks

  /// Looks at a set and a parent, and leaves the rest unread.
  mutating func checkSome(_ comment: String) throws {
    if number(2) == 0, let node = pick(now.keys) { try checkSet(of: node, in: here, now, comment) }
    if number(3) == 0, let node = pick(now.keys) { try checkParent(of: node, in: here, now, comment) }
  }

  /// Looks at everything, here and after a save in the store.
  mutating func checkAll(_ comment: String) throws {
    for node in now.keys.sorted() {
      try checkSet(of: node, in: here, now, comment)
      try checkParent(of: node, in: here, now, comment)
    }
    try save()
    let reader = stack.context()
    #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "Node")) == stored.count, "\(comment)")
    for node in stored.keys.sorted() {
      try checkSet(of: node, in: reader, stored, comment)
      try checkParent(of: node, in: reader, stored, comment)
    }
  }

  private func checkSet(
    of node: Int, in context: ManagedObjectContext, _ parents: [Int: Int?], _ comment: String
  ) throws {
    let found = context.object(with: try id(node)).objectIDs(forRelationshipNamed: "children")
    let wanted = try children(of: node, parents).map(id)
    #expect(Set(found) == Set(wanted), "the set of \(node) after \(comment)")
  }

  private func checkParent(
    of node: Int, in context: ManagedObjectContext, _ parents: [Int: Int?], _ comment: String
  ) throws {
    let found = context.object(with: try id(node)).value(forKey: "parent")
    #expect(try found == value(parents[node] ?? nil), "the parent of \(node) after \(comment)")
  }
}
