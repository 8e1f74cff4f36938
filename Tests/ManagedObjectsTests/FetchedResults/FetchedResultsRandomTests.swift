import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Every operation on objects, at random but from fixed seeds, here and in another context whose saves are merged. After
/// each the controllers' contents must equal a new fetch, and lists that apply the reported changes must show them.
@Suite("Fetched results controllers and random changes")
struct FetchedResultsRandomTests {
  @Test("show what a fetch finds", arguments: StoreKind.allCases, 1...8)
  func followed(_ kind: StoreKind, _ seed: Int) throws {
    var run = try FetchedResultsRun(kind, seed: UInt64(seed))
    for step in 0..<150 {
      let operation = try run.step()
      try run.check("step \(step) of seed \(seed): \(operation)")
    }
  }
}

/// One run of random changes.
struct FetchedResultsRun {
  private struct Watched {
    let controller: FetchedResultsController<Person>
    let list: ListView<Person>
  }

  private let stack: CompanyStack
  private let here: ManagedObjectContext
  private let there: ManagedObjectContext
  private var watched: [Watched] = []
  private var random: FixedNumbers
  /// Half of the runs never fetch in the context they watch, so that most rows stay unknown there.
  private let looksAside: Bool

  init(_ kind: StoreKind, seed: UInt64) throws {
    stack = try CompanyStack(kind)
    here = stack.context("here")
    there = stack.context("there")
    random = FixedNumbers(state: seed)
    looksAside = seed.isMultiple(of: 2)
    let companies = try ["Acme", "Mill", "Zoo"].map { try there.company($0) }
    for index in 0..<20 {
      try there.person(Self.names[index % Self.names.count], age: Int32(index % 7)).employer = companies[index % 3]
    }
    try there.save()
    try watch(nil, ["name"])
    try watch(nil, ["employer.name", "name"], sections: "employer.name")
    try watch(nil, ["age", "name"], sections: "age")
    try watch("age > 2", ["-age"])
    try watch("employer.name BEGINSWITH 'A'", ["name", "-age"])
    try watch(nil, ["age", "name"], limit: 6)
    try watch("age > 1", ["name"], limit: 5, offset: 3)
    try watch(nil, ["name"], computesSections: true)
  }

  private static let names = ["Ada", "Bob", "Cy", "Dee", "Eve", "Fay"]

  private mutating func watch(
    _ predicate: String?, _ keys: [String], sections: String? = nil, limit: Int = 0, offset: Int = 0,
    computesSections: Bool = false
  ) throws {
    let sort = keys.map { key in
      key.hasPrefix("-") ? FetchSortDescriptor(String(key.dropFirst()), ascending: false) : FetchSortDescriptor(key)
    }
    let request = FetchRequest<Person>(
      entityName: "Person", predicate: try predicate.map { try FetchPredicate(format: $0) }, sortDescriptors: sort,
      fetchLimit: limit, fetchOffset: offset)
    let controller =
      computesSections
      ? FetchedResultsController(fetchRequest: request, managedObjectContext: here) { $0.name.map { "\($0.count)" } }
      : FetchedResultsController(fetchRequest: request, managedObjectContext: here, sectionNameKeyPath: sections)
    if computesSections { controller.fetchRequest.predicate = try FetchPredicate(format: "name BEGINSWITH 'C'") }
    try controller.performFetch()
    let list = ListView(controller)
    controller.delegate = list
    watched.append(Watched(controller: controller, list: list))
  }

  // MARK: Changes

  mutating func step() throws -> String {
    let isHere = Bool.random(using: &random)
    let context = isHere ? here : there
    let operation = try change(context)
    if isHere {
      here.processPendingChanges()
    } else if let save = try saveOrRollBack(there) {
      here.mergeChanges(fromContextDidSave: save)
    }
    return (isHere ? "here: " : "there: ") + operation
  }

