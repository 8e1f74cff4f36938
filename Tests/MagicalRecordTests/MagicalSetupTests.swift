import Foundation
import MagicalRecord
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// In the suite of the program's one stack, of which there is one at a time.
extension MagicalStackTests {
  private static func model(_ attributes: String...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition("Thing", attributes: attributes.map { AttributeDefinition($0, .string) })
    ])
  }

  private func cleanUp(_ stack: MagicalStack) throws {
    MagicalRecord.cleanUp()
    try stack.coordinator.close()
  }

  @Test("sets up a stack at a URL, and migrates only if it is asked to", arguments: [MagicalStack.Nesting.none])
  func setups(_ nesting: MagicalStack.Nesting) throws {
    MagicalRecord.setLogHandler { _, _ in }
    let scratch = try ScratchDirectory()
    let url = scratch.file("things.sqlite")
    let first = try MagicalRecord.setupSQLiteStack(model: try Self.model("name"), storeAt: url, nesting: nesting)
    #expect(MagicalRecord.stack === first)
    try MagicalRecord.saveAndWait { try $0.insert("Thing").setValue(.string("lamp"), forKey: "name") }
    try cleanUp(first)

    let newer = try Self.model("name", "colour")
    #expect(throws: MigrationError.self) { try MagicalRecord.setupSQLiteStack(model: newer, storeAt: url) }
    let second = try MagicalRecord.setupAutoMigratingStack(model: newer, storeAt: url, nesting: nesting)
    let context = second.newPrivateContext()
    let names = try context.performAndWait { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Thing")).map { $0.value(forKey: "name") }
    }
    #expect(names == [.string("lamp")])
    try cleanUp(second)

    let named = scratch.file("folder/named").path
    let third = try MagicalRecord.setupAutoMigratingStack(model: newer, storeNamed: named)
    #expect(FileManager.default.fileExists(atPath: named + ".sqlite"))
    try cleanUp(third)
  }

  @Test("names a store's place by the program and its name")
  func names() {
    let program = ProcessInfo.processInfo.processName
    #expect(MagicalStack.url(forStoreNamed: "data").path.hasSuffix("/\(program)/data.sqlite"))
    #expect(MagicalStack.url(forStoreNamed: "/var/data.db").path == "/var/data.db")
    #expect(MagicalStack.url(forStoreNamed: MagicalStack.defaultStoreName).lastPathComponent == program + ".sqlite")
  }

  @Test("knows the stack's contexts, and saves as options say")
  func contexts() async throws {
    MagicalRecord.setLogHandler { _, _ in }
    let stack = try MagicalRecord.setupStackWithInMemoryStore(model: try Self.model("name"))
    #expect(try MagicalRecord.defaultContext() == stack.defaultContext)
    #expect(try MagicalRecord.rootSavingContext() == stack.rootSavingContext)
    let context = try MagicalRecord.newPrivateContext(name: "work")
    #expect(context.parentChain == "work → root saving")
    try await context.perform { context in _ = try context.insert("Thing") }
    let levels: [MagicalSaveOptions] = [[.synchronously], [], [.parentContexts], [.parentContexts, .synchronously]]
    var outcomes: [Bool] = []
    for options in levels {
      outcomes.append(
        await withCheckedContinuation { continuation in
          context.save(options) { continuation.resume(returning: $0.didSave) }
        })
    }
    #expect(outcomes == [true, false, true, false])
    try MagicalRecord.resetDefaultContext()
    try cleanUp(stack)
  }

  @Test("saves with the calling thread's context")
  func threadContext() async throws {
    MagicalRecord.setLogHandler { _, _ in }
    let stack = try MagicalRecord.setupStackWithInMemoryStore(model: try Self.model("name"))
    let outcomes = try await withCheckedThrowingContinuation { (done: CheckedContinuation<[Bool], any Error>) in
      Thread.detachNewThread {
        done.resume(
          with: Result {
            let saved = try MagicalRecord.saveUsingCurrentThreadContextAndWait { _ = try $0.insert("Thing") }
            #expect(throws: CancellationError.self) {
              try MagicalRecord.saveUsingCurrentThreadContextAndWait { _ in throw CancellationError() }
            }
            return [saved, try MagicalRecord.saveUsingCurrentThreadContextAndWait { _ in }]
          })
      }
    }
    #expect(outcomes == [true, false])
    try cleanUp(stack)
  }
}
