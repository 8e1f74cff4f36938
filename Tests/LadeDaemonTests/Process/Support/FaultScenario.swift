import ControlAPI
import Foundation
import TestSupport
import Testing

/// Work that takes a daemon through all that it does with files: a dropped file, a ticket with its file, a submission over the
/// control socket, an export and a backup. Each import has records to reject. It can be gone on with after any end of the daemon,
/// and its result is always the same.
final class FaultScenario {
  /// What is submitted over the control socket, one after the other.
  private enum Submission: String, CaseIterable {
    case file, export, backup
  }

  let folder: DaemonFolder
  /// What a daemon has said that it has taken.
  private var acknowledged: Set<Submission> = []
  private static let dropped = ["hot.csv", "cold.csv"]

  /// - Throws: what the files of the submitters can't be written for.
  init() throws {
    folder = try DaemonFolder(
      model: Members.model,
      recipes: "  members: { store: main, entity: Member, mode: insert, batch_size: 10, max_attempts: 100 }",
      more: "intake: { settle: 100ms }\nretry: { first: 100ms, longest: 100ms }")
    try folder.drop(Members(rows: 30, faults: 3).csv, as: "hot.csv", into: "members")
    try folder.drop(Members(rows: 25, from: 1000, faults: 2).csv, as: "cold.csv", into: "")
    try folder.drop(
      "{entity: Member, mode: insert, options: {batch_size: 10}, max_attempts: 100, source: cold.csv}", as: "cold.job",
      into: "")
    try folder.write(Members(rows: 20, from: 2000, faults: 2).csv, to: "submitted.csv")
  }

  /// What calls are of interest: all on the daemon's files, its connections, and its events.
  var watch: [String] {
    ["/spool", "/state", "/main", "/submitted"].map { folder.path + $0 } + ["socket:", "inotify"]
  }

  /// A daemon has acknowledged the first ones, and no more.
  func acknowledge(first count: Int) { acknowledged = Set(Submission.allCases.prefix(count)) }

  // MARK: The work

  /// Does what is left to do.
  /// - Returns: the jobs, all of which have ended; nil when the daemon is gone.
  func finish(_ daemon: DaemonProcess) async throws -> [Job]? {
    let dropped = Self.dropped
    guard
      var jobs = try await ended(
        daemon, once: { jobs in dropped.allSatisfy { name in jobs.contains { $0.source == name } } })
    else { return nil }
    for submission in Submission.allCases {
      var tries = 0
      while !isMade(submission, in: jobs) {
        tries += 1
        try #require(tries < 50, "\(submission) is refused")
        #expect(!acknowledged.contains(submission), "\(submission) was acknowledged, and is lost")
        // One whose answer is lost is looked for before it is submitted again.
        if let answer = try await once("POST", Endpoint.jobs.path, body(of: submission)),
          (200..<300).contains(answer.status)
        {
          acknowledged.insert(submission)
        }
        guard let now = try await ended(daemon, once: { _ in true }) else { return nil }
        jobs = now
      }
    }
    return jobs
  }

  /// Whether there is a job of it. One that is cancelled was stopped before it had its file, and not acknowledged.
  private func isMade(_ submission: Submission, in jobs: [Job]) -> Bool {
    jobs.contains { $0.tags.contains(submission.rawValue) && $0.state != .cancelled }
  }

  private func body(of submission: Submission) -> String {
    let rest =
      switch submission {
      case .file: #""recipe": "members", "source": "\#(folder.file("submitted.csv"))""#
      case .export:
        #""kind": "export", "store": "main", "entity": "Member", "#
          + #""options": {"format": "csv", "file": "members.csv", "sort": "number"}"#
      case .backup: #""kind": "backup", "store": "main", "options": {"compress": "gzip"}"#
      }
    return #"{"max_attempts": 100, "tags": ["\#(submission.rawValue)"], \#(rest)}"#
  }

