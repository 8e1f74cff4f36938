import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Saves that are merged after a later one was made")
struct LateMergeTests {
  private func set(_ age: Int32, of id: ManagedObjectID, in context: ContextQueue) throws {
    try context.performAndWait { context in
      (context.object(with: id) as? Person)?.age = age
      try context.save()
    }
  }

  private func set(sample value: Int64, of id: ManagedObjectID, in context: ContextQueue) throws {
    try context.performAndWait { context in
      try context.existingObject(with: id).setValue(.int(value), forKey: "medium")
      try context.save()
    }
  }

  private func age(of id: ManagedObjectID, in context: ContextQueue) -> Int32? {
    context.performAndWait { context in (context.registeredObject(for: id) as? Person)?.age }
  }

  private func saved(_ stack: CompanyStack) throws -> ManagedObjectID {
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    return try writer.performAndWait { writer in
      let ada = try writer.person("Ada", age: 30)
      try writer.save()
      return ada.objectID
    }
  }

  /// Runs `body` once, when the context posts.
  private func once(_ name: Notification.Name, _ context: ContextQueue, _ body: @escaping @Sendable () -> Void)
    -> ContextObservation
  {
    let isDone = Recorder<Bool>()
    return context.observe(name) { _ in
      guard isDone.items.isEmpty else { return }
      isDone.note(true)
      body()
    }
  }

  @Test(
    "don't take back what the context has saved since, into the store or into its parent",
    arguments: StoreKind.allCases, [false, true])
  func ownSave(_ kind: StoreKind, _ isChild: Bool) throws {
    let stack = try CompanyStack(kind)
    let id = try saved(stack)
    let parent = isChild ? ContextQueue(.privateQueue, coordinator: stack.coordinator) : nil
    func context() -> ContextQueue {
      if let parent { return ContextQueue(.privateQueue, parent: parent) }
      return ContextQueue(.privateQueue, coordinator: stack.coordinator)
    }
    let (main, other) = (context(), context())
    try main.performAndWait { main in
      main.automaticallyMergesChangesFromParent = true
      main.retainsRegisteredObjects = true
      main.mergePolicy = .mergeByPropertyObjectTrump
      _ = try main.existingObject(with: id)
    }
    // Another context saves when this one is about to: what it saved waits until this one has.
    let observer = once(ManagedObjectContext.willSaveObjectsNotification, main) {
      #expect(throws: Never.self) { try set(31, of: id, in: other) }
      parent?.performAndWait { _ in }
    }
    defer { observer.cancel() }
    try set(32, of: id, in: main)
    #expect(age(of: id, in: main) == 32)
    #expect(main.performAndWait { main in !main.hasChanges })
    try parent?.performAndWait { parent in try parent.save() }
    #expect(try stack.context().all(Person.self).map(\.age) == [32])
    // What comes after it counts again.
    try set(33, of: id, in: context())
    parent?.performAndWait { _ in }
    #expect(age(of: id, in: main) == 33)
  }

  @Test(
    "don't take back what a child has saved since, though saves that follow it wait with them",
    arguments: StoreKind.allCases, [false, true])
  func joined(_ kind: StoreKind, _ isSibling: Bool) throws {
    let stack = try CompanyStack(kind)
    let maker = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let ids = try maker.performAndWait { maker in
      let samples = try (0..<2).map { _ in try maker.insert("Sample") }
      try maker.save()
      return samples.map(\.objectID)
    }
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    parent.performAndWait { parent in
      parent.automaticallyMergesChangesFromParent = true
      parent.retainsRegisteredObjects = true
    }
    let other =
      isSibling
      ? ContextQueue(.privateQueue, parent: parent)
      : ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let child = ContextQueue(.privateQueue, parent: parent)
    child.mergingInterval = .seconds(3600)
    try child.performAndWait { child in
      child.automaticallyMergesChangesFromParent = true
      child.retainsRegisteredObjects = true
      child.mergePolicy = .mergeByPropertyObjectTrump
      for id in ids { _ = try child.existingObject(with: id) }
    }
    // Another context saves before the child's save reaches the parent, and again after it has.
    let before = once(ManagedObjectContext.willSaveObjectsNotification, child) {
      #expect(throws: Never.self) { try set(sample: 1, of: ids[0], in: other) }
      parent.performAndWait { _ in }
    }
    let after = once(ManagedObjectContext.didSaveObjectsNotification, child) {
      #expect(throws: Never.self) { try set(sample: 2, of: ids[1], in: other) }
      parent.performAndWait { _ in }
    }
    defer { for observer in [before, after] { observer.cancel() } }
    try set(sample: 9, of: ids[0], in: child)
    let values = try child.performAndWait { child in
      try ids.map { try child.existingObject(with: $0).value(forKey: "medium") }
    }
    #expect(values == [.int(9), .int(2)])
    #expect(child.performAndWait { child in !child.hasChanges })
  }

  @Test("don't bring a child what its parent has had others for since", arguments: StoreKind.allCases)
  func parentsSave(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try saved(stack)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (follower, first, second) = (
      ContextQueue(.privateQueue, parent: parent), ContextQueue(.privateQueue, parent: parent),
      ContextQueue(.privateQueue, parent: parent)
    )
    parent.performAndWait { parent in parent.retainsRegisteredObjects = true }
    try follower.performAndWait { follower in
      follower.automaticallyMergesChangesFromParent = true
      follower.retainsRegisteredObjects = true
      _ = try follower.existingObject(with: id)
    }
    // The other child's save reaches the parent, which saves it before the first child's save is delivered.
    let observer = once(ManagedObjectContext.didSaveObjectsNotification, first) {
      #expect(throws: Never.self) {
        try set(32, of: id, in: second)
        try parent.performAndWait { parent in try parent.save() }
      }
    }
    defer { observer.cancel() }
    try set(31, of: id, in: first)
    parent.performAndWait { _ in }
    #expect(try stack.context().all(Person.self).map(\.age) == [32])
    #expect(age(of: id, in: follower) == 32)
  }

  @Test("a merging interval may be longer than clocks can count", arguments: StoreKind.allCases)
  func longInterval(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let id = try saved(stack)
    let main = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let other = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    main.mergingInterval = .seconds(Int64.max)
    try main.performAndWait { main in
      main.automaticallyMergesChangesFromParent = true
      main.retainsRegisteredObjects = true
      _ = try main.existingObject(with: id)
    }
    for number in Int32(31)...33 {
      try set(number, of: id, in: other)
      #expect(age(of: id, in: main) == number)
    }
  }
}
