import ControlAPI
import Foundation
import Testing

/// Rule 5 (ARCHITECTURE.md) where the process goes on: a full disk or a broken device fails one call, and the next one succeeds.
@Suite("One failed call", .startsDaemons)
struct FailedCallTests {
  private static let mostChanges = 60

  @Test("while a submission is committed leaves a job that runs, or the same submission again makes one")
  func submission() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: upsert }\n")
    let point = try KillPoint(in: folder, watch: "/queue.sqlite:/active")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    let sources = try ["members.csv", "again.csv"].map { try folder.write(Members(rows: 20).csv, to: $0) }
    var failures = 0
    for number in 1...Self.mostChanges {
      // A job that is there takes no second file, whatever that is called.
      let submissions = sources.map { #"{"recipe": "members", "source": "\#($0)", "unique_key": "key \#(number)"}"# }
      try point.failOnce(number)
      var answer = try await folder.http("POST", Endpoint.jobs.path, submissions[0])
      if !(200..<300).contains(answer.status) {
        failures += 1
        answer = try await folder.http("POST", Endpoint.jobs.path, submissions[1])
      }
      #expect((200..<300).contains(answer.status), "change \(number): \(answer.text)")
      let job = try await folder.ended(answer.decoded(as: Job.self).id)
      #expect(job.state == .completed, "change \(number): \(job.reason ?? "")")
      let isReached = try point.changes() >= number
      try point.arm(nil)
      if !isReached { break }
    }
    #expect(failures > 0)
    // Nothing waits for a file, or runs on.
    let waiting: JobList = try await folder.got("GET", .jobs)
    let left = waiting.jobs.filter { !$0.state.isEnded }
    #expect(left.isEmpty, "\(left)")
    try await daemon.stop()
    // A file that couldn't be put away is put away at the next start. Of a submission that failed there is none.
    let next = try await folder.start()
    try await folder.scanned()
    try await next.stop()
    for place in ["active", "corrupt"] { #expect(try folder.names(in: "spool/" + place) == [], "\(place)") }
  }

  @Test("of a lock, as when a signal comes, leaves no checkpoint that runs on")
  func locks() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: upsert }\n",
      more: "retry: { first: 100ms, longest: 100ms }")
    let point = try KillPoint(in: folder, watch: "/main.sqlite:/queue.sqlite", locks: true)
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    var failures = 0
    for number in stride(from: 1, through: Self.mostChanges, by: 3) {
      _ = try await folder.imported("number,name\n\(number),Ada\n", as: "\(number).csv", into: "members")
      try point.failOnce(number)
      let submission = #"{"kind": "checkpoint", "store": "main"}"#
      var answer = try await folder.http("POST", Endpoint.jobs.path, submission)
      if !(200..<300).contains(answer.status) { answer = try await folder.http("POST", Endpoint.jobs.path, submission) }
      let job = try await folder.ended(answer.decoded(as: Job.self).id)
      #expect(job.state == .completed, "lock \(number): \(job.reason ?? "")")
      if try point.changes() < number { break }
      failures += 1
    }
    #expect(failures > 0)
    try await daemon.stop()
  }

  @Test("while a checkpoint runs leaves no job that runs on", arguments: 1...12)
  func checkpoint(_ number: Int) async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: upsert }\n",
      more: "retry: { first: 100ms, longest: 100ms }")
    let point = try KillPoint(in: folder, watch: "/main.sqlite:/queue.sqlite")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    _ = try await folder.imported(Members(rows: 200).csv, as: "members.csv", into: "members")
    try point.failOnce(number)
    let submission = #"{"kind": "checkpoint", "store": "main"}"#
    var answer = try await folder.http("POST", Endpoint.jobs.path, submission)
    if !(200..<300).contains(answer.status) { answer = try await folder.http("POST", Endpoint.jobs.path, submission) }
    let job = try await folder.ended(answer.decoded(as: Job.self).id)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    try await daemon.stop()
  }
}
