import Dispatch
import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("What each of the three stacks does, over both stores")
struct StackConformanceTests {
  @Test("one call sets it up", arguments: StackCase.all)
  func setUp(_ kind: StackCase) throws {
    let container = try PersistentContainer(
      name: "people", model: CompanyModel.model, stores: [.inMemory()], stack: kind.stack)
    let background = container.newBackgroundContext()
    #expect(container.viewContext.concurrencyType == .mainQueue && background.concurrencyType == .privateQueue)
    #expect(container.viewContext.name == "people view")
    #expect(!container.viewContext.automaticallyMergesChangesFromParent)
    switch kind.stack {
    case .independent:
      #expect(container.viewContext.parent == nil && background.parent == nil && container.writerContext == nil)
    case .mainWithChildren:
      #expect(container.viewContext.parent == nil && background.parent == container.viewContext)
      #expect(container.writerContext == nil)
    case .privateWriter:
      #expect(background.parent == container.viewContext && container.viewContext.parent == container.writerContext)
      #expect(container.writerContext?.parent == nil && container.writerContext?.concurrencyType == .privateQueue)
    }
  }

  @Test("what the background saves reaches the store and the view", arguments: StackCase.all)
  func saves(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    #expect(stack.age(of: id, in: stack.view) == 30)
    let background = stack.container.newBackgroundContext()
    stack.setAge(31, of: id, in: background)
    try stack.insert("Bob", in: background)
    try await background.saveToPersistentStore()
    stack.settle()
    #expect(try stack.stored() == ["Ada 31", "Bob 0"])
    #expect(stack.age(of: id, in: stack.view) == 31)
    #expect(try stack.names(in: stack.view) == ["Ada 31", "Bob 0"])
    #expect(stack.view.performAndWait { view in !view.hasChanges })
  }

  @Test("a save goes one level up, and no further", arguments: StackCase.all)
  func oneLevel(_ kind: StackCase) throws {
    let stack = try kind.make()
    let background = stack.container.newBackgroundContext()
    try stack.insert("Ada", in: background)
    try stack.save(background)
    stack.settle()
    #expect(try stack.stored() == (kind.isNested ? [] : ["Ada 0"]))
    #expect(try stack.names(in: stack.view) == ["Ada 0"])
    #expect(stack.view.performAndWait { view in view.hasChanges } == kind.isNested)
    try stack.save(stack.view)
    #expect(try stack.stored() == (kind.stack == .privateWriter ? [] : ["Ada 0"]))
    if let writer = stack.container.writerContext { try stack.save(writer) }
    #expect(try stack.stored() == ["Ada 0"])
  }

  @Test("siblings don't learn of each other's saves until they merge them", arguments: StackCase.all)
  func siblings(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let (one, two) = (stack.container.newBackgroundContext(), stack.container.newBackgroundContext())
    #expect(stack.age(of: id, in: one) == 30 && stack.age(of: id, in: two) == 30)
    stack.setAge(31, of: id, in: one)
    let save = try #require(try one.performAndWait { one in try one.saveAndTell() })
    stack.settle()
    #expect(stack.age(of: id, in: stack.view) == 31, "the view has it")
    #expect(stack.age(of: id, in: two) == 30)
    two.performAndWait { two in two.mergeChanges(fromContextDidSave: save) }
    #expect(stack.age(of: id, in: two) == 31)
    stack.setAge(32, of: id, in: two)
    try stack.save(two)
    stack.settle()
    #expect(stack.age(of: id, in: stack.view) == 32)
  }

  @Test("a background context isn't refreshed by the view's changes and saves", arguments: StackCase.all)
  func notRefreshed(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let background = stack.container.newBackgroundContext()
    #expect(stack.age(of: id, in: background) == 30)
    stack.setAge(31, of: id, in: stack.view)
    try await stack.view.saveToPersistentStore()
    #expect(try stack.stored() == ["Ada 31"])
    #expect(stack.age(of: id, in: background) == 30)
    background.performAndWait { background in background.refreshAllObjects() }
    #expect(stack.age(of: id, in: background) == 31)
  }

  @Test("unsaved changes stay in their context, and are dropped with it", arguments: StackCase.all)
  func dropped(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    do {
      let background = stack.container.newBackgroundContext()
      try stack.insert("Lost", in: background)
      stack.setAge(99, of: id, in: background)
      #expect(try stack.names(in: stack.view) == ["Ada 30"])
    }
    try await stack.view.saveToPersistentStore()
    #expect(try stack.names(in: stack.view) == ["Ada 30"])
    #expect(try stack.stored() == ["Ada 30"])
  }

  @Test("temporary IDs become permanent together, all the way down", arguments: StackCase.all)
  func identity(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let background = stack.container.newBackgroundContext()
    let temporary = try stack.insert("Ada", age: 30, in: background)
    #expect(temporary.isTemporaryID)
    try stack.save(background)
    stack.settle()
    if kind.isNested { #expect(stack.age(of: temporary, in: stack.view) == 30, "the same ID one level up") }
    try await background.saveToPersistentStore()
    try await stack.view.saveToPersistentStore()
    let ids = try [background, stack.view].map { context in
      try context.performAndWait { context in try context.all(Person.self).map(\.objectID) }
    }
    #expect(ids[0].count == 1 && ids[0] == ids[1] && !ids[0][0].isTemporaryID)
    #expect(
      background.performAndWait { background in background.registeredObjects.count } == 1, "one object for one row")
    stack.setAge(31, of: ids[0][0], in: background)
    try await background.saveToPersistentStore()
    #expect(try stack.stored() == ["Ada 31"])
  }