  private mutating func change(_ context: ManagedObjectContext) throws -> String {
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<4:
      let person = try context.person(name(), age: .random(in: 0..<7, using: &random))
      person.employer = try company(context)
      return "insert"
    case 4..<8:
      try person(context)?.name = name()
      return "rename"
    case 8..<11:
      try person(context)?.age = .random(in: 0..<7, using: &random)
      return "age"
    case 11..<14:
      try person(context)?.employer = try company(context)
      return "move"
    case 14..<16:
      if let person = try person(context) { context.delete(person) }
      return "delete"
    case 16:
      try company(context)?.name = ["Acme", "Alp", "Mill", "Zoo"].randomElement(using: &random) ?? ""
      return "rename a company"
    case 17:
      if let company = try company(context), try context.all(Company.self).count > 2 { context.delete(company) }
      try context.company("New")
      return "delete a company"
    case 18..<20:
      if context == here, let save = try saveOrRollBack(here) { there.mergeChanges(fromContextDidSave: save) }
      return "save"
    case 20:
      if context == here { here.rollback() }
      return "roll back"
    case 21:
      if let person = try person(context) { context.refresh(person, mergeChanges: Bool.random(using: &random)) }
      return "refresh"
    case 22:
      context.refreshAllObjects()
      return "refresh all"
    default:
      for _ in 0..<12 { try person(context)?.age = .random(in: 0..<7, using: &random) }
      for _ in 0..<12 { try context.person(name(), age: 3).employer = try company(context) }
      for _ in 0..<12 { if let person = try person(context) { context.delete(person) } }
      return "many"
    }
  }

  private func saveOrRollBack(_ context: ManagedObjectContext) throws -> ContextSave? {
    do {
      return try context.saveAndTell()
    } catch ManagedObjectError.mergeConflicts {
      context.rollback()
      return nil
    }
  }

  private mutating func name() -> String { Self.names.randomElement(using: &random) ?? "" }

  private mutating func person(_ context: ManagedObjectContext) throws -> Person? {
    if context == here, looksAside { return watched[0].controller.fetchedObjects?.randomElement(using: &random) }
    return try context.all(Person.self, sortedBy: "objectID").randomElement(using: &random)
  }

  private mutating func company(_ context: ManagedObjectContext) throws -> Company? {
    try context.all(Company.self, sortedBy: "objectID").randomElement(using: &random)
  }

  // MARK: What must hold

  func check(_ comment: String) throws {
    for (index, watched) in watched.enumerated() {
      let controller = watched.controller
      let comment = Comment(rawValue: "controller \(index), \(comment)")
      try #require(watched.list.rows == controller.sections?.map(\.objects), comment)
      let shown = controller.fetchedObjects ?? []
      for section in controller.sections ?? [] {
        try #require(section.objects.allSatisfy { sectionName($0, index) == section.name }, comment)
      }
      if let middle = shown.dropFirst(shown.count / 2).first {
        let path = try #require(controller.indexPath(forObject: middle), comment)
        #expect(controller.object(at: path) === middle, comment)
      }
      if looksAside {
        guard !here.hasChanges else { continue }
        let fresh = try stack.context().fetch(controller.fetchRequest)
        try #require(shown.map(\.objectID) == fresh.map(\.objectID), comment)
      } else {
        let expected = try expected(controller.fetchRequest)
        try #require(shown == expected, comment)
      }
    }
  }

  private func sectionName(_ person: Person, _ controller: Int) -> String {
    switch controller {
    case 1: return person.employer?.name ?? ""
    case 2: return person.age.map { "\($0)" } ?? ""
    case 7: return person.name.map { "\($0.count)" } ?? ""
    default: return ""
    }
  }

  /// What a request would find if a fetch saw every unsaved change, those of companies too.
  private func expected(_ request: FetchRequest<Person>) throws -> [Person] {
    let all = try here.all(Person.self)
    let entity = try #require(here.model.entitiesByName["Person"])
    let predicate = try request.predicate?.resolved(in: entity)
    let sort = try request.sortDescriptors.map { try $0.resolved(in: entity) }
    let found = all.filter { predicate?.evaluate(on: $0) ?? true }.sorted { sort.areInIncreasingOrder($0, $1) }
    let tail = found.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? tail.prefix(request.fetchLimit) : tail)
  }
}
