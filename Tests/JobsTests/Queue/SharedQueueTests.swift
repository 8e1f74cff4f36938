import Foundation
import Logging
import ManagedObjects
import PostgresStore
import TestSupport
import Testing

@testable import Jobs

@Suite(
  "A queue that several daemons share",
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"), .timeLimit(.minutes(10)))
struct SharedQueueTests {
  /// A daemon of a shared queue, as far as the queue goes.
  private final class Member: Sendable {
    let queue: JobQueue
    let delegate = TestDelegate()
    private let folder: ScratchDirectory

    init(
      _ schema: String, host: String = "here", lease: TimeInterval = 30,
      _ work: @escaping ScriptedOperation.Script
    ) async throws {
      folder = try ScratchDirectory()
      let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
      try coordinator.addPersistentStore(.postgres(try PostgresCluster.shared().address(), schema: schema))
      var catalogue = OperationCatalogue()
      catalogue.add("work") { ScriptedOperation(job: $0, environment: $1, script: work) }
      let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      var timing = QueueMembership.Timing()
      (timing.lease, timing.interval, timing.margin) = (lease, lease / 6, lease / 10)
      queue = try JobQueue(
        coordinator: coordinator, lanes: [.init(name: "import", concurrency: 2)], operations: catalogue,
        environment: JobEnvironment(
          dataStores: [:], activeDirectory: folder.url, rejectsDirectory: folder.url, logger: quiet),
        membership: try QueueMembership(in: coordinator, host: host, timing: timing), logger: quiet)
      queue.delegate = delegate
      try await queue.start()
    }
  }

  @Test("runs each job once, whoever took it in")
  func once() async throws {
    let schema = PostgresCluster.newSchema()
    let ran = Shared<Int64>()
    var members: [Member] = []
    for _ in 1...3 {
      members.append(
        try await Member(schema) { operation in
          ran.append(operation.job.id)
          return .completed(JobProgress(records: 1))
        })
    }
    var ids: [Int64] = []
    for round in 0..<60 { ids.append(try await members[round % 3].queue.submit(.of("work")).id) }
    // Each is waited for by one that may not have run it.
    for (place, id) in ids.enumerated() {
      let end = try await members[(place + 1) % 3].queue.whenEnded(id)
      #expect(end.state == .completed && end.claim == 1)
    }
    #expect(ran.all.sorted() == ids.sorted())
    for member in members { #expect(await member.queue.drain(timeout: .seconds(60)).isEmpty) }
  }

  @Test("puts back the jobs of a daemon whose lease is over, and takes nothing from it any more")
  func rescue() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    let stopped = try await Member(schema, host: "one", lease: 1) { _ in
      gate.pass()
      return .failed(JobFailure(code: "x", message: "x", isRetryable: true), JobProgress())
    }
    let job = try await stopped.queue.submit(.of("work"))
    await gate.arrivals(1)
    // As by SIGSTOP: it neither renews its lease nor looks at anything.
    stopped.queue.endSharing()
    let other = try await Member(schema, host: "two") { _ in .completed(JobProgress(records: 1)) }
    let end = try await other.queue.whenEnded(job.id)
    #expect(end.state == .completed && end.claim == 3 && end.rescues == 1)
    gate.open()
    await #expect(throws: SupersededSave.self) { try await stopped.queue.submit(.of("work")) }
    #expect(await stopped.queue.drain(timeout: .seconds(60)).isEmpty)
    #expect(try await other.queue.job(job.id) == end)
    #expect(
      try await other.queue.reasons(job.id) == [
        "submitted", "attempt 1 of 5", "the daemon on one that ran it is gone", "attempt 1 of 5", "done",
      ])
    #expect(try await other.queue.daemons().map(\.host) == ["two"])
  }

  @Test("leaves jobs with files to the host that has them")
  func hosts() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await Member(schema, host: "one") { .completed(JobProgress(), note: "one, claim \($0.job.claim)") }
    let two = try await Member(schema, host: "two") { .completed(JobProgress(), note: "two, claim \($0.job.claim)") }
    for (member, host) in [(one, "one"), (two, "two")] {
      for _ in 1...5 {
        let job = try await member.queue.submit(.of("work").with { $0.activeName = "a.csv" })
        #expect(try await member.queue.whenEnded(job.id).note == "\(host), claim 1")
      }
    }
  }

  @Test("stops a job that was cancelled through another daemon, and follows a lane that was paused there")
  func others() async throws {
    let schema = PostgresCluster.newSchema()
    let started = Shared<Int64>()
    let one = try await Member(schema, host: "one") { operation in
      started.append(operation.job.id)
      while !operation.isCancelled { usleep(1000) }
      return .cancelled(JobProgress())
    }
    let job = try await one.queue.submit(.of("work").with { $0.activeName = "a.csv" })
    _ = try await one.queue.job(job.id, when: .running)
    let two = try await Member(schema, host: "two") { _ in .completed(JobProgress()) }
    _ = try await two.queue.cancel(job.id, by: "ben")
    #expect(try await two.queue.whenEnded(job.id).state == .cancelled)
    #expect(started.all == [job.id])
  }
}
