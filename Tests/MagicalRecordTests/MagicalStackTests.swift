import Dispatch
import Foundation
import MagicalRecord
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

/// Everything that needs the program's one stack. One test at a time, for there is one stack.
@Suite("MagicalRecord's stack", .serialized, .timeLimit(.minutes(20)))
struct MagicalStackTests {
  private struct Refused: Error {}

  private func withStack<T>(
    _ kind: StoreKind, _ nesting: MagicalStack.Nesting = .savingContext, _ body: (MagicalStack) async throws -> T
  ) async throws -> T {
    let scratch = try ScratchDirectory()
    let store = kind == .inMemory ? PersistentStoreDescription.inMemory() : .sqlite(at: scratch.file("m.sqlite"))
    let stack = try MagicalStack(model: CompanyModel.model, store: store, nesting: nesting)
    MagicalRecord.setUp(stack)
    MagicalRecord.setLogHandler { _, _ in }
    defer {
      MagicalRecord.setErrorHandler(nil)
      MagicalRecord.cleanUp()
    }
    let result = try await body(stack)
    try stack.coordinator.close()
    return result
  }

  private static let all: [(StoreKind, MagicalStack.Nesting)] = [
    (.inMemory, .savingContext), (.inMemory, .none), (.sqlite, .savingContext), (.sqlite, .none),
  ]

  @Test("saves a block's changes to the store, and the default context takes them in", arguments: all)
  func save(_ kind: StoreKind, _ nesting: MagicalStack.Nesting) async throws {
    try await withStack(kind, nesting) { stack in
      let id = try await stack.defaultContext.perform { defaultContext in
        let ada = try Person.createEntity(in: defaultContext)
        ada.name = "Ada"
        #expect(defaultContext.saveToPersistentStoreAndWait().didSave)
        return ada.objectID
      }
      let saved = try await MagicalRecord.save { context in
        try Person.findFirst(by: "name", with: "Ada", in: context)?.age = 36
      }
      #expect(saved)
      // The merge was queued before the save's end was announced.
      let age = await stack.defaultContext.perform { context in
        (context.object(with: id) as? Person)?.age
      }
      #expect(age == 36)
      let fresh = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      #expect(try await fresh.perform { fresh in try Person.findAll(in: fresh).map(\.age) } == [36])
    }
  }

  @Test("saves a block of a context through it to the store", arguments: all)
  func blockOfAContext(_ kind: StoreKind, _ nesting: MagicalStack.Nesting) async throws {
    try await withStack(kind, nesting) { stack in
      let context = stack.newPrivateContext(name: "outer")
      try await context.perform { context in try Person.createEntity(in: context).name = "Ada" }
      #expect(try await context.save { try Person.createEntity(in: $0).name = "Bo" })
      #expect(try context.saveAndWait { try Person.findFirst(by: "name", with: "Bo", in: $0)?.age = 20 })
      #expect(try await context.save { _ in } == false)
      await #expect(throws: Refused.self) { try await context.save { _ in throw Refused() } }
      let fresh = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      let found = try await fresh.perform { fresh in
        try Person.findAll(sortedBy: "name", in: fresh).map { [$0.name, "\($0.age ?? 0)"] }
      }
      #expect(found == [["Ada", "0"], ["Bo", "20"]])
    }
  }

