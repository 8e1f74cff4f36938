import ManagedObjects
import TestSupport
import Testing

@Suite("Who hears of automatic merges")
struct MergeListenerTests {
  private func save(_ name: String, in context: ManagedObjectContext) throws {
    try context.performAndWait {
      _ = try context.person(name, age: 30)
      try context.save()
    }
  }

  @Test("is told after each how long ago the oldest save was that it took in", arguments: StoreKind.allCases)
  func lags(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, follower) = (
      ManagedObjectContext(.privateQueue, coordinator: stack.coordinator),
      ManagedObjectContext(.privateQueue, coordinator: stack.coordinator)
    )
    let lags = Recorder<Duration>()
    follower.performAndWait { follower.automaticallyMergesChangesFromParent = true }
    follower.didMergeSaves = { lags.note($0) }
    follower.mergingInterval = .seconds(3600)
    let begun = ContinuousClock.now
    try save("Ada", in: writer)
    // What waits is merged before it does anything.
    follower.performAndWait {}
    #expect(lags.items.count == 1)
    let first = ContinuousClock.now
    try save("Ben", in: writer)
    let second = ContinuousClock.now
    try save("Cy", in: writer)
    let last = ContinuousClock.now
    follower.performAndWait {}
    #expect(lags.items.count == 2)
    #expect(lags.items[0] <= begun.duration(to: first))
    #expect(lags.items[1] >= second.duration(to: last) && lags.items[1] <= first.duration(to: .now))
    follower.didMergeSaves = nil
    try save("Di", in: writer)
    follower.performAndWait {}
    #expect(lags.items.count == 2)
  }
}