  /// The jobs, as soon as these are there and all have ended.
  private func ended(_ daemon: DaemonProcess, once areThere: ([Job]) -> Bool) async throws -> [Job]? {
    while daemon.ending == nil {
      try Task.checkCancellation()
      guard let answer = try await once("GET", Endpoint.jobs.path + "?limit=1000"), answer.status == 200 else {
        continue
      }
      let jobs = try answer.decoded(as: JobList.self).jobs
      if areThere(jobs), jobs.allSatisfy(\.state.isEnded) { return jobs }
    }
    return nil
  }

  /// An answer; nil when the connection breaks.
  private func once(_ method: String, _ uri: String, _ body: String? = nil) async throws -> HTTPAnswer? {
    do {
      return try await folder.http(method, uri, body)
    } catch is ProgramFailure {
      return nil
    } catch is POSIXError {
      return nil
    }
  }

  // MARK: The result

  /// What is left when the daemon has stopped, by what it is, with nothing in it that differs from run to run.
  func result(_ jobs: [Job]) async throws -> [String: String] {
    var result: [String: String] = [:]
    var sources: [String: String] = [:]
    for job in jobs { sources["\(job.id)"] = job.source ?? job.kind }
    func named(_ name: String) -> String {
      let number = name.prefix { $0.isNumber }
      return number.isEmpty ? name : (sources[String(number)] ?? "no job's") + name.dropFirst(number.count)
    }
    // A checkpoint that comes back with a loss of power, after the job has ended, is never looked at.
    result["rows"] = try await folder.sqlite(
      "\(KilledImport.members); PRAGMA foreign_key_check; PRAGMA integrity_check")
    result["queue"] = try await folder.sqlite("PRAGMA integrity_check", in: "state/queue.sqlite")
    result["jobs"] = jobs.filter { $0.state != .cancelled || $0.tags.isEmpty }.map { job in
      let counts = job.progress
      let what = "\(job.source ?? job.kind): \(job.state)\(job.state == .completed ? "" : " \(job.reason ?? "")")"
      return job.kind == "import" ? what + " \(counts.records) \(counts.inserted) \(counts.rejected)" : what
    }.sorted().joined(separator: "\n")
    for name in try folder.names(in: "state/rejects") {
      result["rejects of " + named(name)] = try folder.text("state/rejects/" + name)
    }
    for place in ["done", "active", "corrupt", "incoming", "incoming/members", "tmp"] {
      result[place] = try folder.names(in: "spool/" + place).map(named).sorted().joined(separator: " ")
    }
    for name in try folder.names(in: "state/exports") where !name.hasPrefix(".") {
      result["export " + name] = try folder.text("state/exports/" + name)
    }
    // What couldn't be removed from a job's workspace, which is hidden, is removed when the next is made.
    let backups = try folder.names(in: "state/backups/main").filter { !$0.hasPrefix(".") }
    for (number, name) in backups.enumerated() {
      result["backup \(number)"] = name.hasPrefix("main-") ? try await content(ofBackup: name) : name
    }
    return result
  }

  private func content(ofBackup name: String) async throws -> String {
    guard let gzip = Products.system("gzip") else { return "gzip isn't installed" }
    let arguments = ["-dc", folder.file("state/backups/main/" + name)]
    let run = try await ProgramOutput.of(
      gzip, arguments, environment: Products.environment([:]), files: folder.nextRun())
    guard run.status == 0 else { return run.error }
    try folder.write(run.output, to: "unpacked.sqlite")
    return try await folder.sqlite("\(KilledImport.members); PRAGMA integrity_check", in: "unpacked.sqlite")
  }

  /// Expects of a result what another has.
  static func compare(_ result: [String: String], with expected: [String: String], _ remark: String) {
    for name in Set(result.keys).union(expected.keys).sorted() where result[name] != expected[name] {
      let (got, wanted) = (result[name] ?? "(none)", expected[name] ?? "(none)")
      // Not all of them: a table is long.
      let place = zip(got, wanted).prefix { $0 == $1 }.count
      let start = max(0, place - 40)
      Issue.record(
        "\(name) after \(remark): …\(got.dropFirst(start).prefix(300)), and not …\(wanted.dropFirst(start).prefix(300))"
      )
    }
  }
}
