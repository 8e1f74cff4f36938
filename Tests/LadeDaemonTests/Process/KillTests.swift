import ControlAPI
import Foundation
import Testing

/// Rules 4 and 5 (ARCHITECTURE.md), on real processes: SIGKILL at random moments, and at many writes of large imports. Seeds
/// are printed by what fails, and can be given again as `LADE_KILL_SEED`.
@Suite("A daemon that is killed", .startsDaemons, .serialized)
struct KillTests {
  private static let seed =
    ProcessInfo.processInfo.environment["LADE_KILL_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999)
  private static let recipes = """
      insert: { store: main, entity: Member, mode: insert, batch_size: 500 }
      upsert: { store: main, entity: Member, mode: upsert, batch_size: 500 }
    """

  @Test(
    "fifty times in an import of 200,000 rows leaves the rows, the rejects and the counts of one run")
  func insert() async throws {
    let members = Members(rows: 200_000, faults: 300)
    var killed = try KilledImport(recipes: Self.recipes, kills: 50)
    let jobs = try await killed.check([.init(recipe: "insert", name: "members.csv", data: members.csv)])
    #expect(killed.timesKilled >= 50)
    let job = try #require(jobs.first)
    #expect(job.state == .completed && job.progress.inserted == Int64(members.good), "\(job.reason ?? "")")
    let rejects = PlainCSV.records(try killed.alone.data("state/rejects/1.rejects.csv"))
    #expect(
      rejects.map { Members.Reject(line: Int($0["lade_line"] ?? "") ?? 0, fault: $0["lade_code"] ?? "") }
        == members.rejects)
  }

  @Test("in an import that updates leaves the rows and the counts of one run")
  func upsert() async throws {
    let (old, new) = (Members(rows: 15_000), Members(rows: 30_000, managers: 15_000, version: 2))
    var killed = try KilledImport(recipes: Self.recipes, kills: 12)
    let jobs = try await killed.check(
      before: [.init(recipe: "upsert", name: "old.csv", data: old.csv)],
      [.init(recipe: "upsert", name: "members.csv", data: new.csv)])
    #expect(killed.timesKilled >= 12)
    let job = try #require(jobs.first)
    #expect((job.progress.inserted, job.progress.updated) == (15_000, 5_000))
  }

