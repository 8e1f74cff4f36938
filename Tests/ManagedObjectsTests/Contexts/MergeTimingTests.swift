import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("When a context merges what others save")
struct MergeTimingTests {
  private let people = FetchRequest<Person>(entityName: "Person")

  /// A background context that merges by itself.
  private func follower(_ stack: StackFixture) -> ContextQueue {
    let context = stack.container.newBackgroundContext()
    context.performAndWait { context in
      context.automaticallyMergesChangesFromParent = true
      context.retainsRegisteredObjects = true
    }
    return context
  }

  /// Has another background context save an age, and waits until the save has reached the contexts that merge.
  private func save(_ age: Int32, of id: ManagedObjectID, _ stack: StackFixture) throws {
    let other = stack.container.newBackgroundContext()
    stack.setAge(age, of: id, in: other)
    try stack.save(other)
    stack.settle()
  }

  @Test("nothing is merged within a block, so a save finds what would be a lost update", arguments: StackCase.all)
  func lostUpdate(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let context = follower(stack)
    #expect {
      try context.performAndWait { context in
        let ada = try #require(try context.existingObject(with: id) as? Person)
        let age = try #require(ada.age)
        try save(age + 10, of: id, stack)
        _ = try context.count(for: people)
        _ = try context.fetchIDs(people)
        _ = try context.fetchDictionaries(people)
        _ = try context.all(Person.self)
        context.performAndWait { _ in }
        context.processPendingChanges()
        #expect(ada.age == 30)
        ada.age = age + 1
        try context.save()
      }
    } throws: { error in
      if case ManagedObjectError.mergeConflicts(let conflicts) = error {
        conflicts.map(\.objectID) == [id]
      } else {
        false
      }
    }
    context.performAndWait { context in context.rollback() }
    #expect(stack.age(of: id, in: context) == 40)
  }

  @Test("a save of other objects doesn't merge either, and its objects stay as they are", arguments: StackCase.all)
  func otherObjects(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let context = follower(stack)
    try context.performAndWait { context in
      let ada = try #require(try context.existingObject(with: id) as? Person)
      try save(40, of: id, stack)
      try context.person("Bob")
      try context.save()
      #expect(ada.age == 30)
    }
    #expect(stack.age(of: id, in: context) == 40, "the next block begins with the merge")
  }

  @Test("an outermost block begins with what waits, however it is run", arguments: StackCase.all)
  func beginning(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let context = follower(stack)
    context.mergingInterval = .seconds(3600)
    #expect(stack.age(of: id, in: context) == 30)
    for age in Int32(31)...33 {
      try save(age, of: id, stack)
      #expect(stack.age(of: id, in: context) == age)
    }
    try save(34, of: id, stack)
    let seen = await context.perform { context in (context.registeredObject(for: id) as? Person)?.age }
    #expect(seen == 34)
  }

  @Test("a save that waits is merged between two blocks, though neither asks for it", arguments: StackCase.all)
  func between(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let context = follower(stack)
    #expect(stack.age(of: id, in: context) == 30)
    let (merges, continuation) = AsyncStream<Void>.makeStream()
    context.didMergeSaves = { _ in continuation.yield() }
    try save(31, of: id, stack)
    for await _ in merges { break }
    #expect(stack.age(of: id, in: context) == 31)
  }

  @Test("a confinement context merges when it is asked to, and at no other time", arguments: StoreKind.allCases)
  func confinement(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let other = try there.person("Ada", age: 30)
    try there.save()
    let ada = try #require(try here.named("Ada", Person.self))
    other.age = 40
    let save = try #require(try there.saveAndTell())
    _ = try here.all(Person.self)
    here.performAndWait { _ in }
    try here.save()
    #expect(ada.age == 30)
    here.mergeChanges(fromContextDidSave: save)
    #expect(ada.age == 40)
  }
}
