import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merging by itself what others save")
struct AutomaticMergeTests {
  private func context(_ stack: CompanyStack, under parent: ContextQueue? = nil) -> ContextQueue {
    if let parent { return ContextQueue(.privateQueue, parent: parent) }
    return ContextQueue(.privateQueue, coordinator: stack.coordinator)
  }

  /// Makes a context follow what others save, and know a person.
  private func follow(_ context: ContextQueue, _ id: ManagedObjectID) throws {
    try context.performAndWait { context in
      context.automaticallyMergesChangesFromParent = true
      context.retainsRegisteredObjects = true
      _ = try context.existingObject(with: id)
    }
  }

  private func age(of id: ManagedObjectID, in context: ContextQueue) -> Int32? {
    context.performAndWait { context in (context.registeredObject(for: id) as? Person)?.age }
  }

  private func person(_ stack: CompanyStack) throws -> ManagedObjectID {
    let writer = context(stack)
    return try writer.performAndWait { writer in
      let ada = try writer.person("Ada", age: 30)
      try writer.save()
      return ada.objectID
    }
  }

  private func set(_ age: Int32, of id: ManagedObjectID, in context: ContextQueue) throws {
    try context.performAndWait { context in
      (context.object(with: id) as? Person)?.age = age
      try context.save()
    }
  }

  @Test("a context of the coordinator follows the others, if it is set to", arguments: StoreKind.allCases)
  func coordinator(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    let (main, other, deaf) = (context(stack), context(stack), context(stack))
    try follow(main, id)
    try follow(deaf, id)
    deaf.performAndWait { deaf in deaf.automaticallyMergesChangesFromParent = false }
    #expect(main.automaticallyMergesChangesFromParent && !deaf.automaticallyMergesChangesFromParent)
    try set(31, of: id, in: other)
    #expect(age(of: id, in: main) == 31 && age(of: id, in: deaf) == 30)
    try set(32, of: id, in: main)
    #expect(age(of: id, in: main) == 32)
    #expect(main.performAndWait { main in !main.hasChanges })
  }

  @Test("saves that race arrive in the order of the store", arguments: StoreKind.allCases)
  func races(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    let main = context(stack)
    try follow(main, id)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        let context = context(stack)
        group.addTask {
          for step in 0..<25 {
            // Whoever comes too late to change the row tries no more.
            context.performAndWait { context in
              context.reset()
              (context.object(with: id) as? Person)?.age = Int32(writer * 25 + step)
              do { try context.save() } catch { context.rollback() }
            }
          }
        }
      }
    }
    let reader = context(stack)
    let stored = try reader.performAndWait { reader in try (reader.existingObject(with: id) as? Person)?.age }
    #expect(age(of: id, in: main) == stored)
  }

  @Test("a child follows its siblings, its parent and what its parent merges", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    let main = context(stack)
    try follow(main, id)
    let (one, two) = (context(stack, under: main), context(stack, under: main))
    try follow(one, id)
    try set(31, of: id, in: two)
    #expect(age(of: id, in: main) == 31 && age(of: id, in: one) == 31, "a sibling's save")
    try set(32, of: id, in: main)
    #expect(age(of: id, in: one) == 32, "the parent's save")
    let elsewhere = context(stack)
    try set(33, of: id, in: elsewhere)
    #expect(age(of: id, in: main) == 33 && age(of: id, in: one) == 33, "what the parent merged")
    try set(34, of: id, in: one)
    #expect(age(of: id, in: main) == 34, "and it can still save")
  }

  @Test("of what its parent has changed, a child learns what the parent has", arguments: StoreKind.allCases)
  func parentChanges(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    let main = context(stack)
    try follow(main, id)
    let child = context(stack, under: main)
    main.performAndWait { main in (main.object(with: id) as? Person)?.age = 50 }
    try follow(child, id)
    #expect(age(of: id, in: child) == 50)
    let elsewhere = context(stack)
    try elsewhere.performAndWait { elsewhere in
      let ada = elsewhere.object(with: id) as? Person
      ada?.age = 31
      ada?.email = "ada@example.org"
      try elsewhere.save()
    }
    main.performAndWait { _ in }
    #expect(age(of: id, in: child) == 50)
    #expect(
      child.performAndWait { child in (child.registeredObject(for: id) as? Person)?.email } == "ada@example.org")
  }

  @Test("grandchildren learn of what their uncles save", arguments: StoreKind.allCases)
  func grandchildren(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    let root = context(stack)
    let (main, uncle) = (context(stack, under: root), context(stack, under: root))
    let leaf = context(stack, under: main)
    try follow(main, id)
    try follow(leaf, id)
    try set(31, of: id, in: uncle)
    root.performAndWait { _ in }
    #expect(age(of: id, in: main) == 31 && age(of: id, in: leaf) == 31)
    try root.performAndWait { root in try root.save() }
    #expect(age(of: id, in: main) == 31 && age(of: id, in: leaf) == 31)
  }

  @Test("a context that is dropped isn't kept by those it follows", arguments: StoreKind.allCases)
  func dropped(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try person(stack)
    var dropped: WeakContextQueue?
    do {
      let context = context(stack)
      try follow(context, id)
      dropped = WeakContextQueue(context)
    }
    #expect(dropped?.queue == nil)
    try set(31, of: id, in: context(stack))
  }
}
