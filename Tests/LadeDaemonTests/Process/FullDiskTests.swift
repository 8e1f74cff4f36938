import ControlAPI
import Foundation
import Testing

@Suite(
  "A disk that is full", .startsDaemons, .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"))
struct FullDiskTests {
  private static let rows = 6_000

  /// A job, and the folder that has a small disk of its own.
  struct Work: Sendable, CustomTestStringConvertible {
    let kind: String
    let place: String
    var entity: String?
    var options = "{}"
    var testDescription: String { "\(kind), \(place)" }

    var submission: String {
      let entity = entity.map { #", "entity": "\#($0)""# } ?? ""
      return #"{"kind": "\#(kind)", "store": "main"\#(entity), "options": \#(options)}"#
    }
  }

  static let works = [
    Work(kind: "import", place: "data"), Work(kind: "import", place: "state/rejects"),
    Work(kind: "export", place: "state/exports", entity: "Member"), Work(kind: "backup", place: "state/backups"),
    Work(kind: "restore", place: "data", options: #"{"backup": "latest"}"#), Work(kind: "vacuum", place: "data"),
    Work(kind: "reindex", place: "data"),
    Work(kind: "prune", place: "data", entity: "Member", options: #"{"all": true}"#),
    Work(
      kind: "update", place: "data", entity: "Member",
      options: #"{"all": true, "set": {"note": "a note that is longer than what was there before it"}}"#),
  ]

  @Test("is given as the reason, while the daemon goes on, and the job is done when there is room", arguments: works)
  func full(_ work: Work) async throws {
    let folder = try DaemonFolder(model: Members.model)
    try folder.write(
      """
      spool: spool
      state: state
      socket: s
      stores: { main: { path: data/main.sqlite, model: Model.xcdatamodeld } }
      # It is retried by hand.
      retry: { first: 1h, longest: 1h }
      recipes: { members: { store: main, entity: Member, mode: upsert } }
      """, to: "lade.yaml")
    let mounts = try await PrivateMounts(
      in: folder, "mkdir -p data \(work.place); mount -t tmpfs -o size=24m lade \(work.place)")
    let daemon = try await folder.start(by: mounts.prefix)
    let before = try await folder.imported(Members(rows: Self.rows).csv, as: "before.csv", into: "members")
    #expect(before.state == .completed, "\(before.reason ?? "")")
    _ = try await done(#"{"kind": "backup", "store": "main"}"#, in: folder)
    // So that nothing has room in the log.
    _ = try await done(#"{"kind": "checkpoint", "store": "main", "options": {"mode": "truncate"}}"#, in: folder)
    try await mounts.run("head -c 64m /dev/zero >\(work.place)/ballast || true")

    let id = try await begin(work, in: folder)
    let stopped = try #require(
      try await JobEvents(of: id, socket: folder.file("s")).first { $0.state == .retryable || $0.state.isEnded })
    #expect(stopped.state == .retryable || stopped.state == .discarded, "\(stopped)")
    #expect(stopped.failureCode == "disk_full", "\(stopped.failureCode ?? ""): \(stopped.reason ?? "")")
    #expect(try await folder.count("Member") == Self.rows)
    _ = try await done(#"{"kind": "check", "store": "main"}"#, in: folder)

    try await mounts.run("rm \(work.place)/ballast")
    #expect(try await folder.ladectl("retry", "\(id)").status == 0)
    let ended = try await folder.ended(id)
    #expect(ended.state == .completed, "\(ended.reason ?? "")")
    let rows = work.kind == "prune" ? 0 : work.kind == "import" ? Self.rows * 2 : Self.rows
    #expect(try await folder.count("Member") == rows)
    if work.place == "state/rejects" { #expect(ended.progress.rejected == 100) }
    _ = try await done(#"{"kind": "check", "store": "main"}"#, in: folder)
    try await daemon.stop()
  }

  private func begin(_ work: Work, in folder: DaemonFolder) async throws -> Int64 {
    guard work.kind == "import" else { return try await submitted(work.submission, in: folder) }
    let isRejecting = work.place == "state/rejects"
    let more = Members(
      rows: Self.rows + (isRejecting ? 100 : 0), from: Self.rows, faults: isRejecting ? 100 : 0,
      kinds: [.badInteger, .badDate, .missingName, .tooLong])
    try folder.drop(more.csv, as: "more.csv", into: "members")
    return try #require(try await folder.jobs().last { $0.source == "more.csv" }).id
  }

  private func submitted(_ submission: String, in folder: DaemonFolder) async throws -> Int64 {
    let answer = try await folder.http("POST", "/v1/jobs", submission)
    #expect(answer.status == 201, "\(submission): \(answer.text)")
    return try answer.decoded(as: Job.self).id
  }

  /// Has a job done that has to end well.
  private func done(_ submission: String, in folder: DaemonFolder) async throws -> Job {
    let job = try await folder.ended(try await submitted(submission, in: folder))
    #expect(job.state == .completed, "\(submission): \(job.reason ?? "")")
    return job
  }
}
