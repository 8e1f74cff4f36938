import Dispatch
import Foundation
import Logging
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("The uploads of users")
struct UserUploadsTests {
  @Test("a user who waits for the disk doesn't hold up the others, only himself", .timeLimit(.minutes(20)))
  func lines() async throws {
    let uploads = UserUploads("/nowhere", logger: Logger(label: "test"))
    let (begun, isBegun) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    async let slow = uploads.on(1) { _ in
      isBegun.yield()
      gate.wait()
      return "first"
    }
    var beginning = begun.makeAsyncIterator()
    await beginning.next()
    async let next = uploads.on(1) { _ in "second" }
    // It would wait for ever.
    #expect(try await uploads.on(2) { _ in "other" } == "other")
    gate.signal()
    #expect(try await [slow, next] == ["first", "second"])
  }
}
