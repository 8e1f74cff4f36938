import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import LadeDaemon

@Suite("Files that are too old", .timeLimit(.minutes(60)))
struct FileRetentionTests {
  @Test("a removal that takes long ends when the daemon is told to stop")
  func stops() async throws {
    let (begun, continuation) = AsyncStream<Duration>.makeStream()
    let wasEnded = Mutex(false)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let service = FileRetentionService(
      age: { .seconds(60) },
      remove: { age, goesOn in
        continuation.yield(age)
        // As long as there are files, and these don't end.
        while goesOn() { sched_yield() }
        wasEnded.withLock { $0 = true }
        return 1
      }, removeUploads: { 0 }, logger: logger)
    let group = ServiceGroup(services: [service], logger: logger)
    async let running: Void = group.run()
    var ages = begun.makeAsyncIterator()
    #expect(await ages.next() == .seconds(60))
    await group.triggerGracefulShutdown()
    try await running
    #expect(wasEnded.withLock { $0 })
  }
}
