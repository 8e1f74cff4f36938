package import ControlAPI
package import ControlServer
import Foundation
package import LadeTypes

/// What the test's daemon does beside listing, showing and telling.
extension MemoryBackend {
  package func stats() async throws -> Stats {
    Stats(
      version: LadeVersion.current, startedAt: Date(timeIntervalSince1970: 1_772_000_000), uptime: 12.5,
      counts: ["running": 1], lanes: ["import": ["running": 1]],
      rates: [.init(seconds: 12.5, completed: 2, cancelled: 1, discarded: 0, records: 1000)],
      durations: ["import": .init(count: 2, median: 0.5, p99: 1, longest: 1)],
      mainQueue: .init(count: 4, median: 0.0001, p99: 0.001, longest: 0.001), mainQueueBusy: 0.25,
      mainContexts: [
        "main": .init(
          savesMerged: 7, lag: .init(count: 5, median: 0.0001, p99: 0.05, longest: 0.05), registeredObjects: 1)
      ])
  }

  package func metrics() async throws -> [MetricFamily] {
    var jobs = MetricFamily(.gauge, "lade_jobs", "Jobs.")
    jobs.add(1, ["lane": "import", "state": "running"])
    return [jobs]
  }

  package func health() async -> Health {
    Health(
      version: LadeVersion.current,
      checks: [
        "the queue's store": .init(.pass), "the main queue": hangs ? .init(.fail, "no answer for 7 s") : .init(.pass),
      ])
  }

  package func readiness() async -> Health {
    Health(version: LadeVersion.current, checks: ["laded": .init(.pass), "the spool": .init(.warn, "found late")])
  }

  package func checkConfiguration() async throws -> ConfigurationCheck {
    ConfigurationCheck(
      path: "/etc/lade/lade.yaml", isGood: false, differs: true,
      mistakes: [.init(line: 3, column: 1, key: "lnaes", message: "there is no key `lnaes`"), .init(message: "so")])
  }

  package func reload(by peer: Peer) async throws -> Reload {
    if try await lanes().contains(where: \.isPaused) {
      throw ControlError.badConfiguration(["/etc/lade/lade.yaml:3:1: there is no key `lnaes`", "LADE_KEP: so"])
    }
    return Reload(
      changed: ["recipes.people", "keep"], removed: ["recipes.old"], needsRestart: ["socket"], needsMigration: ["main"])
  }

  package func configurationSettings() async throws -> ConfigurationSettings {
    ConfigurationSettings(
      layers: ["/etc/lade/lade.yaml", "LADE_LOG_LEVEL"],
      settings: [
        .init(key: "log_level", value: "debug", file: "LADE_LOG_LEVEL"),
        .init(key: "recipes.people.entity", value: "Stop", file: "/etc/lade/lade.yaml", line: 7),
        .init(key: "recipes.peoples.entity", value: "Stop", file: "/etc/lade/lade.yaml", line: 9),
      ], differs: true)
  }

  package func batches(_ query: BatchQuery) async throws -> BatchList {
    let all = [try await batch(1)]
    return BatchList(batches: all.filter { $0.id < query.before ?? .max }, next: query.limit == 1 ? 1 : nil)
  }

  package func backups(of store: String) async throws -> BackupList {
    guard store == "main" else { throw ControlError.noSuchStore(store, known: ["main"]) }
    return BackupList(
      folder: "/var/lib/lade/backups/main",
      backups: [
        Backup(
          name: "main-2026-02-25T061320Z-job7.sqlite.zst", madeAt: Date(timeIntervalSince1970: 1_772_000_000),
          size: 12_400, job: 7)
      ])
  }

  package func run(schedule: String, by peer: Peer) async throws -> Job {
    guard schedule == "nightly" else { throw ControlError.noSuchSchedule(schedule, known: ["nightly", "off"]) }
    return try await submit(JobSubmission(kind: "check"), by: peer)
  }

  package func pause(schedule: String, by peer: Peer) async throws -> Schedule {
    var changed = try example(schedule, after: "pause")
    changed.pausedBy = "user \(peer.uid)"
    changed.pausedAt = Date(timeIntervalSince1970: 1_772_000_000)
    return changed
  }

