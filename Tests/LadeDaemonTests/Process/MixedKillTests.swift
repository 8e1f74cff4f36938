import ControlAPI
import Foundation
import Testing

/// Every kind of job at once, and SIGKILL at random moments, whose seed is printed with what fails and can be given again as
/// `LADE_KILL_SEED`; `LADE_KILLS` says how many.
@Suite("A daemon that is killed under all kinds of work", .startsDaemons, .serialized)
struct MixedKillTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }
  private static let seed = number("LADE_KILL_SEED") ?? UInt64.random(in: 1...999_999)
  private static let kills = number("LADE_KILLS").map(Int.init) ?? 200

  private static let rows = 3_000

  @Test(
    "loses no job and does none twice, and every backup can be put back, and every export is whole")
  func mixed() async throws {
    var random = SeededGenerator(seed: Self.seed)
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: upsert, batch_size: 300 }",
      more: "lanes: { import: { concurrency: 2 }, maintenance: { concurrency: 2 } }")
    var daemon = try await folder.start()
    let first = try await folder.imported(Members(rows: Self.rows).csv, as: "first.csv", into: "members")
    #expect(first.state == .completed, "\(first.reason ?? "")")
    _ = try await done("backup", in: folder)

    var load = Load(random)
    for kill in 1...Self.kills {
      // While the daemon has little to do it is given more.
      if kill % 3 != 0 { try await load.submit(to: folder) }
      // A random moment is what this is about.
      try await Task.sleep(for: .microseconds(Int64.random(in: 0...120_000, using: &random)))
      try await daemon.kill()
      daemon = try await folder.start()
    }
    let jobs = try await everyJob(folder)
    try check(jobs, load)
    try await checkFiles(folder, jobs)
    try await daemon.stop()
  }

  /// What is submitted, and what of it was answered.
  private struct Load {
    private var random: SeededGenerator
    private(set) var answered: Set<Int64> = []
    private(set) var dropped: Set<String> = []
    /// How often the model has got one more attribute.
    private var migrations = 0

    init(_ random: SeededGenerator) { self.random = random }

    mutating func submit(to folder: DaemonFolder) async throws {
      let number = dropped.count + answered.count
      guard Int.random(in: 0..<3, using: &random) > 0 else {
        let version = Int.random(in: 1...3, using: &random)
        let name = "members-\(number).csv"
        dropped.insert(name)
        return try folder.drop(
          Members(rows: MixedKillTests.rows, version: version).csv, as: name, into: "members")
      }
      let low = Int.random(in: 0..<MixedKillTests.rows, using: &random)
      let works: [(kind: String, options: String)] = [
        ("backup", #"{"compress": "zstd", "keep": 5}"#), ("backup", #"{"compress": "none", "keep": 5}"#),
        ("restore", #"{"backup": "latest"}"#), ("vacuum", "{}"), ("optimise", "{}"), ("check", "{}"),
        ("checkpoint", "{}"), ("reindex", "{}"), ("migrate", "{}"),
        ("prune", #"{"where": "number < \#(low / 10)", "batch_size": 50}"#),
        ("update", #"{"where": "number > \#(low)", "set": {"score": \#(number)}, "batch_size": 200}"#),
        ("export", #"{"format": "ndjson", "columns": "number,name,score", "file": "members-\#(number).ndjson"}"#),
        ("export", #"{"format": "csv", "columns": "number,name,score", "file": "members-\#(number).csv"}"#),
      ]
      let work = works[Int.random(in: 0..<works.count, using: &random)]
      if work.kind == "migrate" {
        // A daemon that is killed before the job has run does it when it starts.
        migrations += 1
        let more = (1...migrations).map { ModelText.Property.attribute("more\($0)", optional: true) }
        try Members.model(with: more).write(to: folder.file("Model.xcdatamodeld"))
      }
      let entity = ["prune", "update", "export"].contains(work.kind) ? #", "entity": "Member""# : ""
      let answer = try await folder.http(
        "POST", "/v1/jobs", #"{"kind": "\#(work.kind)", "store": "main"\#(entity), "options": \#(work.options)}"#)
      #expect(answer.status == 201, "\(work.kind) \(work.options): \(answer.text)")
      answered.insert(try answer.decoded(as: Job.self).id)
    }
  }

  /// Every job, when all have ended, with what was recorded of it.
  private func everyJob(_ folder: DaemonFolder) async throws -> [Job] {
    var jobs: [Job] = []
    for job in try await folder.jobs() {
      _ = try await folder.ended(job.id)
      jobs.append(try await folder.job(job.id))
    }
    return jobs
  }

  private func check(_ jobs: [Job], _ load: Load) throws {
    #expect(load.answered.isSubset(of: jobs.map(\.id)), "seed \(Self.seed)")
    let sources = jobs.compactMap { $0.kind == "import" ? $0.source : nil }
    #expect(
      Set(sources) == load.dropped.union(["first.csv"]) && sources.count == Set(sources).count, "seed \(Self.seed)")
    for job in jobs {
      #expect(job.state == .completed, "seed \(Self.seed), job \(job.id), \(job.kind): \(job.reason ?? "")")
      let ends = (job.transitions ?? []).count { $0.to == .completed }
      #expect(ends == 1, "seed \(Self.seed), job \(job.id), \(job.kind)")
    }
    #expect(jobs.reduce(0) { $0 + $1.rescues } > Self.kills / 4, "seed \(Self.seed): the kills met no work")
  }

  private func checkFiles(_ folder: DaemonFolder, _ jobs: [Job]) async throws {
    #expect(try await folder.sqlite("PRAGMA integrity_check") == "'ok'")
    #expect(try await folder.sqlite("PRAGMA foreign_key_check") == "")
    #expect(try folder.names(in: "spool/active") == [] && folder.names(in: "spool/corrupt") == [])
    for job in jobs where job.kind == "export" {
      let path = try #require(job.note?.firstMatch(of: #/in (/\S+), /#)?.1)
      let lines = try String(contentsOfFile: String(path), encoding: .utf8).split(separator: "\n")
      #expect(lines.count == Int(job.progress.records) + (path.hasSuffix(".csv") ? 1 : 0), "job \(job.id)")
      for line in lines where path.hasSuffix(".ndjson") {
        _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
      }
    }
    let backups = try folder.names(in: "state/backups/main")
    #expect(!backups.isEmpty && backups.count <= 5, "\(backups)")
    let exports = jobs.contains { $0.kind == "export" } ? try folder.names(in: "state/exports") : []
    for name in backups + exports { #expect(!name.hasPrefix("."), "\(name)") }
    for name in backups {
      _ = try await done("restore", #"{"backup": "\#(name)"}"#, in: folder)
      #expect(try await folder.sqlite("PRAGMA integrity_check") == "'ok'")
    }
    _ = try await done("check", in: folder)
  }

  /// Has a job done that has to end well.
  private func done(_ kind: String, _ options: String = "{}", in folder: DaemonFolder) async throws -> Job {
    let answer = try await folder.http(
      "POST", "/v1/jobs", #"{"kind": "\#(kind)", "store": "main", "options": \#(options)}"#)
    let job = try await folder.ended(try answer.decoded(as: Job.self).id)
    #expect(job.state == .completed, "\(kind) \(options): \(job.reason ?? "")")
    return job
  }
}
