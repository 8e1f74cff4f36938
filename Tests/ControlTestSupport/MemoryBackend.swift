package import ControlAPI
package import ControlServer
import Foundation
package import LadeTypes
import Synchronization

/// A backend whose jobs are in memory and change when the test says so.
package final class MemoryBackend: ControlBackend {
  package struct DiskFull: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "the disk of the queue store is full" }
  }

  struct State {
    var jobs: [Int64: Job] = [:]
    var listeners: [Int: AsyncStream<Job>.Continuation] = [:]
    var nextListener = 0
    var peers: [Peer] = []
    var submissions: [JobSubmission] = []
    var scheduleChanges: [String] = []
    var objectQueries: [ObjectQuery] = []
    var jobQueries: [JobQuery] = []
    var changes: [JobChange] = []
    var tests: [RecipeTest] = []
    var replays: [ReplayRequest] = []
    var paused: Set<String> = []
    var concurrency: [String: Int] = [:]
    var log: [LogLine] = []
    var logListeners: [Int: AsyncStream<LogLine>.Continuation] = [:]
    var watchers: [AsyncStream<WatchEvent>.Continuation] = []
    var watchQueries: [WatchQuery] = []
    var refusedSources: Set<String> = []
    var requestsForMany = 0
    var submittedAtOnce = 0
    var hangs = false
  }

  let state = Mutex(State())
  private let left: AsyncStream<Void>.Continuation
  private let joined: AsyncStream<Void>.Continuation
  /// A value for each event stream that somebody left.
  package let departures: AsyncStream<Void>
  /// A value for each event stream that was opened.
  package let arrivals: AsyncStream<Void>

  /// Links to the pages.
  package let sessions: WebSessions
  package let uploads = MemoryUploads()
  package let edited = MemoryEdits()
  package let rejected = MemoryRejects()
  package let saved = MemoryRecipes()
  package let trials = MemoryTrials()

  package let sharesQueue: Bool

  package init(jobs: [Job] = [], sharesQueue: Bool = false) {
    self.sharesQueue = sharesQueue
    // A busy machine may take a minute to open one.
    var limits = WebSessionLimits()
    limits.link = .seconds(3600)
    sessions = WebSessions(limits: limits)
    sessions.serve(at: "http://127.0.0.1:9465")
    (departures, left) = AsyncStream.makeStream()
    (arrivals, joined) = AsyncStream.makeStream()
    state.withLock { state in
      for job in jobs { state.jobs[job.id] = job }
    }
  }

  package var peers: [Peer] { state.withLock { $0.peers } }
  package var submissions: [JobSubmission] { state.withLock { $0.submissions } }
  /// What was done to schedules, such as `pause nightly`.
  package var scheduleChanges: [String] { state.withLock { $0.scheduleChanges } }
  package var objectQueries: [ObjectQuery] { state.withLock { $0.objectQueries } }
  package var jobQueries: [JobQuery] { state.withLock { $0.jobQueries } }
  package var changes: [JobChange] { state.withLock { $0.changes } }
  package var replays: [ReplayRequest] { state.withLock { $0.replays } }
  package var tests: [RecipeTest] { state.withLock { $0.tests } }
  package var watchQueries: [WatchQuery] { state.withLock { $0.watchQueries } }
  package var requestsForMany: Int { state.withLock { $0.requestsForMany } }
  /// Submissions that didn't take their way through the routes.
  package var submittedAtOnce: Int { state.withLock { $0.submittedAtOnce } }
  /// Who listens to the log.
  package var logListeners: Int { state.withLock { $0.logListeners.count } }

  /// Refuses jobs of a file from now on.
  package func refusesSource(_ source: String) { state.withLock { _ = $0.refusedSources.insert(source) } }

  /// Whether its main queue is said not to answer.
  package var hangs: Bool {
    get { state.withLock { $0.hangs } }
    set { state.withLock { $0.hangs = newValue } }
  }

  package func noteRequestForMany() { state.withLock { $0.requestsForMany += 1 } }

  /// Puts a job, new or changed, and tells everybody.
  package func set(_ job: Job) {
    state.withLock { state in
      state.jobs[job.id] = job
      for listener in state.listeners.values { listener.yield(job) }
    }
  }

  package func status() async throws -> Status {
    Status(
      version: LadeVersion.current, pid: 4711, startedAt: Date(timeIntervalSince1970: 1_772_000_000.25),
      lanes: [LaneStatus(name: "import", concurrency: 2, running: 1)], counts: [.running: 1],
      stores: [
        StoreStatus(
          name: "main", path: "/var/lib/lade/main.sqlite", entities: ["Stop"],
          mainContext: .init(
            savesMerged: 7, lag: .init(count: 5, median: 0.0001, p99: 0.05, longest: 0.05), registeredObjects: 1))
      ],
      spool: "/var/spool/lade")
  }

  package func jobs(_ query: JobQuery) async throws -> JobList {
    state.withLock { state in
      state.jobQueries.append(query)
      let all = state.jobs.values.sorted { query.order == .newest ? $0.id > $1.id : $0.id < $1.id }.filter { job in
        (query.states.isEmpty || query.states.contains(job.state)) && (query.lane ?? job.lane) == job.lane
          && job.id < query.before ?? .max && job.id > query.after ?? .min
      }
      let page = Array(all.prefix(query.limit))
      return JobList(jobs: page, next: all.count > page.count ? page.last?.id : nil)
    }
  }

  package func job(_ id: Int64) async throws -> Job {
    guard let job = state.withLock({ $0.jobs[id] }) else { throw ControlError.noSuchJob(id) }
    return job
  }

  package func settledJob(_ id: Int64) async throws -> Job { try await job(id) }

  package func submit(_ submission: JobSubmission, by peer: Peer) async throws -> Job {
    if submission.recipe == "full" { throw DiskFull() }
    if let source = submission.source, state.withLock({ $0.refusedSources.contains(source) }) {
      throw ControlError.invalid(field: "source", reason: "\(source) is nobody's file")
    }
    if submission.entity == "Nothing" { throw ControlError.noSuchEntity("Nothing", known: ["Stop", "Route"]) }
    let job = state.withLock { state in
      state.peers.append(peer)
      state.submissions.append(submission)
      var job = Job.example((state.jobs.keys.max() ?? 0) + 1, .available, source: submission.source ?? "")
      job.submittedAt = Date()
      return job
    }
    set(job)
    if let upload = submission.source.flatMap({ Upload.id(ofSource: $0) }) {
      try await removeUpload(upload, by: peer)
    }
    return job
  }

  package func submitAtOnce(
    _ submission: JobSubmission, by peer: Peer, reply: @escaping @Sendable (Result<Job, any Error>) -> Void
  ) -> Bool {
    guard submission.kind != "import" else { return false }
    state.withLock { $0.submittedAtOnce += 1 }
    Task {
      do { reply(.success(try await submit(submission, by: peer))) } catch { reply(.failure(error)) }
    }
    return true
  }

  package func cancel(_ id: Int64, by peer: Peer) async throws -> Job {
    guard !(try await job(id)).state.isEnded else {
      throw ControlError.conflict(reason: "Job \(id) has ended already.")
    }
    return try await changed(id, by: peer) { $0.state = .cancelled }
  }

  package func jobEvents() -> AsyncStream<Job> {
    let (stream, continuation) = AsyncStream<Job>.makeStream()
    let number = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      self?.left.yield()
    }
    joined.yield()
    return stream
  }

  package func logLines() -> AsyncStream<LogLine> {
    let (stream, continuation) = AsyncStream<LogLine>.makeStream()
    let number = state.withLock { state in
      state.nextListener += 1
      state.logListeners[state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.logListeners.removeValue(forKey: number) }
      self?.left.yield()
    }
    joined.yield()
    return stream
  }

  package func watch(_ query: WatchQuery, by peer: Peer) async throws -> AsyncStream<WatchEvent> {
    if query.entity == "Nothing" { throw ControlError.noSuchEntity("Nothing", known: ["Stop"]) }
    let (stream, continuation) = AsyncStream<WatchEvent>.makeStream()
    continuation.onTermination = { [weak self] _ in self?.left.yield() }
    state.withLock { state in
      state.watchQueries.append(query)
      state.watchers.append(continuation)
    }
    joined.yield()
    return stream
  }

  package func objects(_ query: ObjectQuery, by peer: Peer) async throws -> ObjectPage {
    state.withLock { $0.objectQueries.append(query) }
    if let page = try MemoryObjects.page(query) { return page }
    return ObjectPage(
      entity: query.entity, columns: ["name", "height", "open"],
      rows: [
        [.string("Große Straße, \"Süd\""), .double(1.5), .bool(true)], [.string("駅"), .int(12), .null],
      ], count: 2)
  }

  package func count(_ query: ObjectQuery, by peer: Peer) async throws -> Int {
    state.withLock { $0.objectQueries.append(query) }
    return try MemoryObjects.count(query) ?? 1234
  }

  package func origins(_ query: OriginQuery, by peer: Peer) async throws -> RowOrigins {
    if query.predicate == "objectID == 2" {
      return RowOrigins(
        entity: query.entity, store: query.store ?? "main", objects: [RowOrigin(number: 2, key: "2", steps: [])])
    }
    var step = OriginStep(
      event: "inserted", job: 12, kind: "import", submittedBy: "user 0", submittedAt: Date(timeIntervalSince1970: 0))
    (step.file, step.sha256, step.member) = ("feed.zip", String(repeating: "ab", count: 32), "stops.txt")
    (step.record, step.line, step.byte, step.recipe) = (2, 3, 40, "stops")
    (step.endedAt, step.undoneBy) = (Date(timeIntervalSince1970: 60), 13)
    var undo = OriginStep(
      event: "deleted", job: 13, kind: "undo", submittedBy: "user 0", submittedAt: Date(timeIntervalSince1970: 90))
    undo.undoes = 12
    return RowOrigins(
      entity: query.entity, store: query.store ?? "main",
      objects: [
        RowOrigin(number: 7, key: query.key ?? "7", steps: [step, undo]), RowOrigin(number: 8, key: "8", steps: []),
      ])
  }
}

