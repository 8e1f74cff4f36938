import Dispatch
import Foundation
import ManagedObjects
import Testing

@testable import Jobs

/// Holds the ledger against a model of a few lines, over many random steps: who is claimed, what becomes of whom, and what
/// is refused, with kills and failing writes in between.
@Suite("Random interleavings", .timeLimit(.minutes(60)))
struct JobModelTests {
  private static let steps = 25_000

  @Test("agree with a simple model over 100,000 steps")
  func interleavings() async throws {
    // On a thread of its own: it works for a while, and others' tests need theirs.
    let failure: String? = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "test.model").async {
        continuation.resume(
          with: Result<String?, any Error> {
            for seed: UInt64 in [11, 22, 33, 44] {
              if let failure = try Self.walk(seed) { return failure }
            }
            return nil
          })
      }
    }
    #expect(failure == nil)
  }

  /// - Returns: where the two differ; nil if they don't.
  @Sendable private static func walk(_ seed: UInt64) throws -> String? {
    let walk = Walk(try TestHouse(.inMemory), seed: seed)
    for step in 0..<steps {
      do {
        try walk.step()
        if step % 500 == 0 { try walk.compare() }
      } catch {
        return "seed \(seed), step \(step): \(error)"
      }
    }
    try walk.compare()
    // A walk that does nothing would show nothing.
    let isLively =
      walk.seen.count == Walk.Act.allCases.count && walk.happened > steps / 3 && walk.refused > steps / 20
    return isLively ? nil : "seed \(seed): \(walk.happened) happened, \(walk.refused) were refused"
  }
}

/// A job as the model has it.
private struct Model: Equatable {
  var state: JobState
  var lane: String
  var priority: Int
  var attempt = 0
  var most: Int
  var isHeld = false
  var isStopping = false
  var notBefore: Date?
  var deadline: Date?
  /// When it becomes available.
  var due: Date?
  /// What it waits for.
  var after: [Int64: JobDependency.Condition] = [:]

  var isEnded: Bool { [.completed, .cancelled, .discarded].contains(state) }
  var waits: Bool { [.scheduled, .available, .retryable].contains(state) }

  mutating func line(up now: Date) {
    due = nil
    state = .scheduled
    if isHeld || !after.isEmpty { return }
    if let notBefore, notBefore > now { due = notBefore } else { state = .available }
  }
}

private final class Walk: @unchecked Sendable {
  // Sendable: it works on the test's thread, which waits while its closures run on the ledger's queue.
  enum Act: CaseIterable {
    case submit, claim, succeed, fail, stop, interrupt, cancel, retry, hold, release, pass, kill, remove, refuse
  }

  private let house: TestHouse
  private var ledger: JobLedger
  private var random: Seeded
  private var jobs: [Int64: Model] = [:]
  private(set) var seen: Set<Act> = []
  private(set) var happened = 0
  private(set) var refused = 0
  private let backoff = Backoff(first: 4, longest: 16, spread: 0)

  init(_ house: TestHouse, seed: UInt64) {
    self.house = house
    random = Seeded(seed: seed)
    ledger = JobLedger(coordinator: house.coordinator, now: house.clock.clock.now, backoff: backoff)
  }

  private var now: Date { house.clock.now }

  func step() throws {
    var act = Act.allCases.randomElement(using: &random) ?? .submit
    // Neither empty nor crowded for long.
    if jobs.count > 60, act == .submit { act = .remove }
    seen.insert(act)
    switch act {
    case .submit: try submit()
    case .claim: try claim()
    case .succeed: try end { .completed($0) }
    case .stop: try end { .cancelled($0) }
    case .interrupt: try end { .interrupted($0) }
    case .fail:
      let isRetryable = Bool.random(using: &random)
      try end { .failed(JobFailure(code: "x", message: "x", isRetryable: isRetryable), $0) }
    case .cancel: try change(.cancelRequested, cancel)
    case .retry: try change(.retryRequested, retry)
    case .hold: try change(.held, hold)
    case .release: try change(.released, release)
    case .pass: try pass()
    case .kill: try kill()
    case .remove: try remove()
    case .refuse: try refuse()
    }
  }

