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
    let sources = try ["members.csv", "again.csv"].map { try folder.write(Members(rows: 20).csv, to: $0) }
    // A job that is there takes no second file, whatever that is called.
    try await submit(to: folder) { number, attempt in
      #"{"recipe": "members", "source": "\#(sources[attempt])", "unique_key": "key \#(number)"}"#
    }
  }

  @Test("while a set is submitted leaves a job that runs, or the same submission again makes one")
  func set() async throws {
    let folder = try DaemonFolder(model: Timetable.model, recipes: Timetable.recipe())
    let files = try Timetable.files("1").map { name, text in "\"\(try folder.write(text, to: name))\"" }
    let done = try folder.write("", to: "1.done")
    let list = (files + ["\"\(done)\""]).joined(separator: ", ")
    try await submit(to: folder) { number, _ in
      "{\"recipe\": \"timetable\", \"files\": [\(list)], \"unique_key\": \"key \(number)\"}"
    }
  }

  /// Lets one call after another fail while a file is submitted, a second time if it was refused, and expects that one job was
  /// made each time.
  /// - Parameter body: the submission of a number, from 1, and of an attempt, 0 or 1.
  private func submit(to folder: DaemonFolder, _ body: (_ number: Int, _ attempt: Int) -> String) async throws {
    let point = try KillPoint(in: folder, watch: "/queue.sqlite:/active")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    var failures = 0
    for number in 1...Self.mostChanges {
      try point.failOnce(number)
      var answer = try await folder.http("POST", Endpoint.jobs.path, body(number, 0))
      if !(200..<300).contains(answer.status) {
        failures += 1
        answer = try await folder.http("POST", Endpoint.jobs.path, body(number, 1))
      }
      #expect((200..<300).contains(answer.status), "change \(number): \(answer.text)")
      let job = try await folder.ended(answer.decoded(as: Job.self).id)
      #expect(job.state == .completed, "change \(number): \(job.reason ?? "")")
      let isReached = try point.changes() >= number
      try point.arm(nil)
      if !isReached { break }
    }
    #expect(failures > 0)
    try await expectNothingLeft(in: folder, of: daemon)
  }

  @Test("while a file is replayed leaves a job that runs, or says why it was cancelled")
  func replay() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: upsert }\n")
    let point = try KillPoint(in: folder, watch: "/queue.sqlite:/active")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    _ = try await folder.imported(Members(rows: 20).csv, as: "members.csv", into: "members")
    let body = String(
      decoding: try WireFormat.encode(ReplayRequest(since: Date(timeIntervalSince1970: 0))), as: UTF8.self)
    var cancelled = 0
    for number in 1...Self.mostChanges {
      try point.failOnce(number)
      var answer = try await folder.http("POST", Endpoint.replay(recipe: "members").path, body)
      if !(200..<300).contains(answer.status) {
        answer = try await folder.http("POST", Endpoint.replay(recipe: "members").path, body)
      }
      #expect((200..<300).contains(answer.status), "change \(number): \(answer.text)")
      let files = try answer.decoded(as: ReplayResult.self).files
      #expect(files.count == 1, "change \(number)")
      let job = try await folder.ended(try #require(files.first?.replay))
      if job.state == .cancelled { cancelled += 1 }
      let isAsExpected = job.state == .completed || job.reason?.contains("can't be taken from done/") == true
      #expect(isAsExpected, "change \(number): \(job.state), \(job.reason ?? "")")
      let isReached = try point.changes() >= number
      try point.arm(nil)
      if !isReached { break }
    }
    #expect(cancelled > 0)
    try await expectNothingLeft(in: folder, of: daemon)
    #expect(try folder.names(in: "spool/done").count == 1)
  }

  /// Expects that no job waits for a file, or runs on, and that no file is left in the spool after the next start.
  private func expectNothingLeft(in folder: DaemonFolder, of daemon: DaemonProcess) async throws {
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