extension MemoryBackend {
  package func webLink(for peer: Peer) async throws -> WebLink {
    try sessions.link(for: peer, user: "user \(peer.uid)")
  }
}

// What the rest of the interface changes.
extension MemoryBackend {
  package func changed(
    _ id: Int64, by peer: Peer, isRemoved: Bool = false, _ change: (inout Job) -> Void
  ) async throws -> Job {
    var job = try await job(id)
    change(&job)
    state.withLock { $0.peers.append(peer) }
    if isRemoved { state.withLock { _ = $0.jobs.removeValue(forKey: id) } } else { set(job) }
    return job
  }

  package func note(_ change: JobChange, by peer: Peer) {
    state.withLock { state in
      state.changes.append(change)
      state.peers.append(peer)
    }
  }

  package func cursor(of recipe: String) async throws -> CursorStatus {
    CursorStatus(recipe: recipe, column: "at", value: nil, movedAt: nil, job: nil)
  }

  package func setCursor(of recipe: String, to change: CursorChange, by peer: Peer) async throws -> CursorStatus {
    let moved = Date(timeIntervalSince1970: 1_780_000_000)
    return CursorStatus(recipe: recipe, column: "at", value: change.value, movedAt: moved, job: nil)
  }

  package func note(_ replay: ReplayRequest) { state.withLock { $0.replays.append(replay) } }
  package func note(_ test: RecipeTest) { state.withLock { $0.tests.append(test) } }