  @Test("deletions and relationships go all the way", arguments: StackCase.all)
  func graph(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let (view, background) = (stack.view, stack.container.newBackgroundContext())
    let id = try await stack.savedPerson("Ada", age: 30)
    try view.performAndWait { view in
      view.retainsRegisteredObjects = true
      (view.object(with: id) as? Person)?.employer = try view.company("Acme")
    }
    try await view.saveToPersistentStore()
    try background.performAndWait { background in
      let ada = try #require(background.object(with: id) as? Person)
      try background.person("Bob").employer = ada.employer
      background.delete(ada)
    }
    try await background.saveToPersistentStore()
    stack.settle()
    #expect(try stack.stored() == ["Bob 0"])
    let employees = try view.performAndWait { view in try view.named("Acme", Company.self)?.employees.map(\.name) }
    #expect(employees == ["Bob"])
  }

  @Test("an error leaves the changes where they couldn't be saved, to be corrected", arguments: StackCase.all)
  func errors(_ kind: StackCase) async throws {
    let stack = try kind.make()
    try stack.insert("Ada", email: "a@x", in: stack.view)
    try await stack.view.saveToPersistentStore()
    let background = stack.container.newBackgroundContext()
    try stack.insert("Twin", email: "a@x", in: background)
    await #expect(throws: ManagedObjectError.self) { try await background.saveToPersistentStore() }
    #expect(try stack.stored() == ["Ada 0"])
    let holder = stack.container.writerContext ?? (kind.isNested ? stack.view : background)
    #expect(holder.performAndWait { holder in holder.insertedObjects.count } == 1)
    try holder.performAndWait { holder in try holder.named("Twin", Person.self)?.email = "b@x" }
    try await holder.saveToPersistentStore()
    #expect(try stack.stored() == ["Ada 0", "Twin 0"])

    try stack.insert("x", in: background)
    await #expect(throws: ManagedObjectError.self) { try await background.saveToPersistentStore() }
    #expect(
      background.performAndWait { background in background.insertedObjects.count } == 1, "what isn't valid goes nowhere"
    )
  }

  @Test("a background task gives back what it found, throws, and leaves nothing behind", arguments: StackCase.all)
  func tasks(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let count = try await stack.container.performBackgroundTask { context in
      try context.person("Ada")
      try context.save()
      try context.person("Lost")
      return context.insertedObjects.count
    }
    #expect(count == 1)
    stack.settle()
    #expect(try stack.names(in: stack.view) == ["Ada 0"])
    await #expect(throws: ManagedObjectError.self) {
      try await stack.container.performBackgroundTask { try $0.insert("Nobody").objectID }
    }
    let done = DispatchSemaphore(value: 0)
    schedule(stack.container, done)
    done.wait()
  }

  /// Of the two forms, asynchronous code always gets the one that waits; this one is for the other.
  private func schedule(_ container: PersistentContainer, _ done: DispatchSemaphore) {
    container.performBackgroundTask { _ in done.signal() }
  }

  @Test("many background contexts at once lose nothing and double nothing", arguments: StackCase.all)
  func crowd(_ kind: StackCase) async throws {
    let stack = try kind.make()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          let context = stack.container.newBackgroundContext()
          for step in 0..<10 {
            try stack.insert("w\(worker) s\(step)", in: context)
            try await context.saveToPersistentStore()
          }
        }
      }
      try await group.waitForAll()
    }
    try await stack.view.saveToPersistentStore()
    stack.settle()
    #expect(try stack.stored().count == 40)
    #expect(try Set(stack.names(in: stack.view)).count == 40)
  }

  @Test("it works from the main queue", arguments: StackCase.all)
  func mainQueue(_ kind: StackCase) async throws {
    let stack = try kind.make(viewQueue: .mainQueue)
    try await stack.container.performBackgroundTask { context in
      try context.person("Ada", age: 1)
      try context.save()
    }
    try await stack.view.saveToPersistentStore()
    let names = try await stack.view.perform { view in try view.all(Person.self).map(\.name) }
    #expect(names == ["Ada"])
    #expect(try stack.stored() == ["Ada 1"])
  }

  @Test("while the writer's save is in the store's hands the view fetches on", arguments: StoreKind.allCases)
  func viewDoesntWait(_ kind: StoreKind) async throws {
    let stack = try StackCase(stack: .privateWriter, store: kind).make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let background = stack.container.newBackgroundContext()
    stack.setAge(31, of: id, in: background)
    try stack.insert("Bob", in: background)
    let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    stack.company.breaker.beforeWrite = {
      begun.signal()
      released.wait()
    }
    async let saved = background.saveToPersistentStore()
    await wait(for: begun)
    stack.view.performAndWait { view in view.refreshAllObjects() }
    #expect(try stack.names(in: stack.view) == ["Ada 31", "Bob 0"])
    #expect(stack.age(of: id, in: stack.view) == 31)
    #expect(try stack.stored() == ["Ada 30"], "it isn't in the store yet")
    stack.company.breaker.beforeWrite = nil
    released.signal()
    #expect(try await saved)
    #expect(try stack.stored() == ["Ada 31", "Bob 0"])
    #expect(try stack.names(in: stack.view) == ["Ada 31", "Bob 0"])
  }

  private func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        semaphore.wait()
        continuation.resume()
      }
    }
  }
}
