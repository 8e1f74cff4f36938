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
    _ type: ManagedObjectContext.ConcurrencyType, parent: ManagedObjectContext? = nil
  ) -> ManagedObjectContext {
    if let parent { return ManagedObjectContext(type, parent: parent) }
    return ManagedObjectContext(type, coordinator: coordinator)
  }

  @Test("perform awaits the block, and returns and throws what it does")
  func awaiting() async throws {
    for context in [context(.privateQueue), context(.mainQueue)] {
      let name = try await context.perform { try context.person("Ada").name }
      #expect(name == "Ada")
      await #expect(throws: ManagedObjectError.self) {
        try await context.perform { try context.insert("Nobody").objectID }
      }
    }
  }

  @Test("perform without waiting runs later, in order")
  func scheduling() async throws {
    let context = context(.privateQueue)
    let order = Recorder<Int>()
    await withCheckedContinuation { continuation in
      for number in 1...100 {
        schedule(context) {
          order.note(number)
          if number == 100 { continuation.resume() }
        }
      }
    }
    #expect(order.items == Array(1...100))
  }

  /// Of the two forms of `perform`, asynchronous code always gets the one that waits; this one is for the other.
  private func schedule(_ context: ManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
    context.perform(block)
  }

  @Test("performAndWait returns and throws what the block does")
  func waiting() throws {
    let context = context(.privateQueue)
    #expect(try context.performAndWait { try context.person("Ada").name } == "Ada")
    #expect(throws: ManagedObjectError.self) { try context.performAndWait { try context.insert("Nobody").objectID } }
  }

  @Test("performAndWait nests in its own context, and in another's, and back")
  func nesting() {
    let (one, two) = (context(.privateQueue), context(.privateQueue))
    let order = Recorder<String>()
    one.performAndWait {
      order.note("one")
      one.performAndWait { order.note("one again") }
      two.performAndWait {
        order.note("two")
        one.performAndWait {
          order.note("one from two")
          two.performAndWait { order.note("two from one") }
        }
      }
      order.note("end")
    }
    #expect(order.items == ["one", "one again", "two", "one from two", "two from one", "end"])
  }

  @Test("a main-queue context is used from the main actor without more ado")
  @MainActor
  func mainActor() throws {
    let context = context(.mainQueue)
    let ada = try context.person("Ada")
    try context.save()
    #expect(ada.name == "Ada")
    #expect(context.performAndWait { context.hasChanges } == false)
  }

  @Test("what is changed on the main queue without a block around it is announced by itself, and once")
  @MainActor
  func mainWithoutBlock() async throws {
    let context = context(.mainQueue)
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
    let isMain = try await context.perform {
      dispatchPrecondition(condition: .onQueue(.main))
      return try context.person("Ada").name == "Ada"
    }
    #expect(isMain)
    let names = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: context.performAndWait { context.insertedObjects.count })
      }
    }
    #expect(names == 1)
  }

  @Test("waits nest from the main queue to a private one and back")
  @MainActor
  func mainToPrivateAndBack() throws {
    let (main, background) = (context(.mainQueue), context(.privateQueue))
    try main.person("Ada")
    let count = background.performAndWait {
      main.performAndWait {
        background.performAndWait { main.performAndWait { main.insertedObjects.count } }
      }
    }
    #expect(count == 1)
  }

  @Test("a private child of a main context fetches and saves through it")
  func mainParent() async throws {
    let main = context(.mainQueue)
    let child = context(.privateQueue, parent: main)
    try await child.perform {
      try child.person("Ada")
      try child.save()
    }
    #expect(try await main.perform { main.insertedObjects.count } == 1)
    try await main.perform { try main.save() }
    #expect(try await child.perform { try child.all(Person.self).map { $0.objectID.isTemporaryID } } == [false])
  }

  @Test("a main child of a private parent saves from the main queue")
  @MainActor
  func privateParent() throws {
    let root = context(.privateQueue)
    let main = context(.mainQueue, parent: root)
    let ada = try main.person("Ada")
    try main.save()
    try root.performAndWait { try root.save() }
    #expect(try main.all(Person.self) == [ada])
    #expect(!ada.objectID.isTemporaryID)
  }

  @Test("a confinement context runs its work at once, on the thread that made it")
  func confinement() throws {
    let context = context(.confinement)
    let order = Recorder<Int>()
    context.perform { order.note(1) }
    order.note(2)
    #expect(context.performAndWait { order.items } == [1, 2])
    try context.person("Ada")
    try context.save()
  }
}