  /// What somebody has set of a lane.
  package struct LaneChange {
    package var isPaused: Bool
    package var concurrency: Int?
  }

  package func set(_ name: String, _ change: (inout LaneChange) -> Void) throws -> Lane {
    guard ["import", "maintenance"].contains(name) else {
      throw ControlError.noSuchLane(name, known: ["import", "maintenance"])
    }
    state.withLock { state in
      var lane = LaneChange(isPaused: state.paused.contains(name), concurrency: state.concurrency[name])
      change(&lane)
      if lane.isPaused { state.paused.insert(name) } else { state.paused.remove(name) }
      state.concurrency[name] = lane.concurrency
    }
    return lane(name)
  }

  package func lane(_ name: String) -> Lane {
    state.withLock { state in
      let isPaused = state.paused.contains(name)
      return Lane(
        LaneConfiguration(
          name: name, concurrency: 2, rate: name == "import" ? RateLimit(jobs: 10, period: 60) : nil),
        LaneSetting(
          isPaused: isPaused, pausedBy: isPaused ? "user 0" : nil,
          pausedAt: isPaused ? Date(timeIntervalSince1970: 1_772_000_000) : nil,
          concurrency: state.concurrency[name]),
        counts: [.running: 1], running: [1])
    }
  }

  /// Logs a line, and tells it to whoever listens.
  package func log(_ message: String, job: Int64? = nil, level: LogLevel = .info) {
    state.withLock { state in
      let line = LogLine(
        number: Int64(state.log.count + 1), at: Date(timeIntervalSince1970: 1_772_000_000), level: level,
        message: message, job: job, metadata: ["a": "b"])
      state.log.append(line)
      for listener in state.logListeners.values { listener.yield(line) }
    }
  }

  package func log(_ query: LogQuery) -> [LogLine] {
    state.withLock { Array($0.log.filter(query.matches).suffix(query.limit)) }
  }

  /// Tells the standing queries something.
  package func tell(_ event: WatchEvent) {
    for watcher in state.withLock({ $0.watchers }) { watcher.yield(event) }
  }

  /// Ends the standing queries.
  package func endWatching() {
    for watcher in state.withLock({ $0.watchers }) { watcher.finish() }
  }
}

extension Job {
  /// A job with a state, and the rest made up.
  package static func example(
    _ id: Int64, _ state: JobState, source: String = "stops.csv", progress: JobProgress = JobProgress(),
    reason: String? = nil, note: String? = nil
  ) -> Job {
    var job = Job(
      id: id, kind: "import", lane: "import", state: state, submittedAt: Date(timeIntervalSince1970: 1_772_000_000),
      submittedBy: "", maxAttempts: 5)
    (job.store, job.entity, job.mode, job.source) = ("main", "Stop", .upsert, source)
    job.availableAt = job.submittedAt
    job.startedAt = state == .available ? nil : Date(timeIntervalSince1970: 1_772_000_001)
    job.endedAt = state.isEnded ? Date(timeIntervalSince1970: 1_772_000_004) : nil
    job.attempt = 1
    (job.progress, job.reason, job.note) = (progress, reason, note)
    return job
  }
}