  @Test("at the end of an import ends the job once, with what it did")
  func end() async throws {
    var random = SeededGenerator(seed: Self.seed)
    let folder = try folder()
    var daemon = try await folder.start()
    _ = try await folder.imported(Members(rows: 1_000).csv, as: "0.csv", into: "upsert")
    for round in 1...12 {
      let members = Members(rows: 1_000, version: 2 + round % 2)
      try folder.drop(members.csv, as: "\(round).csv", into: "upsert")
      let id = try #require(try await folder.jobs().last).id
      _ = try await JobEvents(of: id, socket: folder.file("s")).first { $0.progress.records >= 500 }
      try await pause(upTo: 50, &random)
      try await daemon.kill()
      daemon = try await folder.start()
      let job = try await folder.ended(id)
      #expect(job.state == .completed, "seed \(Self.seed): \(job.reason ?? "")")
      #expect(
        (job.progress.records, job.progress.inserted, job.progress.updated) == (1_000, 0, 334), "seed \(Self.seed)")
      #expect(try folder.data("spool/done/\(id)-\(round).csv") == members.csv)
    }
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/corrupt") == [])
    #expect(try await folder.sqlite("SELECT count(*) FROM _lade_checkpoint") == "0")
    try await daemon.stop()
  }

  @Test("between hand-over and take-over makes one job of each file")
  func handOver() async throws {
    var random = SeededGenerator(seed: Self.seed)
    let folder = try folder()
    let files = 16
    for file in 0..<files {
      let daemon = try folder.launch()
      if file.isMultiple(of: 4) == false { try await daemon.ready() }
      let rows = (0..<20).map { "\(file * 20 + $0),name\n" }.joined()
      try folder.drop("number,name\n" + rows, as: "\(file).csv", into: file.isMultiple(of: 2) ? "insert" : "")
      if !file.isMultiple(of: 2) {
        try folder.drop("{entity: Member, mode: insert, source: \(file).csv}", as: "\(file).job", into: "")
      }
      // A random moment is what this is about.
      try await Task.sleep(for: .microseconds(Int64.random(in: 0...60_000, using: &random)))
      try await daemon.kill()
    }
    let daemon = try await folder.start()
    let jobs = try await folder.jobs()
    #expect(jobs.compactMap(\.source).sorted() == (0..<files).map { "\($0).csv" }.sorted(), "seed \(Self.seed)")
    for job in jobs {
      let ended = try await folder.ended(job.id)
      #expect(ended.state == .completed, "\(ended.reason ?? "")")
      #expect((ended.progress.inserted, ended.progress.rejected) == (20, 0), "seed \(Self.seed), \(job.source ?? "")")
    }
    #expect(try await folder.count("Member") == files * 20)
    #expect(try folder.names(in: "spool/incoming") == ["insert", "upsert"])
    #expect(try folder.names(in: "spool/incoming/insert") == [])
    #expect(try folder.names(in: "spool/active") == [])
    try await daemon.stop()
  }

  @Test("while it takes a submission has it whole or not at all, and has what it answered")
  func submission() async throws {
    var random = SeededGenerator(seed: Self.seed)
    let folder = try folder()
    let members = Members(rows: 3_000)
    let file = try folder.write(members.csv, to: "members.csv")
    var answered: [Int64] = []
    for _ in 0..<12 {
      let daemon = try await folder.start()
      async let submission = folder.ladectl("submit", file, "--entity", "Member", "--json")
      // A random moment is what this is about.
      try await Task.sleep(for: .microseconds(Int64.random(in: 0...120_000, using: &random)))
      try await daemon.kill()
      let run = try await submission
      if run.status == 0 {
        answered.append(try WireFormat.decode(Job.self, from: run.output).id)
      } else {
        #expect(run.status == 5, "\(run.error)")
      }
    }
    let daemon = try await folder.start()
    let submitted = try folder.write(members.csv, to: "again.csv")
    answered.append(try await folder.asked(Job.self, "submit", submitted, "--entity", "Member").id)
    for job in try await folder.jobs() {
      let ended = try await folder.ended(job.id)
      if ended.state == .cancelled {
        #expect(!answered.contains(job.id), "seed \(Self.seed)")
        #expect(ended.reason?.contains("stopped while it copied the file") == true, "\(ended.reason ?? "")")
      } else {
        #expect(ended.state == .completed, "seed \(Self.seed): \(ended.reason ?? "")")
        #expect(ended.progress.records == 3_000)
      }
    }
    #expect(try await folder.count("Member") == 3_000)
    #expect(try folder.names(in: "spool/active") == [])
    try await daemon.stop()
  }

  @Test("after a submission was cancelled while it copied the file puts that away, or has none", arguments: 1...7)
  func cancelledSubmission(_ number: Int) async throws {
    let folder = try folder()
    let point = try KillPoint(in: folder, watch: "/spool/active", waits: true)
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    try point.arm(number)
    let file = try folder.write(Members(rows: 20).csv, to: "members.csv")
    async let submission = folder.ladectl("submit", file, "--entity", "Member", "--json")
    try await point.reached(number)
    #expect(try await folder.ladectl("cancel", "1").status == 0)
    try await daemon.kill()
    #expect(try await submission.status == 5)
    let wasThere = try folder.names(in: "spool/active").contains("1-members.csv")
    let next = try await folder.start()
    #expect(try await folder.ended(1).state == .cancelled)
    // It removes what is incomplete.
    try await folder.scanned()
    try await next.stop()
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/corrupt") == (wasThere ? ["1-members.csv", "1-members.csv.reason"] : []))
    // Only the last change, which makes its name durable, comes after that.
    #expect(wasThere == (number == 7), "change \(number)")
  }

  private func folder() throws -> DaemonFolder { try DaemonFolder(model: Members.model, recipes: Self.recipes) }

  /// Waits for a random time: the moment of a kill.
  private func pause(upTo milliseconds: Int64, _ random: inout SeededGenerator) async throws {
    try await Task.sleep(for: .microseconds(Int64.random(in: 0...milliseconds * 1000, using: &random)))
  }
}
