import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("The listener of automatic merges")
struct MergeListenerTests {
  private func save(_ name: String, in context: ContextQueue) throws {
    try context.performAndWait { context in
      _ = try context.person(name, age: 30)
      try context.save()
    }
  }

  @Test("learns after each merge how many saves it took and how old the oldest was", arguments: StoreKind.allCases)
  func lags(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, follower) = (
      ContextQueue(.privateQueue, coordinator: stack.coordinator),
      ContextQueue(.privateQueue, coordinator: stack.coordinator)
    )
    let merges = Recorder<SaveMerge>()
    follower.performAndWait { follower in follower.automaticallyMergesChangesFromParent = true }
    follower.didMergeSaves = { merges.note($0) }
    follower.mergingInterval = .seconds(3600)
    follower.announcesChanges = false  // other tests may observe the contexts of the process
    let begun = ContinuousClock.now
    try save("Ada", in: writer)
    // What waits is merged before it does anything.
    follower.performAndWait { _ in }
    #expect(merges.items.count == 1)
    let first = ContinuousClock.now
    try save("Ben", in: writer)
    let second = ContinuousClock.now
    try save("Cy", in: writer)
    let last = ContinuousClock.now
    follower.performAndWait { _ in }
    #expect(merges.items.count == 2)
    #expect(merges.items[0].lag <= begun.duration(to: first))
    #expect(merges.items[1].lag >= second.duration(to: last) && merges.items[1].lag <= first.duration(to: .now))
    #expect(merges.items.map(\.saveCount) == [1, 2])
    #expect(merges.items.map(\.registeredObjectCount) == [0, 0])
    let ben = try follower.performAndWait { follower in
      follower.retainsRegisteredObjects = true
      return try #require(try follower.named("Ben", Person.self)).objectID
    }
    try writer.performAndWait { writer in
      (writer.object(with: ben) as? Person)?.age = 31
      try writer.save()
    }
    follower.performAndWait { _ in }
    #expect(merges.items.map(\.registeredObjectCount) == [0, 0, 1])
    follower.didMergeSaves = nil
    try save("Di", in: writer)
    follower.performAndWait { _ in }
    #expect(merges.items.count == 3)
  }

  @Test("A context counts its objects without listing them", arguments: StoreKind.allCases)
  func registeredObjectCount(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try context.performAndWait { context in
      #expect(context.registeredObjectCount == 0)
      for name in ["Ada", "Ben"] { _ = try context.person(name, age: 30) }
      #expect(context.registeredObjectCount == 2)
      #expect(context.registeredObjectCount == context.registeredObjects.count)
      context.reset()
      #expect(context.registeredObjectCount == 0)
    }
  }
}
