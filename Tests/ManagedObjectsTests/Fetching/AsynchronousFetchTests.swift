import Foundation
import ManagedObjects
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Asynchronous fetches")
struct AsynchronousFetchTests {
  private let byAge = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("age")])

  private func people(_ kind: StoreKind, _ count: Int = 1000) throws -> CompanyStack {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for number in 0..<count { try context.person("P\(number)", age: Int32(number % 100)) }
    try context.save()
    return stack
  }

  /// What a result said when it ended.
  private struct End: Sendable {
    var ages: [Int32?]?
    var error: String?
    var completed: Int64
    var total: Int64

    init(_ result: AsynchronousFetchResult<Person>) {
      ages = result.finalResult?.map(\.age)
      error = result.operationError.map { "\($0)" }
      (completed, total) = (result.progress.completedUnitCount, result.progress.totalUnitCount)
    }
  }

  @Test("the completion has the objects, on the context's queue", arguments: StoreKind.allCases)
  func completion(_ kind: StoreKind) async throws {
    let stack = try people(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (ends, ended) = AsyncStream.makeStream(of: End.self)
    let request = byAge
    try await context.perform { context in
      var asynchronous = AsynchronousFetchRequest(fetchRequest: request) { ended.yield(End($0)) }
      asynchronous.estimatedResultCount = 10
      let result = try context.execute(asynchronous)
      #expect(result.finalResult == nil && result.progress.totalUnitCount == 10)
    }
    let end = try #require(await ends.first { _ in true })
    #expect(end.ages == (0..<1000).map { Int32($0 / 10) })
    #expect(end.completed == 1000 && end.total == 1000 && end.error == nil)
  }

  @Test("unsaved changes count", arguments: StoreKind.allCases)
  func unsavedChanges(_ kind: StoreKind) async throws {
    let stack = try people(kind, 3)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try await context.perform { context in _ = try context.person("New", age: 9) }
    let ages = try await context.fetch(byAge) { $0.map(\.age) }
    #expect(ages == [0, 1, 2, 9])
  }

  /// What happens while the rows of a fetch are on their way.
  enum Meanwhile: String, CaseIterable {
    case otherSaves = "another context saves, and the save is merged"
    case saves = "the context itself saves"
    case keepsSaving = "another context saves again and again"
  }

  @Test(
    "no object is older than what the context has merged or saved", arguments: StoreKind.allCases, Meanwhile.allCases)
  func current(_ kind: StoreKind, _ meanwhile: Meanwhile) async throws {
    let stack = try people(kind, 3)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    context.automaticallyMergesChangesFromParent = true
    let other = meanwhile == .saves ? context : ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let saves = Recorder<Int>()
    stack.breaker.afterFetch = {
      let number = saves.items.count + 1
      guard number <= (meanwhile == .keepsSaving ? 10 : 1) else { return }
      saves.note(number)
      let hook = stack.breaker.afterFetch
      stack.breaker.afterFetch = nil
      #expect(throws: Never.self) {
        try other.performAndWait { other in
          for person in try other.all(Person.self) { person.age = Int32(number * 10) }
          try other.save()
        }
      }
      context.performAndWait { _ in }
      stack.breaker.afterFetch = hook
    }
    let (ends, ended) = AsyncStream.makeStream(of: End.self)
    let request = byAge
    try await context.perform { context in
      _ = try context.execute(AsynchronousFetchRequest(fetchRequest: request) { ended.yield(End($0)) })
    }
    let end = try #require(await ends.first { _ in true })
    #expect(end.error == nil && end.completed == 3)
    let last = Int32(saves.items.count * 10)
    #expect(end.ages == [last, last, last] && last == (meanwhile == .keepsSaving ? 30 : 10))
    try other.performAndWait { other in
      for person in try other.all(Person.self) { person.age = 5 }
      try other.save()
    }
    // The awaited form, with one more save while it reads.
    stack.breaker.afterFetch = {
      stack.breaker.afterFetch = nil
      #expect(throws: Never.self) {
        try other.performAndWait { other in
          for person in try other.all(Person.self) { person.age = 6 }
          try other.save()
        }
      }
      context.performAndWait { _ in }
    }
    let ages = try await context.fetch(request) { people in people.map(\.age) }
    #expect(ages == [6, 6, 6])
  }

  @Test("a fetch that is cancelled ends with an error", arguments: StoreKind.allCases)
  func cancelled(_ kind: StoreKind) async throws {
    let stack = try people(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (ends, ended) = AsyncStream.makeStream(of: End.self)
    let request = byAge
    try await context.perform { context in
      // The queue is busy until the fetch has been cancelled, so that it can't end before.
      let result = try context.execute(AsynchronousFetchRequest(fetchRequest: request) { ended.yield(End($0)) })
      result.cancel()
    }
    let end = try #require(await ends.first { _ in true })
    #expect(end.ages == nil && end.error == "CancellationError()")
  }

  @Test("a failing store is reported", arguments: StoreKind.allCases)
  func failing(_ kind: StoreKind) async throws {
    let stack = try people(kind, 3)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    stack.breaker.isBroken = true
    await #expect(throws: Breaker.error) { try await context.fetch(byAge) { $0.count } }
  }

  @Test("the asynchronous form awaits objects, batches and prefetches", arguments: StoreKind.allCases)
  func awaited(_ kind: StoreKind) async throws {
    let stack = try people(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    var request = byAge
    request.fetchBatchSize = 10
    request.relationshipKeyPathsForPrefetching = ["employer"]
    let found = try await context.fetch(request) { people in people.map { "\($0.isFault) \($0.age ?? -1)" } }
    #expect(found.count == 1000 && found[0] == "true 0" && found[1] == "false 0" && found[999] == "false 99")
  }

  @Test("a cancelled task stops the fetch, in the middle of a statement too", arguments: StoreKind.allCases)
  func cancelledTask(_ kind: StoreKind) async throws {
    let stack = try people(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let request = byAge
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await context.fetch(request) { $0.count }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    // Nothing of the cancelled fetch remains.
    #expect(try await context.fetch(request) { $0.count } == 1000)
  }

  @Test("a running statement is interrupted, and its connection is of use afterwards")
  func interrupted() throws {
    let stack = try people(.sqlite, 2000)
    let entity = try #require(CompanyModel.model.entitiesByName["Person"])
    let store = try #require(stack.coordinator.persistentStores.first).content
    var fetch = StoreFetch(entity: entity)
    let cancelling = Mutex<FetchMonitor?>(nil)
    let seen = Mutex(0)
    let monitor = FetchMonitor { rows in
      seen.withLock { $0 = rows }
      if rows >= 512 { cancelling.withLock { $0 }?.cancel() }
    }
    cancelling.withLock { $0 = monitor }
    fetch.monitor = monitor
    #expect(throws: CancellationError.self) { try store.rows(fetch) }
    #expect(seen.withLock { $0 } == 512)
    fetch.monitor = nil
    #expect(try store.rows(fetch).count == 2000)
    cancelling.withLock { $0 = nil }
  }

  @Test("a context without a queue is refused")
  func withoutQueue() throws {
    let stack = try people(.inMemory, 1)
    #expect(throws: FetchRequestError.noQueue) {
      try stack.context().execute(AsynchronousFetchRequest(fetchRequest: byAge))
    }
  }
}