  package func resume(schedule: String, by peer: Peer) async throws -> Schedule {
    try example(schedule, after: "resume")
  }

  private func example(_ schedule: String, after change: String) throws -> Schedule {
    guard let example = Schedule.examples.first(where: { $0.name == schedule }) else {
      throw ControlError.noSuchSchedule(schedule, known: Schedule.examples.map(\.name))
    }
    state.withLock { $0.scheduleChanges.append("\(change) \(schedule)") }
    return example
  }

  package func retry(_ id: Int64, by peer: Peer) async throws -> Job {
    try await changed(id, by: peer) { $0.state = .available }
  }

  package func hold(_ id: Int64, by peer: Peer) async throws -> Job {
    try await changed(id, by: peer) {
      $0.state = .scheduled
      $0.isHeld = true
    }
  }

  package func release(_ id: Int64, by peer: Peer) async throws -> Job {
    try await changed(id, by: peer) {
      $0.state = .available
      $0.isHeld = false
    }
  }

  package func setPriority(_ id: Int64, to priority: Int, by peer: Peer) async throws -> Job {
    try await changed(id, by: peer) { $0.priority = priority }
  }

  package func remove(_ id: Int64, by peer: Peer) async throws -> Job {
    guard try await job(id).state.isEnded else { throw ControlError.conflict(reason: "Job \(id) hasn't ended.") }
    return try await changed(id, by: peer, isRemoved: true) { _ in }
  }

  package func change(_ change: JobChange, by peer: Peer) async throws -> Job {
    note(change, by: peer)
    var job = Job(
      id: 900, kind: "change", lane: "changes", state: .completed,
      submittedAt: Date(timeIntervalSince1970: 1_790_000_000), submittedBy: "user \(peer.uid)", maxAttempts: 5)
    job.availableAt = job.submittedAt
    job.change = JobChangeResult(changed: 2, refused: 1, refusals: [.init(job: 3, reason: "it has ended")])
    job.note = "2 jobs were changed, and 1 couldn't be"
    set(job)
    return job
  }

  package func submit(_ submissions: [JobSubmission], by peer: Peer) async throws -> [JobReceipt] {
    noteRequestForMany()
    var receipts: [JobReceipt] = []
    for submission in submissions {
      do {
        receipts.append(JobReceipt(id: try await submit(submission, by: peer).id))
      } catch let error as ControlError {
        receipts.append(JobReceipt(problem: error.problem))
      }
    }
    return receipts
  }

  package func submit(_ batch: BatchSubmission, by peer: Peer) async throws -> Batch {
    var jobs: [Int64] = []
    for member in batch.jobs { jobs.append(try await submit(member.job, by: peer).id) }
    return Batch(
      id: 1, name: batch.name, submittedBy: "user \(peer.uid)", submittedAt: Date(timeIntervalSince1970: 1_772_000_000),
      total: jobs.count, pending: jobs.count, failed: 0, condition: batch.condition, jobs: jobs)
  }

  package func batch(_ id: Int64) async throws -> Batch {
    guard id == 1 else { throw ControlError.noSuchBatch(id) }
    return Batch(
      id: 1, name: "night", submittedBy: "user 0", submittedAt: Date(timeIntervalSince1970: 1_772_000_000),
      endedAt: Date(timeIntervalSince1970: 1_772_000_009), total: 2, pending: 0, failed: 1, callback: 9, jobs: [1, 2])
  }

  package func lanes() async throws -> [Lane] { ["import", "maintenance"].map(lane) }

  package func schedules() async throws -> [Schedule] { Schedule.examples }

  package func pause(lane: String, by peer: Peer) async throws -> Lane { try set(lane) { $0.isPaused = true } }

  package func resume(lane: String, by peer: Peer) async throws -> Lane { try set(lane) { $0.isPaused = false } }

  package func setConcurrency(of lane: String, to number: Int?, by peer: Peer) async throws -> Lane {
    try set(lane) { $0.concurrency = number }
  }

  package func recipes() -> [Recipe] {
    [Recipe(name: "people", store: "main", entity: "Stop", lane: "import")]
      + saved.drafts.sorted { $0.key < $1.key }.map { name, draft in
        Recipe(
          name: name, store: draft.store, entity: draft.entity, lane: "import", isSaved: true,
          fault: saved.faults[name])
      }
  }

