import Dispatch
import Foundation
import ManagedObjects
import TestSupport
import Testing

@Suite("Work comes to a context's queue")
struct PerformTests {
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.inMemory())
  }

  private func context(
    _ type: ManagedObjectContext.ConcurrencyType, parent: ContextQueue? = nil
  ) -> ContextQueue {
    if let parent { return ContextQueue(type, parent: parent) }
    return ContextQueue(type, coordinator: coordinator)
  }

  @Test("perform awaits the block, and returns and throws what it does")
  func awaiting() async throws {
    for context in [context(.privateQueue), context(.mainQueue)] {
      let name = try await context.perform { context in try context.person("Ada").name }
      #expect(name == "Ada")
      await #expect(throws: ManagedObjectError.self) {
        try await context.perform { context in try context.insert("Nobody").objectID }
      }
    }
  }

  @Test("perform without waiting runs later, in order")
  func scheduling() async throws {
    let context = context(.privateQueue)
    let order = Recorder<Int>()
    await withCheckedContinuation { continuation in
      for number in 1...100 {
        schedule(context) { _ in
          order.note(number)
          if number == 100 { continuation.resume() }
        }
      }
    }
    #expect(order.items == Array(1...100))
  }

  /// Of the two forms of `perform`, asynchronous code always gets the one that waits; this one is for the other.
  private func schedule(_ context: ContextQueue, _ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    context.perform(block)
  }

  @Test("performAndWait returns and throws what the block does")
  func waiting() throws {
    let context = context(.privateQueue)
    #expect(try context.performAndWait { context in try context.person("Ada").name } == "Ada")
    #expect(throws: ManagedObjectError.self) {
      try context.performAndWait { context in try context.insert("Nobody").objectID }
    }
  }

  @Test("performAndWait nests in its own context, and in another's, and back")
  func nesting() {
    let (one, two) = (context(.privateQueue), context(.privateQueue))
    let order = Recorder<String>()
    one.performAndWait { _ in
      order.note("one")
      one.performAndWait { _ in order.note("one again") }
      two.performAndWait { _ in
        order.note("two")
        one.performAndWait { _ in
          order.note("one from two")
          two.performAndWait { _ in order.note("two from one") }
        }
      }
      order.note("end")
    }
    #expect(order.items == ["one", "one again", "two", "one from two", "two from one", "end"])
  }

  @Test("a main-queue context is the main actor's, which announces its changes at the end of its turn")
  @MainActor
  func mainActor() async throws {
    let queue = context(.mainQueue)
    let context = queue.context()
    let (inserted, continuation) = AsyncStream<Int>.makeStream()
    let observation = context.observeChanges { continuation.yield($0.inserted.count) }
    let ada = try context.person("Ada")
    // The turn ends here.
    for await count in inserted {
      #expect(count == 1)
      break
    }
    observation.cancel()
    try context.save()
    #expect(ada.name == "Ada")
    #expect(queue.performAndWait { context in !context.hasChanges })
    let name = await queue.perform { _ in "at once" }
    #expect(name == "at once")
  }

  @Test("an actor runs on a context's queue, and keeps its objects")
  func actor() async throws {
    let register = Register(context(.privateQueue))
    #expect(try await register.add("Ada") == 1)
    #expect(try await register.add("Bob") == 2)
    let queue = register.queue
    #expect(
      try await queue.perform { context in try context.count(for: FetchRequest<Person>(entityName: "Person")) } == 2)
    // What awaits within the actor goes on there.
    #expect(try await register.addLater("Cid") == 3)
    #expect(await register.names == ["Ada", "Bob", "Cid"])
  }

  private actor Register {
    let queue: ContextQueue
    private var people: [Person] = []

    init(_ queue: ContextQueue) { self.queue = queue }
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.unownedExecutor }

    var names: [String?] { people.map(\.name) }

    func add(_ name: String) throws -> Int {
      let context = queue.context()
      people.append(try context.person(name))
      try context.save()
      return people.count
    }

    func addLater(_ name: String) async throws -> Int {
      await Task.yield()
      return try add(name)
    }
  }

  @Test("an actor of another queue doesn't get the context")
  func strangeActor() async {
    await #expect(processExitsWith: .failure) {
      let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
      let stranger = Stranger(queue: ContextQueue(.privateQueue, coordinator: coordinator))
      await stranger.take()
    }
  }

  private actor Stranger {
    let queue: ContextQueue
    init(queue: ContextQueue) { self.queue = queue }
    func take() { _ = queue.context() }
  }

  @Test("perform throws what the block throws, by its type, and nothing when that doesn't")
  func typedErrors() async {
    let context = context(.privateQueue)
    let one = await context.perform { _ in 1 }
    let two = await context.perform(schedule: .enqueued) { _ in one + 1 }
    #expect(two == 2)
    do throws(CancellationError) {
      try await context.perform { (_) throws(CancellationError) in throw CancellationError() }
      Issue.record("nothing was thrown")
    } catch {}
  }

  @Test("on its queue, perform runs at once unless it is to be enqueued")
  @MainActor
  func schedules() async {
    let context = context(.mainQueue)
    let order = Recorder<String>()
    DispatchQueue.main.async { order.note("waiting") }
    await context.perform { _ in order.note("at once") }
    await context.perform(schedule: .enqueued) { _ in order.note("in turn") }
    #expect(order.items == ["at once", "waiting", "in turn"])
  }

  @Test("what is changed on the main queue without a block around it is announced by itself, and once")
  @MainActor
  func mainWithoutBlock() async throws {
    let context = context(.mainQueue).context()
    context.undoManager = UndoManager()
    let (announced, continuation) = AsyncStream<Int>.makeStream()
    let observation = context.observeChanges { continuation.yield($0.inserted.count) }
    let ada = try context.person("Ada")
    try context.person("Bob")
    ada.age = 30
    for await count in announced {
      #expect(count == 2)
      break
    }
    observation.cancel()
    context.undo()
    #expect(context.insertedObjects.isEmpty, "it is one event")
  }

  @Test("a main-queue context is reached from other queues")
  func mainFromElsewhere() async throws {
    let context = context(.mainQueue)
    let isMain = try await context.perform { context in
      dispatchPrecondition(condition: .onQueue(.main))
      return try context.person("Ada").name == "Ada"
    }
    #expect(isMain)
    let names = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: context.performAndWait { context in context.insertedObjects.count })
      }
    }
    #expect(names == 1)
  }

  @Test("waits nest from the main queue to a private one and back")
  @MainActor
  func mainToPrivateAndBack() throws {
    let (main, background) = (context(.mainQueue), context(.privateQueue))
    try main.context().person("Ada")
    let count = background.performAndWait { _ in
      main.performAndWait { _ in
        background.performAndWait { _ in main.performAndWait { main in main.insertedObjects.count } }
      }
    }
    #expect(count == 1)
  }

  @Test("a private child of a main context fetches and saves through it")
  func mainParent() async throws {
    let main = context(.mainQueue)
    let child = context(.privateQueue, parent: main)
    try await child.perform { child in
      try child.person("Ada")
      try child.save()
    }
    #expect(await main.perform { main in main.insertedObjects.count } == 1)
    try await main.perform { main in try main.save() }
    #expect(
      try await child.perform { child in try child.all(Person.self).map { $0.objectID.isTemporaryID } } == [false])
  }

  @Test("a main child of a private parent saves from the main queue")
  @MainActor
  func privateParent() throws {
    let root = context(.privateQueue)
    let main = context(.mainQueue, parent: root).context()
    let ada = try main.person("Ada")
    try main.save()
    try root.performAndWait { root in try root.save() }
    #expect(try main.all(Person.self) == [ada])
    #expect(!ada.objectID.isTemporaryID)
  }

  @Test("a confinement context runs its work at once, on the thread that made it")
  func confinement() throws {
    let context = context(.confinement)
    let order = Recorder<Int>()
    context.perform { _ in order.note(1) }
    order.note(2)
    #expect(context.performAndWait { _ in order.items } == [1, 2])
    let own = ManagedObjectContext(.confinement, coordinator: coordinator)
    try own.person("Ada")
    try own.save()
  }
}