  // MARK: What is done to both.

  private func submit() throws {
    var submission = JobSubmission.of(
      "noop", priority: Int.random(in: -1...1, using: &random), lane: Bool.random(using: &random) ? "a" : "b")
    submission.maxAttempts = Int.random(in: 1...3, using: &random)
    if chance(5) { submission.notBefore = now.addingTimeInterval(Double(Int.random(in: -5...20, using: &random))) }
    if chance(5) { submission.deadline = now.addingTimeInterval(Double(Int.random(in: 1...40, using: &random))) }
    submission.isHeld = chance(8)
    if chance(4) {
      submission.after = jobs.keys.sorted().shuffled(using: &random).prefix(2).map {
        JobDependency(job: $0, condition: chance(2) ? .ended : .succeeded)
      }
    }
    let impossible = submission.after.contains { dependency in
      guard let other = jobs[dependency.job] else { return false }
      return other.isEnded && other.state != .completed && dependency.condition == .succeeded
    }
    let wanted = submission
    let id = try attempt { try $0.insert(wanted).objectID }
    try expect(id != nil, is: !impossible, "a submission")
    guard let id else { return }
    var job = Model(
      state: .scheduled, lane: submission.lane ?? "", priority: submission.priority ?? 0,
      most: submission.maxAttempts ?? 0)
    job.isHeld = submission.isHeld
    job.notBefore = submission.notBefore
    job.deadline = submission.deadline
    for dependency in submission.after where jobs[dependency.job]?.isEnded == false {
      job.after[dependency.job] = dependency.condition
    }
    job.line(up: now)
    let number = try ledger.queue.performAndWait { context in
      // The number is known once it is saved.
      try context.fetch(
        FetchRequest<JobRecord>(
          entityName: QueueModel.job, sortDescriptors: [FetchSortDescriptor("SELF", ascending: false)], fetchLimit: 1)
      ).first?.objectID.number ?? id.number
    }
    try expect(jobs[number] == nil, is: true, "a new number")
    jobs[number] = job
  }

  private func claim() throws {
    let lane = Bool.random(using: &random) ? "a" : "b"
    let limit = Int.random(in: 1...3, using: &random)
    let before = try running()
    let ledger = ledger
    let claimed = try ledger.queue.performAndWait { _ in
      var scope = ClaimScope(use: StoreUse(), access: { _ in .none })
      return try ledger.claim(lane: lane, limit: limit, &scope)
    }
    let expected = jobs.filter { $0.value.state == .available && $0.value.lane == lane }
      .sorted { ($1.value.priority, $0.key) < ($0.value.priority, $1.key) }.prefix(limit).map(\.key)
    try expect(claimed, is: expected.count, "claimed")
    try expect(try running().subtracting(before), is: Set(expected), "who was claimed")
    for id in expected {
      jobs[id]?.state = .running
      jobs[id]?.attempt += 1
    }
    happened += claimed
  }

  private func end(_ outcome: (JobProgress) -> JobOutcome) throws {
    guard let id = pick() else { return }
    let outcome = outcome(JobProgress())
    let isPossible = jobs[id]?.state == .running
    let done: Void? = try attempt { turn in try turn.record(outcome, of: turn.job(id), jitter: 0.5) }
    try expect(done != nil, is: isPossible, "the end \(outcome)")
    guard isPossible, var job = jobs[id] else { return }
    switch outcome {
    case .completed: job.state = .completed
    case .cancelled: job.state = .cancelled
    case .interrupted: putBack(&job)
    case .failed(let failure, _):
      let next = now.addingTimeInterval(min(16, 4 * pow(2, Double(job.attempt - 1))))
      if job.isStopping {
        job.state = .cancelled
      } else if !failure.isRetryable || job.attempt >= job.most || job.deadline.map({ next >= $0 }) ?? false {
        job.state = .discarded
      } else {
        job.state = .retryable
        job.due = next
      }
    }
    if job.isEnded { job.isStopping = false }
    jobs[id] = job
    settle(id)
  }