  @Test("saves a thread's own context without waiting for the store", arguments: all)
  func threadContext(_ kind: StoreKind, _ nesting: MagicalStack.Nesting) async throws {
    try await withStack(kind, nesting) { stack in
      func outcome(_ block: @escaping @Sendable (ManagedObjectContext) throws -> Void) async -> MagicalSaveOutcome {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            MagicalRecord.saveUsingCurrentThreadContext(block) { continuation.resume(returning: $0) }
          }
        }
      }
      #expect(await outcome { try Person.createEntity(in: $0).name = "Ada" }.didSave)
      #expect(await outcome { _ in throw Refused() }.error is Refused)
      #expect(await outcome { try Person.createEntity(in: $0).name = nil }.error is ManagedObjectError)
      guard case .noChanges = await outcome({ _ in }) else { throw Refused() }
      let fresh = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      #expect(try await fresh.perform { fresh in try Person.findAll(in: fresh).map(\.name) } == ["Ada"])
    }
  }

  @Test("requests have the batch size that was set")
  func batchSize() async throws {
    try await withStack(.inMemory) { stack in
      defer { Person.defaultBatchSize = 0 }
      #expect(Company.defaultBatchSize == 0)
      Person.defaultBatchSize = 50
      #expect(Company.defaultBatchSize == 50)
      let size = try await stack.defaultContext.perform { defaultContext in
        try Person.requestAll(sortedBy: "name", in: defaultContext).fetchBatchSize
      }
      #expect(size == 50)
    }
  }

  @Test("distinguishes a save without changes from a failed one, on the main queue")
  func outcomes() async throws {
    try await withStack(.inMemory) { _ in
      func outcome(_ block: @escaping @Sendable (ManagedObjectContext) throws -> Void) async -> MagicalSaveOutcome {
        await withCheckedContinuation { continuation in
          MagicalRecord.save(block) { outcome in
            dispatchPrecondition(condition: .onQueue(.main))
            continuation.resume(returning: outcome)
          }
        }
      }
      guard case .noChanges = await outcome({ _ in }) else { throw Refused() }
      guard case .saved = await outcome({ try Person.createEntity(in: $0).name = "Ada" }) else { throw Refused() }
      let heard = Recorder<String>()
      MagicalRecord.setErrorHandler { heard.note("\($0)") }
      let invalid = await outcome { try Person.createEntity(in: $0).name = nil }
      #expect(invalid.error is ManagedObjectError)
      #expect(heard.items.count == 1)
      let thrown = await outcome {
        try Person.createEntity(in: $0).name = "lost"
        throw Refused()
      }
      #expect(thrown.error is Refused)
      #expect(heard.items.count == 2)
      #expect(try MagicalRecord.saveAndWait { _ in } == false)
      #expect(try MagicalRecord.saveAndWait { try Person.createEntity(in: $0).name = "Bo" })
      #expect(throws: Refused.self) { try MagicalRecord.saveAndWait { _ in throw Refused() } }
      let counted = Recorder<Int>()
      #expect(try MagicalRecord.saveAndWait { counted.note(try Person.countOfEntities(in: $0)) } == false)
      #expect(counted.items == [2])
    }
  }

  @Test("saves one level, or all of them", arguments: StoreKind.allCases)
  func levels(_ kind: StoreKind) async throws {
    try await withStack(kind) { stack in
      let context = stack.newPrivateContext()
      try await context.perform { context in try Person.createEntity(in: context).name = "Ada" }
      #expect(context.saveOnlySelfAndWait().didSave)
      let store = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      #expect(try await store.perform { store in try Person.countOfEntities(in: store) } == 0)
      #expect(!context.saveOnlySelfAndWait().didSave)
      // The level above has the changes still: what is saved upwards isn't only the context's own.
      #expect(try await context.saveToPersistentStore())
      #expect(try await store.perform { store in try Person.countOfEntities(in: store) } == 1)
      #expect(try await context.saveToPersistentStore() == false)
    }
  }

  @Test("gives each thread a context, which a reset drops", arguments: all)
  func threads(_ kind: StoreKind, _ nesting: MagicalStack.Nesting) async throws {
    try await withStack(kind, nesting) { stack in
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async {
          #expect((try? MagicalRecord.contextForCurrentThread())?.queue == stack.defaultContext)
          continuation.resume()
        }
      }
      try await onThread {
        let context = try MagicalRecord.contextForCurrentThread()
        #expect(context.queue != stack.defaultContext)
        #expect(try MagicalRecord.contextForCurrentThread() === context)
        try Person.createEntity().name = "unsaved"
        #expect(try Person.countOfEntities() == 1)
        MagicalRecord.resetContextForCurrentThread()
        #expect(try MagicalRecord.contextForCurrentThread() !== context)
        #expect(try Person.countOfEntities() == 0)
        try Person.createEntity().name = "saved"
        #expect(try MagicalRecord.contextForCurrentThread().saveToPersistentStoreAndWait().didSave)
      }
      try await onThread {
        let names = try Person.findAll().map(\.name)
        #expect(names == ["saved"])
      }
    }
  }

  /// A worker that leaves something unsaved, and counts what it finds at its start.
  private final class Worker: MagicalOperation, @unchecked Sendable {
    // Sendable: constant but for the recorder, which is safe from any thread.
    let found: Recorder<Int>
    init(_ found: Recorder<Int>) { self.found = found }
    override func work(in context: ManagedObjectContext) throws {
      found.note(context.insertedObjects.count)
      try Person.createEntity().name = "left behind"
      #expect(try MagicalRecord.contextForCurrentThread() === context)
    }
  }

  @Test("starts every operation with a context of its own, on whatever thread it runs")
  func operations() async throws {
    try await withStack(.inMemory) { _ in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let found = Recorder<Int>()
      for _ in 0..<20 { queue.addOperation(Worker(found)) }
      await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
      #expect(found.items == Array(repeating: 0, count: 20))
    }
  }

  @Test("says that there is no stack")
  func noStack() async throws {
    try await onThread {
      #expect(throws: MagicalRecordError.noStack) { try Person.findAll() }
      #expect(throws: MagicalRecordError.noStack) { try MagicalRecord.saveAndWait { _ in } }
    }
    await #expect(throws: MagicalRecordError.noStack) { try await MagicalRecord.save { _ in } }
  }

  @Test("logs up to its level")
  func logging() async throws {
    let lines = Recorder<MagicalRecord.LoggingLevel>()
    try await withStack(.inMemory) { stack in
      MagicalRecord.setLogHandler { level, _ in lines.note(level) }
      let before = MagicalRecord.loggingLevel
      defer { MagicalRecord.loggingLevel = before }
      for level in MagicalRecord.LoggingLevel.allCases {
        MagicalRecord.loggingLevel = level
        try MagicalRecord.saveAndWait { _ in }
        try MagicalRecord.saveAndWait { try Person.createEntity(in: $0).name = "Ada" }
        #expect(lines.items.allSatisfy { $0 <= level })
      }
      #expect(Set(lines.items) == [.warn, .verbose])
    }
  }

  /// Runs a body on a thread of its own.
  private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
}
