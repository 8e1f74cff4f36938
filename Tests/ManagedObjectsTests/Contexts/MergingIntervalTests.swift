import Foundation
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("How often a context merges by itself")
struct MergingIntervalTests {
  /// A context of the main queue that follows the others, and the ID of a person that it holds.
  private func follower(_ stack: CompanyStack, every interval: Duration) throws -> (
    ContextQueue, ManagedObjectID
  ) {
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let id = try writer.performAndWait { writer in
      let ada = try writer.person("Ada", age: 30)
      try writer.save()
      return ada.objectID
    }
    let main = ContextQueue(.mainQueue, coordinator: stack.coordinator)
    main.mergingInterval = interval
    try main.performAndWait { main in
      main.automaticallyMergesChangesFromParent = true
      main.retainsRegisteredObjects = true
      _ = try main.existingObject(with: id)
    }
    return (main, id)
  }

  private func set(_ age: Int32, of id: ManagedObjectID, _ stack: CompanyStack) throws {
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try writer.performAndWait { writer in
      (writer.object(with: id) as? Person)?.age = age
      try writer.save()
    }
  }

  /// What the main queue sees without asking the context for anything, when all that was queued on it has been done.
  private func seen(_ id: ManagedObjectID, _ main: ContextQueue) async -> Int32? {
    await MainActor.run { (main.current.registeredObject(for: id) as? Person)?.age }
  }

  @Test(
    "a save is merged at once, the next one when the interval is over or the context is used",
    arguments: StoreKind.allCases)
  func interval(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    // So long that it isn't over before the test is.
    let (main, id) = try follower(stack, every: .seconds(3600))
    try set(31, of: id, stack)
    #expect(await seen(id, main) == 31)
    try set(32, of: id, stack)
    try set(33, of: id, stack)
    #expect(await seen(id, main) == 31)
    #expect(main.performAndWait { main in (main.registeredObject(for: id) as? Person)?.age } == 33)
    try set(34, of: id, stack)
    #expect(await seen(id, main) == 33)
    let found = try await MainActor.run { try main.current.count(for: FetchRequest<Person>(entityName: "Person")) }
    #expect(await seen(id, main) == 33 && found == 1, "a fetch merges nothing")
    #expect(main.performAndWait { main in (main.registeredObject(for: id) as? Person)?.age } == 34)
  }

  @Test("without an interval each save is merged at once", arguments: StoreKind.allCases)
  func none(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let (main, id) = try follower(stack, every: .zero)
    for age in Int32(31)...35 {
      try set(age, of: id, stack)
      #expect(await seen(id, main) == age)
    }
  }

  @Test("what waits is merged by itself in the end", arguments: StoreKind.allCases)
  func end(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let (main, id) = try follower(stack, every: .milliseconds(20))
    let (merges, continuation) = AsyncStream<Int>.makeStream()
    let observer = main.observe(ManagedObjectContext.didMergeChangesObjectIDsNotification) { note in
      if let save = ContextSave(note) { continuation.yield(save.updatedObjectIDs.count) }
    }
    defer { observer.cancel() }
    for age in Int32(31)...40 { try set(age, of: id, stack) }
    var count = 0
    for await updated in merges {
      count += updated
      if count == 10 { break }
    }
    #expect(await seen(id, main) == 40)
  }

  @Test("saves that insert and wait together are announced as one, in their order", arguments: StoreKind.allCases)
  func joined(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let (main, id) = try follower(stack, every: .seconds(3600))
    let (merges, continuation) = AsyncStream<[ManagedObjectID]>.makeStream()
    let observer = main.observe(ManagedObjectContext.didMergeChangesObjectIDsNotification) { note in
      let ids = note.userInfo?[ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue] as? Set<ManagedObjectID>
      if let save = ContextSave(note), Set(save.insertedObjectIDs) == ids { continuation.yield(save.insertedObjectIDs) }
    }
    defer { observer.cancel() }
    try set(31, of: id, stack)
    #expect(await seen(id, main) == 31)
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let ids = try (0..<5).map { number in
      try writer.performAndWait { writer in
        // Of the company's entity, which no set leads to from elsewhere.
        let company = try writer.insert("Company")
        try company.setValue(.string("Company \(number)"), forKey: "name")
        try writer.save()
        return company.objectID
      }
    }
    main.performAndWait { _ in }
    continuation.finish()
    var received: [[ManagedObjectID]] = []
    for await merge in merges { received.append(merge) }
    #expect(received == [[], ids])
  }

  /// A writer whose saves insert cities and count them in one sample, as an import counts in its checkpoint.
  private func countingSaves(_ stack: CompanyStack, _ count: Int32) throws -> [ContextSave] {
    let saves = Mutex<[ContextSave]>([])
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let observer = writer.observe(ManagedObjectContext.didSaveObjectsNotification) { note in
      if let save = ContextSave(note) { saves.withLock { $0.append(save) } }
    }
    defer { observer.cancel() }
    try writer.performAndWait { writer in
      let sample = try writer.insert("Sample")
      try writer.save()
      for number in 1...count {
        try writer.insert("City").setValue(.int(Int64(number)), forKey: "code")
        try sample.setValue(.int(Int64(number)), forKey: "medium")
        try writer.save()
      }
    }
    return saves.withLock { $0 }
  }

  @Test("saves that also change the same object wait together, with its last value", arguments: StoreKind.allCases)
  func counted(_ kind: StoreKind) throws {
    let saves = try countingSaves(CompanyStack(kind), 4)
    let mailbox = SaveMailbox()
    mailbox.pause = .seconds(3600)
    for save in saves { _ = mailbox.put(save) }
    let waiting = mailbox.takeAll().saves
    // The first inserted the sample, which the others change.
    #expect(waiting.map(\.insertedObjectIDs.count) == [1, 4])
    let update = try #require(waiting.last?.updated.first)
    let slot = try #require(update.id.entity.propertiesByName["medium"]).slot
    #expect(waiting.last?.updatedObjectIDs == [update.id] && waiting.last?.updated.count == 1)
    #expect(update.values[slot] == .int(4) && update.committed[slot] == .null)
    #expect(waiting.last?.number == saves.last?.number)
  }

  @Test("saves before and after one of the context's own are merged separately", arguments: StoreKind.allCases)
  func sealed(_ kind: StoreKind) throws {
    let saves = try countingSaves(CompanyStack(kind), 4)
    let mailbox = SaveMailbox()
    mailbox.pause = .seconds(3600)
    for save in saves[1...2] { _ = mailbox.put(save) }
    mailbox.noteOwnSave()
    for save in saves[3...4] { _ = mailbox.put(save) }
    #expect(mailbox.takeAll().saves.map(\.insertedObjectIDs.count) == [2, 2])
  }
}