  private func change(_ event: JobEvent, _ model: (Int64) -> Bool) throws {
    guard let id = pick() else { return }
    let before = jobs
    let isPossible = model(id)
    let after = jobs
    jobs = before
    let done: Void? = try attempt { turn in try turn.apply(event, to: turn.job(id), reason: "test", by: "ben") }
    try expect(done != nil, is: isPossible, "\(event.name) of \(String(describing: jobs[id]))")
    guard isPossible else { return }
    jobs = after
    settle(id)
  }

  private func pass() throws {
    house.clock.advance(by: Double(Int.random(in: 1...9, using: &random)))
    let ledger = ledger
    try ledger.queue.performAndWait { _ in
      while let next = try ledger.promoteDue(), next <= now {}
      while let next = try ledger.expireDue(), next <= now {}
    }
    for (id, job) in jobs {
      guard let due = job.due, due <= now else { continue }
      jobs[id]?.due = nil
      jobs[id]?.state = .available
    }
    for id in jobs.keys.sorted() {
      guard let job = jobs[id], job.waits, let deadline = job.deadline, deadline <= now else { continue }
      jobs[id]?.state = .discarded
      jobs[id]?.due = nil
      settle(id)
    }
  }

  private func kill() throws {
    ledger = JobLedger(coordinator: house.coordinator, now: house.clock.clock.now, backoff: backoff)
    let ledger = ledger
    let rescued = try ledger.queue.performAndWait { _ in try ledger.rescue { _ in nil } }
    let running = jobs.filter { $0.value.state == .running }.map(\.key)
    try expect(rescued, is: running.count, "rescued")
    for id in running {
      guard var job = jobs[id] else { continue }
      putBack(&job)
      jobs[id] = job
      settle(id)
    }
  }

  private func remove() throws {
    guard let id = pick() else { return }
    let isPossible = jobs[id]?.isEnded ?? false
    let done: Void? = try attempt { turn in
      let job = try turn.job(id)
      guard job.jobState?.isEnded == true else { throw JobQueueError.refused(id: id, why: "runs") }
      try turn.remove(job)
    }
    try expect(done != nil, is: isPossible, "a removal")
    if isPossible { jobs[id] = nil }
  }

  /// Whatever is asked while the store refuses to write, nothing of it happens.
  private func refuse() throws {
    house.faults.isFailing = true
    defer { house.faults.isFailing = false }
    let ledger = ledger
    for id in [pick(), pick()].compactMap({ $0 }) {
      for event in [JobEvent.cancelRequested, .retryRequested, .held] {
        let done: Void? = try attempt { turn in
          try turn.apply(event, to: turn.job(id), reason: "test", by: "ben")
          try turn.record(turn.job(id), reason: "so that there is something to write", by: "ben")
        }
        try expect(done == nil, is: true, "a refused write")
      }
    }
    let claimed = try ledger.queue.performAndWait { _ in
      var scope = ClaimScope(use: StoreUse(), access: { _ in .none })
      do {
        return try ledger.claim(lane: "a", limit: 1, &scope)
      } catch is ManagedObjectError {
        return 0
      }
    }
    try expect(claimed, is: 0, "claimed")
  }

  // MARK: The model.

  private func cancel(_ id: Int64) -> Bool {
    guard var job = jobs[id], !job.isEnded else { return false }
    if job.state == .running {
      job.isStopping = true
    } else {
      job.state = .cancelled
      job.due = nil
    }
    jobs[id] = job
    return true
  }

  private func retry(_ id: Int64) -> Bool {
    guard var job = jobs[id] else { return false }
    switch job.state {
    case .retryable:
      job.due = nil
      job.state = .available
    case .cancelled, .discarded:
      job.isHeld = false
      job.notBefore = nil
      job.after = [:]
      if let deadline = job.deadline, deadline <= now { job.deadline = nil }
      job.most = max(job.most, job.attempt + 1)
      job.line(up: now)
    case .scheduled, .available, .running, .completed: return false
    }
    jobs[id] = job
    return true
  }

