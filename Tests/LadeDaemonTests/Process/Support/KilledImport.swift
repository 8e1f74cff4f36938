import ControlAPI
import Foundation
import Testing

/// Imports that are killed again and again, wherever they write, and the same ones left alone: rule 4 (ARCHITECTURE.md) says
/// that both leave the same.
struct KilledImport {
  /// A file for a hot folder.
  struct Drop {
    let recipe: String
    let name: String
    let data: Data
  }

  /// The folder of the daemon that was left alone.
  let alone: DaemonFolder
  private let query: String
  private let isWhole: Bool
  private let watch: String?
  private let also: @Sendable (_ killed: DaemonFolder, _ alone: DaemonFolder) async throws -> Void
  private let kills: Int
  private let seed: UInt64
  private var random: SeededGenerator
  private var jobs: Int64 = 0
  /// How often a daemon was killed so far.
  private(set) var timesKilled = 0

  /// - Parameters:
  ///   - query: what is in the store, without the rows' own numbers, of which a rejected or killed record may have used
  ///     one up.
  ///   - isWhole: whether an import that was killed begins again from the start.
  ///   - kills: about how many there are for each file.
  ///   - watch: what the paths have in them whose changes count; nil for those of a store and of reject files.
  ///   - also: expects more of what both leave.
  init(
    _ model: ModelText = Members.model, recipes: String, query: String = Self.members, isWhole: Bool = false,
    kills: Int = 5, watch: String? = nil,
    also: @escaping @Sendable (DaemonFolder, DaemonFolder) async throws -> Void = { _, _ in }
  ) throws {
    alone = try DaemonFolder(model: model, recipes: recipes)
    self.query = query
    self.isWhole = isWhole
    self.kills = kills
    self.watch = watch
    self.also = also
    seed =
      ProcessInfo.processInfo.environment["LADE_KILL_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999)
    random = SeededGenerator(seed: seed)
  }

  /// Members, with their managers.
  static let members = """
    SELECT m.number, m.name, m.joined, m.age, m.score, m.note, b.number, m.manager_id IS NULL
    FROM Member m LEFT JOIN Member b ON m.manager_id = b.id ORDER BY m.number
    """

  /// Imports what is to be there before, then the files one after the other, in two stores, and expects the same of both.
  /// - Returns: the jobs of the files that were left alone.
  mutating func check(before: [Drop] = [], _ files: [Drop]) async throws -> [Job] {
    // Also with nothing before, so that the store is made.
    let first = try await alone.start()
    for drop in before { _ = try await alone.imported(drop.data, as: drop.name, into: drop.recipe) }
    try await first.stop()
    jobs = Int64(before.count)
    let killed = try DaemonFolder(copying: alone)

    let point = try point(in: alone)
    let daemon = try alone.launch(point.environment)
    try await daemon.ready()
    var expected: [Job] = []
    var changes: [Int] = []
    for drop in files {
      try point.arm(nil)
      expected.append(try await alone.imported(drop.data, as: drop.name, into: drop.recipe))
      changes.append(try point.changes())
    }
    try await daemon.stop()

    for (drop, (job, changes)) in zip(files, zip(expected, changes)) {
      let result = try await underKills(drop, in: killed, changes: changes)
      #expect(result.state == job.state, "\(drop.name), seed \(seed): \(result.reason ?? "")")
      #expect(result.progress == job.progress, "\(drop.name), seed \(seed)")
    }
    try await compare(killed)
    try await also(killed, alone)
    return expected
  }

  private func point(in folder: DaemonFolder) throws -> KillPoint {
    if let watch { try KillPoint(in: folder, watch: watch) } else { try KillPoint(in: folder) }
  }

  /// Imports a file by daemons that are killed; the job at its end.
  private mutating func underKills(_ drop: Drop, in folder: DaemonFolder, changes: Int) async throws -> Job {
    jobs += 1
    let point = try point(in: folder)
    try folder.drop(drop.data, as: drop.name, into: drop.recipe)
    var isKnown = false
    var count = 0
    // A job that goes on where it was is killed until nothing of it is left.
    for number in 0..<(isWhole ? kills : 3 * kills) {
      try point.arm(next(number, of: changes))
      let (job, isKilled) = try await run(folder.launch(point.environment), in: folder, &isKnown)
      if isKilled {
        count += 1
        timesKilled += 1
      } else if let job {
        return try ended(job, after: count)
      }
    }
    try point.arm(nil)
    let (job, isKilled) = try await run(folder.launch(point.environment), in: folder, &isKnown)
    #expect(!isKilled)
    return try ended(try #require(job), after: count)
  }

  private func ended(_ job: Job, after count: Int) throws -> Job {
    #expect(count >= kills / 2, "the kills hit the import, seed \(seed)")
    return job
  }

  /// The change at which a daemon is to be killed. An import that begins again from the start is killed in another part each time.
  private mutating func next(_ number: Int, of changes: Int) -> Int {
    let part = max(1, changes / kills)
    if isWhole { return part * (number % kills) + Int.random(in: 1...part, using: &random) }
    return Int.random(in: (part + 1) / 2...part, using: &random)
  }

  /// Runs a daemon until the job has ended, or it was killed.
  private func run(
    _ daemon: DaemonProcess, in folder: DaemonFolder, _ isKnown: inout Bool
  ) async throws -> (Job?, isKilled: Bool) {
    var job: Job?
    if try await daemon.started.value() == .ready {
      if !isKnown { isKnown = try await folder.spoolIsTaken() }
      if isKnown, let events = connect(to: folder) {
        job = await events.first { $0.state.isEnded }
        if job != nil { daemon.terminate() }
      }
    }
    let ending = try await daemon.ended()
    let log = try daemon.log
    #expect(ending == .signal(SIGKILL) || job != nil && ending == .exit(0), "seed \(seed): \(ending)\n\(log)")
    return (job, ending == .signal(SIGKILL))
  }

  /// nil when the daemon is gone.
  private func connect(to folder: DaemonFolder) -> JobEvents? {
    do {
      return try JobEvents(of: jobs, socket: folder.file("s"))
    } catch {
      return nil
    }
  }

  // MARK: What is left

  private func compare(_ killed: DaemonFolder) async throws {
    // Not in an expectation as they are: it would print them.
    let (rows, expected) = (try await killed.sqlite(query), try await alone.sqlite(query))
    let place = zip(rows.split(separator: "\n"), expected.split(separator: "\n")).first { $0 != $1 }
    #expect(rows.utf8.count == expected.utf8.count, "seed \(seed)")
    #expect(place == nil, "the tables differ, seed \(seed)")
    #expect(try await traces(of: killed) == traces(of: alone), "seed \(seed)")
    for folder in ["spool/active", "spool/corrupt", "spool/done", "spool/tmp"] {
      #expect(try killed.names(in: folder) == alone.names(in: folder), "\(folder), seed \(seed)")
    }
    let rejects = try FileManager.default.subpathsOfDirectory(atPath: alone.file("state/rejects")).sorted()
    #expect(try FileManager.default.subpathsOfDirectory(atPath: killed.file("state/rejects")).sorted() == rejects)
    for path in rejects {
      let name = "state/rejects/" + path
      let areEqual = FileManager.default.contentsEqual(atPath: killed.file(name), andPath: alone.file(name))
      #expect(areEqual, "\(path), seed \(seed)")
    }
  }

  /// The rest of a store: nothing that a job keeps, its tables and indexes, and whether all is well in it.
  private func traces(of folder: DaemonFolder) async throws -> String {
    for table in ["_lade_checkpoint", "_lade_unresolved", "_lade_aside", "_lade_seen"] {
      #expect(try await folder.sqlite("SELECT count(*) FROM \(table)") == "0", "\(table), seed \(seed)")
    }
    let traces = try await folder.sqlite(
      """
      SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2; SELECT digest, target, options, name FROM _lade_imported;
      PRAGMA foreign_key_check; PRAGMA integrity_check
      """)
    #expect(traces.hasSuffix("'ok'"), "seed \(seed)")
    return traces
  }
}