  package func replay(_ request: ReplayRequest, of recipe: String, by peer: Peer) async throws -> ReplayResult {
    note(request)
    let file = ReplayFile(
      job: 3, source: "a.csv", submittedAt: Date(timeIntervalSince1970: 1_700_000_000),
      replay: request.isDryRun ? nil : 7)
    return ReplayResult(
      recipe: recipe, isDryRun: request.isDryRun, batch: request.isDryRun ? nil : 2, files: [file],
      missing: [ReplayFile(job: 4, source: "b.csv", submittedAt: Date(timeIntervalSince1970: 1_700_000_100))])
  }

  package func diff(_ diff: ModelDiffRequest, by peer: Peer) async throws -> ModelDiff {
    let fits = diff.source.hasSuffix("fits.csv")
    let changes: [ModelDiff.Change] = [
      .init(
        subject: "types", entity: "Stop", column: "height", attribute: "height", type: "Integer 16",
        newType: "Integer 32", values: 2, example: "70000", line: 7,
        contract: diff.options["schema"] == .string("freeze") ? "freeze" : "discard_row"),
      .init(
        subject: "columns", file: "a.csv", entity: "Stop", column: "shoe size", attribute: "shoeSize",
        newType: "Integer 64", values: 1, contract: "discard_value"),
      .init(subject: "entities", file: "b.csv", contract: "discard_row"),
    ]
    return ModelDiff(store: "main", entity: "Stop", records: 9, isWhole: true, changes: fits ? [] : changes)
  }

  package func test(_ test: RecipeTest, by peer: Peer) async throws -> RecipeTestResult {
    note(test)
    try await trials.run()
    let progress =
      test.source?.hasSuffix("rejected.csv") == true
      ? JobProgress(records: 1, rejected: 1) : JobProgress(records: 3, inserted: 2, rejected: 1)
    return RecipeTestResult(
      store: "main", entity: "Stop", mode: .upsert, progress: progress,
      isWhole: true, notes: ["a note"],
      rejects: RejectReport(
        job: 0, count: 1,
        groups: [
          .init(code: "bad", column: "a", count: 1, examples: [.init(line: 2, message: "it is bad", record: "x")])
        ]),
      examples: [
        .init(change: .inserted, entity: "Stop", key: "7", values: [.init(property: "name", new: "<i>Quai</i>")]),
        .init(change: .updated, entity: "Stop", key: "8", values: [.init(property: "name", old: "Gare", new: nil)]),
      ],
      rows: test.rows == nil
        ? nil
        : ObjectPage(entity: "Stop", columns: ["name", "height"], rows: [[.string("<i>Ada</i>"), .double(1.5)]]))
  }

  package func stores(_ query: StoreCountQuery) async throws -> [Store] { [try await store("main", query)] }

  package func store(_ name: String, _ query: StoreCountQuery) async throws -> Store {
    guard name == "main" else { throw ControlError.noSuchStore(name, known: ["main"]) }
    return Store(
      name: "main", path: "/var/lib/lade/main.sqlite", model: "/etc/lade/Main.xcdatamodeld", size: 4096, walSize: 0,
      entities: MemoryObjects.entities(counted: query.counts != false))
  }
}

extension Schedule {
  /// One with everything, and one with as little as there can be.
  package static var examples: [Schedule] {
    [
      Schedule(
        name: "nightly", kind: "check", calendar: ["Mon..Fri *-*-* 02:30:00"], timeZones: ["Europe/Berlin"],
        nextAt: Date(timeIntervalSince1970: 1_800_000_000), lastAt: Date(timeIntervalSince1970: 1_799_913_600),
        lastOutcome: "a job was made", lastJob: 7, lastState: .completed,
        recent: [
          ScheduledJob(id: 7, state: .completed, seconds: 12), ScheduledJob(id: 5, state: .discarded, seconds: 1.5),
          ScheduledJob(id: 3, state: .cancelled),
        ]),
      Schedule(
        name: "off", kind: "import", calendar: ["*-*-* *:00:00"], timeZones: ["UTC"], catchUp: .skip, isEnabled: false),
    ]
  }
}
