import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("The announcement of several saves in one transaction")
struct TransactionTellingTests {
  private func store(_ stack: CompanyStack) throws -> PersistentStore {
    try #require(stack.coordinator.persistentStores.first)
  }

  /// A context with a queue of its own that merges by itself, and a controller over it.
  private struct Watcher: Sendable {
    let context: ContextQueue
    let contents = Recorder<[String]>()

    init(_ stack: CompanyStack, _ format: String) throws {
      context = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "watcher")
      context.performAndWait { context in
        context.automaticallyMergesChangesFromParent = true
        context.retainsRegisteredObjects = true
      }
      let (context, contents) = (context, contents)
      try context.performAndWait { context in
        let controller = FetchedResultsController<Person>(
          fetchRequest: FetchRequest(
            entityName: "Person", predicate: try FetchPredicate(format: format),
            sortDescriptors: [FetchSortDescriptor("name")]), managedObjectContext: context)
        let list = NameList(contents)
        controller.delegate = list
        context.userInfo = ["controller": controller, "list": list]
        try controller.performFetch()
      }
    }

    /// What the controller shows once everything that was announced is merged.
    func shown() throws -> [String] {
      try context.performAndWait { context in
        let controller = try #require(context.userInfo["controller"] as? FetchedResultsController<Person>)
        return (controller.fetchedObjects ?? []).map { "\($0.name ?? "-") \($0.age ?? 0)" }
      }
    }
  }

  /// Notes a controller's content whenever it changes.
  private final class NameList: FetchedResultsControllerDelegate {
    private let contents: Recorder<[String]>
    init(_ contents: Recorder<[String]>) { self.contents = contents }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) {
      contents.note((controller.fetchedObjects ?? []).map { $0.name ?? "-" })
    }
  }

  private func people(_ stack: CompanyStack) throws -> ManagedObjectContext {
    let context = stack.context("writer")
    for (name, age) in [("Ada", 30), ("Bob", 40), ("Cleo", 50)] as [(String, Int32)] {
      try context.person(name, age: age)
    }
    try context.save()
    return context
  }

  /// Five saves: a change that brings one in, a change that takes one out, a deletion, two insertions.
  private func write(_ context: ManagedObjectContext) throws {
    let people = try context.all(Person.self, sortedBy: "name")
    people[0].age = 41
    try context.save()
    people[1].age = 39
    try context.save()
    context.delete(people[2])
    try context.save()
    for name in ["Dan", "Eve"] {
      try context.person(name, age: 60)
      try context.save()
    }
    context.reset()
  }

  @Test(
    "watchers see nothing before the commit, and all of it afterwards, however much is kept",
    arguments: StoreKind.allCases,
    [0, 3, 50_000])
  func watchers(_ kind: StoreKind, _ limit: Int) throws {
    let stack = try CompanyStack(kind)
    let context = try people(stack)
    let watcher = try Watcher(stack, "age >= 40")
    let told = Recorder<ContextSave>()
    let observation = context.observeSaves { told.note($0) }
    defer { observation.cancel() }
    try stack.coordinator.inOneTransaction(of: store(stack), keeping: limit) {
      try write(context)
      #expect(told.items.isEmpty)
      return ((), .commit)
    }
    #expect(told.items.map(\.isWholesale) == (limit < 50_000 ? [true] : Array(repeating: false, count: 5)))
    #expect(try watcher.shown() == ["Ada 41", "Dan 60", "Eve 60"])
    #expect(watcher.contents.items.last == ["Ada", "Dan", "Eve"])
    // The next save is announced as usual.
    try context.people("name = 'Bob'")[0].age = 70
    try context.save()
    #expect(try watcher.shown() == ["Ada 41", "Bob 70", "Dan 60", "Eve 60"])
  }

  @Test("another thread sees the content that was committed before", arguments: StoreKind.allCases)
  func meanwhile(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = try people(stack)
    let watcher = try Watcher(stack, "age >= 40")
    let (shown, done) = (Recorder<[String]>(), DispatchSemaphore(value: 0))
    try stack.coordinator.inOneTransaction(of: store(stack)) {
      try write(context)
      watcher.context.perform { context in
        let fetched = Result {
          context.refreshAllObjects()
          return try context.all(Person.self, sortedBy: "name").map { "\($0.name ?? "-") \($0.age ?? 0)" }
        }
        shown.note((try? fetched.get()) ?? ["\(fetched)"])
        done.signal()
      }
      done.wait()
      return ((), .commit)
    }
    #expect(shown.items == [["Ada 30", "Bob 40", "Cleo 50"]])
    #expect(try watcher.shown() == ["Ada 41", "Dan 60", "Eve 60"])
  }

  @Test("a rolled back save isn't announced, and the next one is", arguments: StoreKind.allCases, [0, 50_000])
  func rolledBack(_ kind: StoreKind, _ limit: Int) throws {
    let stack = try CompanyStack(kind)
    let context = try people(stack)
    let watcher = try Watcher(stack, "age >= 40")
    let told = Recorder<ContextSave>()
    let observation = context.observeSaves { told.note($0) }
    defer { observation.cancel() }
    try stack.coordinator.inOneTransaction(of: store(stack), keeping: limit) {
      try write(context)
      return ((), .rollBack)
    }
    #expect(told.items.isEmpty && watcher.contents.items.isEmpty)
    #expect(try watcher.shown() == ["Bob 40", "Cleo 50"])
    try context.people("name = 'Ada'")[0].age = 45
    try context.save()
    #expect(told.items.count == 1)
    #expect(try watcher.shown() == ["Ada 45", "Bob 40", "Cleo 50"])
  }

  @Test("an observer's unsaved changes survive a save that announces no rows", arguments: StoreKind.allCases)
  func unsavedChanges(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = try people(stack)
    let (here, project) = (stack.context(), try context.insert(Project.self))
    try context.save()
    let mine = try here.all(Person.self, sortedBy: "name")
    let set = try here.all(Project.self)[0]
    #expect(set.members.isEmpty)
    mine[0].email = "mine@example.org"
    let told = Recorder<ContextSave>()
    let observation = context.observeSaves { told.note($0) }
    defer { observation.cancel() }
    try stack.coordinator.inOneTransaction(of: store(stack), keeping: 0) {
      let people = try context.all(Person.self, sortedBy: "name")
      people[0].age = 77
      project.members = [people[1]]
      try context.save()
      return ((), .commit)
    }
    let save = try #require(told.items.first)
    #expect(Set(save.changedEntityNames) == ["Person", "Manager", "Project"])
    here.mergeChanges(fromContextDidSave: save)
    #expect(mine[0].email == "mine@example.org" && mine[0].age == 77)
    #expect(set.members == [mine[1]])
    try here.save()
    #expect(try stack.context().people("age = 77 AND email != nil").count == 1)
  }
}
