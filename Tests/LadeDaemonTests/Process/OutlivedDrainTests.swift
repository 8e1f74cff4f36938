import ControlAPI
import Dispatch
import Foundation
import Jobs
import Logging
import ManagedObjects
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("A job that outlives drain_timeout", .startsDaemons)
struct OutlivedDrainTests {
  @Test("ends with the daemon, whose exit status is 0, and is continued by the next one")
  func process() async throws {
    let folder = try DaemonFolder(model: Members.model, more: "drain_timeout: 0s")
    let point = try KillPoint(in: folder, watch: "/nothing", holding: "/backups/main")
    let first = try folder.launch(point.environment)
    try await first.ready()
    let submission = #"{"kind": "backup", "store": "main"}"#
    let job = try await folder.http("POST", Endpoint.jobs.path, submission).decoded(as: Job.self)
    // It is in the folder, which doesn't answer.
    try await point.reached(1)
    try await first.stop()
    #expect(try first.log.contains("still running at the end of the wait"))
    let second = try await folder.start()
    let ended = try await folder.ended(job.id)
    #expect(ended.state == .completed && ended.rescues == 1, "\(ended.reason ?? "")")
    try await second.stop()
  }

  @Test("keeps the stores open and locked until it has ended")
  func stores() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let (arrived, leave) = (Once<Bool>(), DispatchSemaphore(value: 0))
    let left = Once<String>()
    var operations = OperationCatalogue.standard
    operations.add("slow", options: [String: String].self) { operation, _ in
      arrived.set(true)
      leave.wait()
      do {
        let context = try operation.context()
        let member = try context.insert("Member")
        try member.setValue(.string("Ada"), forKey: "name")
        try member.setValue(.int(1), forKey: "number")
        try context.save()
        left.set("saved")
      } catch {
        left.set("\(error)")
      }
      return .completed(JobProgress())
    }
    let loaded = try LoadedConfiguration(path: folder.file("lade.yaml"), environment: [:])
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    func parts() async throws -> DaemonParts {
      try await DaemonParts(
        loaded, operations, LiveLogLevel(.info), LogRing(), .ofThisProcess(), startedAt: Date(), logger: logger)
    }
    let queue = try await closed(parts()) { queue in
      _ = try await queue.submit(
        JobSubmission(kind: "slow", store: "main", lane: "import", submittedBy: "test"))
      _ = try await arrived.value()
    }
    // Another daemon can't begin while the job may write.
    await #expect(throws: DaemonError.self) { try await parts() }
    leave.signal()
    #expect(try await left.value() == "saved")
    while !queue.isQuiet { await Task.yield() }
    #expect(try await queue.jobs().map(\.state) == [.completed])
  }

  /// Starts a daemon's parts, and stops them without waiting for what runs then.
  private func closed(
    _ parts: DaemonParts, after work: (JobQueue) async throws -> Void
  ) async throws -> JobQueue {
    try await parts.start()
    let queue = parts.backend.queue
    try await work(queue)
    await queue.drain(timeout: .zero)
    try await parts.close()
    return queue
  }
}
