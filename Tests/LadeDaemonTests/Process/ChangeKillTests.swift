import ControlAPI
import Foundation
import Testing

/// Rule 4 (ARCHITECTURE.md) for a job that changes others: killed anywhere, it changes each of them once.
@Suite("Killed while many jobs are changed", .startsDaemons)
struct ChangeKillTests {
  private static let jobs = 700

  @Test("after the restart the change goes on, and each job was changed once")
  func killed() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let daemon = try await folder.start()
    var left = Self.jobs
    while left > 0 {
      let some = min(left, JobsSubmission.maximumJobs)
      let many = JobsSubmission(
        jobs: (0..<some).map { _ in JobSubmission(kind: "optimise", store: "main", tags: ["many"], isHeld: true) })
      let made: JobReceiptList = try await folder.got("POST", .manyJobs, body: many)
      #expect(made.jobs.allSatisfy { $0.id != nil })
      left -= some
    }
    let change: Job = try await folder.got("POST", .changeJobs, body: JobChange(.cancel, JobSelection(tag: "many")))
    #expect((change.kind, change.lane) == ("change", "changes"))
    // However far it has come.
    try await daemon.kill()
    let second = try await folder.start()
    let end = try await folder.ended(change.id)
    #expect(end.state == .completed && end.change == JobChangeResult(changed: Self.jobs), "\(end)")
    let list: JobList = try await folder.got(
      "GET", .jobs, JobQuery(JobSelection(states: [.cancelled]), limit: 1000).queryString)
    #expect(list.jobs.count == Self.jobs)
    for job in list.jobs where job.id % 50 == 0 {
      let steps = try await folder.job(job.id).transitions ?? []
      #expect(steps.count { $0.to == .cancelled } == 1)
    }
    try await second.stop()
  }

  @Test("a change begins although every lane is paused and full of waiting jobs")
  func lanes() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let daemon = try await folder.start()
    _ = try await folder.http("POST", Endpoint.pauseLanes.path)
    for _ in 0..<3 {
      let _: Job = try await folder.got("POST", .jobs, body: JobSubmission(kind: "optimise", store: "main"))
    }
    let change: Job = try await folder.got(
      "POST", .changeJobs, body: JobChange(.cancel, JobSelection(), isForAll: true))
    #expect(try await folder.ended(change.id).change == JobChangeResult(changed: 3))
    let refused = try await folder.http("POST", Endpoint.jobs.path, #"{"kind": "change"}"#)
    #expect(refused.status == 422, "\(refused.text)")
    let hours: History = try await folder.got("GET", .history)
    #expect(hours.spans.map(\.cancelled).reduce(0, +) == 3)
    let disks: DiskList = try await folder.got("GET", .disks)
    #expect(disks.disks.flatMap(\.parts).contains("spool"))
    try await daemon.stop()
  }
}