  private func hold(_ id: Int64) -> Bool {
    guard var job = jobs[id], job.waits else { return false }
    job.isHeld = true
    job.due = nil
    job.state = .scheduled
    jobs[id] = job
    return true
  }

  private func release(_ id: Int64) -> Bool {
    guard var job = jobs[id], job.state == .scheduled, job.isHeld else { return false }
    job.isHeld = false
    job.line(up: now)
    jobs[id] = job
    return true
  }

  private func putBack(_ job: inout Model) {
    if job.isStopping {
      job.state = .cancelled
      job.isStopping = false
    } else {
      job.attempt -= 1
      job.state = .available
    }
  }

  /// Those that follow a job hear of its end.
  private func settle(_ id: Int64) {
    guard let ended = jobs[id], ended.isEnded else { return }
    for other in jobs.keys.sorted() {
      guard var job = jobs[other], let condition = job.after.removeValue(forKey: id) else { continue }
      if job.state == .scheduled, condition == .succeeded, ended.state != .completed {
        job.state = .cancelled
        job.after = [:]
        jobs[other] = job
        settle(other)
        continue
      }
      if job.state == .scheduled, job.after.isEmpty { job.line(up: now) }
      jobs[other] = job
    }
  }

  // MARK: Both.

  /// - Returns: nil when it was refused, or couldn't be written.
  private func attempt<T: Sendable>(_ body: @Sendable (LedgerTurn) throws -> T) throws -> T? {
    let ledger = ledger
    do {
      let result = try ledger.queue.performAndWait { _ in try ledger.turn(body) }
      happened += 1
      return result
    } catch is JobQueueError {
      refused += 1
      return nil
    } catch let error as ManagedObjectError {
      guard house.faults.isFailing else { throw error }
      return nil
    }
  }

  private func pick() -> Int64? { jobs.keys.sorted().randomElement(using: &random) }
  private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private func running() throws -> Set<Int64> {
    let ledger = ledger
    return try ledger.queue.performAndWait { context in
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job, predicate: .equal(JobRecord.Key.state.name, .string(JobState.running.rawValue)))
      return Set(try context.fetch(request).map(\.objectID.number))
    }
  }

  /// Every job is as the model has it, and its last transition led there.
  func compare() throws {
    let coordinator = house.coordinator
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let stored = try context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job))
    try expect(Set(stored.map(\.objectID.number)), is: Set(jobs.keys), "the jobs that there are")
    for job in stored {
      guard let model = jobs[job.objectID.number] else { continue }
      var found = Model(
        state: job.jobState ?? .discarded, lane: job.lane, priority: job.priority, most: job.maxAttempts)
      found.attempt = job.attempt
      found.isHeld = job.isHeld
      found.isStopping = job.isCancelRequested
      found.notBefore = job.notBefore
      found.deadline = job.deadline
      found.due = job.availableAt
      found.after = model.after
      try expect(found, is: model, "job \(job.objectID.number)")
      try expect(job.isAwaitingJobs, is: !model.after.isEmpty && !model.isEnded, "waiting of \(job.objectID.number)")
      let last = try context.fetch(
        FetchRequest<TransitionRecord>(
          entityName: QueueModel.transition, predicate: .equal(TransitionRecord.Key.job.name, .object(job.objectID)),
          sortDescriptors: [FetchSortDescriptor("SELF", ascending: false)], fetchLimit: 1))
      try expect(last.first?.toState, is: model.state, "the last step of \(job.objectID.number)")
    }
  }

  private func expect<T: Equatable>(_ found: T, is wanted: T, _ what: String) throws {
    guard found != wanted else { return }
    throw Difference(description: "\(what): \(found), and the model says \(wanted)")
  }
}

private struct Difference: Error, CustomStringConvertible { let description: String }

/// SplitMix64.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
