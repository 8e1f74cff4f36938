// The queue's store has one writer, the context here, and one reader, the main context, which follows by merging. So no
// change is ever based on old values, and reading never waits for a write (rule 2, ARCHITECTURE.md). Requests that come while a
// transaction is being written wait together and share the next one.
//
// A request's way: `write` puts it in line → a turn on the ledger's queue takes all that wait → each body changes jobs
// through the turn → the observer adds the claims for which ended jobs make room → one save → the observer hears of
// every change → each request is answered. If a body throws, or the save
// fails, nothing of the turn remains, and each of its requests has a turn of its own, and its own answer.

import Foundation
import ManagedObjects
import Synchronization

/// Observes the ledger's transactions, on the ledger's queue, in order.
protocol LedgerObserver: AnyObject, Sendable {
  /// The names of the current lanes. They change on the ledger's queue only.
  var lanesNow: [String] { get }
  func hasLane(_ name: String) -> Bool
  /// Whether a data store is this host's alone.
  func isOfThisHost(store: String) -> Bool
  /// The recipes whose completed imports are noted. They change on the ledger's queue only.
  var watchedRecipes: Set<String> { get }
  /// A turn is about to change a job that is available.
  /// - Returns: the number of the claim with which its operation has begun, if that isn't written yet.
  func ledgerWillChange(_ id: Int64, in lane: String) -> Int64?
  /// A turn is about to be saved: changes that can share its transaction may be added. If that fails, and so the turn does, it is
  /// tried again without.
  func ledgerWillCommit(_ turn: LedgerTurn) throws
  /// These changes are durable.
  func ledgerDidCommit(_ changes: [LedgerChange])
  /// The requests of a turn are answered: there is time for other work.
  func ledgerDidEndTurn()
}

/// The jobs in their store. All changes of jobs are made here.
final class JobLedger: Sendable {
  /// Changes jobs; the closure that it returns makes the answer, once the changes are durable.
  typealias Body<Answer> = @Sendable (LedgerTurn) throws -> () throws -> Answer
  typealias Reply<Answer> = @Sendable (Result<Answer, any Error>) -> Void

  /// Jobs that share a transaction, at most: of requests that are about one each. A larger one has its own.
  private static let largestTurn = 256
  /// The number of changes after which the context forgets its objects, which bounds its memory.
  private static let changesKept = 1000

  /// The queue of the context that makes all changes.
  let queue: ContextQueue
  /// That context, for code that runs on its queue already.
  var context: ManagedObjectContext { queue.current }
  /// Merges what the ledger saves, on the main queue, for those that follow the queue's objects.
  let mainContext: ContextQueue
  /// Answers all reads of others. It has a queue of its own, because reading the disk stays off the main queue.
  let reader: ContextQueue
  /// Counts, which may take long where several daemons share the queue.
  let counter: ContextQueue
  private let now: @Sendable () -> Date
  /// How long a job that failed waits; from the next turn on.
  let backoff: Mutex<Backoff>
  private let line = Mutex(Line())
  private let observer = Mutex(Observer())
  /// This daemon's place among those that share the queue; nil where it is the only one.
  let daemon: QueueMembership?
  /// Changes since the context last forgot its objects.
  private let changesHeld = Atomic<Int>(0)

  private struct Observer { weak var value: (any LedgerObserver)? }

  private struct Line {
    var requests: [Request] = []
    var isTurnComing = false
  }

  private struct Request: Sendable {
    /// Changes jobs; what it returns sends the answer.
    let body: @Sendable (LedgerTurn) throws -> () -> Void
    let fail: @Sendable (any Error) -> Void
    /// How many jobs it is about.
    let jobs: Int

    init<Answer>(jobs: Int, _ body: @escaping Body<Answer>, _ reply: @escaping Reply<Answer>) {
      self.jobs = jobs
      self.body = { turn in
        let answer = try body(turn)
        return { reply(Result { try answer() }) }
      }
      fail = { reply(.failure($0)) }
    }
  }

  init(
    coordinator: PersistentStoreCoordinator, now: @escaping @Sendable () -> Date, backoff: Backoff,
    daemon: QueueMembership? = nil
  ) {
    self.daemon = daemon
    queue = ContextQueue(.privateQueue, coordinator: coordinator, name: "jobs.ledger")
    mainContext = ContextQueue(
      .mainQueue, mergingSavesOf: coordinator, name: "jobs.main", needsRows: false)
    // It reads what is committed: a client that has an answer to a change reads at least that change.
    reader = ContextQueue(.privateQueue, coordinator: coordinator, name: "jobs.reader")
    counter = ContextQueue(.privateQueue, coordinator: coordinator, name: "jobs.counter")
    self.now = now
    self.backoff = Mutex(backoff)
    // Where the queue has no other writer, the rows of jobs that turns look up again and again needn't be read each time.
    if daemon == nil { queue.performAndWait { context in context.retainsRegisteredObjects = true } }
  }

  func observe(_ observer: any LedgerObserver) { self.observer.withLock { $0.value = observer } }

  /// Puts a request in line; `reply` is called on the ledger's queue, after the commit.
  func write<Answer>(jobs: Int = 1, _ body: @escaping Body<Answer>, reply: @escaping Reply<Answer>) {
    putInLine([Request(jobs: jobs, body, reply)])
  }

  /// - Parameter waits: whether the caller waits for the queue, and takes the turn itself if no other turn is under way.
  private func putInLine(_ requests: [Request], waits: Bool = false) {
    let isFirst = line.withLock { line in
      line.requests += requests
      defer { line.isTurnComing = true }
      return !line.isTurnComing
    }
    guard isFirst else { return }
    if waits { queue.performAndWait { _ in takeTurn() } } else { queue.perform { _ in self.takeTurn() } }
  }

  /// Puts requests in line, one after the other, and returns their answers once all have one.
  /// - Parameter waits: whether the caller's thread may wait for the disk: if no turn is coming, it takes this one itself, and no
  ///   other thread has to be woken up.
  nonisolated(nonsending) func write<Answer: Sendable>(
    _ bodies: [Body<Answer>], waits: Bool = false
  ) async -> [Result<Answer, any Error>] {
    if bodies.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      let answers = Answers<Answer>(count: bodies.count) { continuation.resume(returning: $0) }
      let requests = bodies.enumerated().map { place, body in Request(jobs: 1, body) { answers.note($0, at: place) } }
      putInLine(requests, waits: waits)
    }
  }

  /// Puts a request in line, and returns its answer once its changes are durable.
  nonisolated(nonsending) func write<Answer: Sendable>(jobs: Int = 1, _ body: @escaping Body<Answer>) async throws
    -> Answer
  {
    try await withCheckedThrowingContinuation { continuation in
      write(jobs: jobs, body) { continuation.resume(with: $0) }
    }
  }

  /// Puts a change of one job in line, and returns the job once it is durable.
  func change(_ body: @escaping @Sendable (LedgerTurn) throws -> JobRecord) async throws -> Job {
    try await write { turn in
      let job = try body(turn)
      return { try job.snapshot() }
    }
  }

  /// A transaction of its own, on the ledger's queue, where the caller is. In a shared queue it may run several times.
  func turn<T>(_ body: (LedgerTurn) throws -> T) throws -> T {
    var isWhole = false
    let (result, changes) = try commit(tries: daemon == nil ? 1 : Self.mostTries, isWhole: &isWhole) { turn in
      try body(turn)
    }
    announce(changes)
    letGo()
    return result
  }

  /// How often a turn is tried that meets those of other daemons.
  private static let mostTries = 20
  /// How many seconds after its beginning it isn't tried any more.
  private static let longestTry: TimeInterval = 30

  /// Runs a turn and commits it. One that has had no effect, because it met that of another program, runs again.
  /// - Parameter isWhole: whether nothing but the last commit can have failed.
  private func commit<T>(
    tries: Int, isWhole: inout Bool, _ body: (LedgerTurn) throws -> T
  ) throws -> (T, [LedgerChange]) {
    let start = ContinuousClock.now
    var attempt = 1
    while true {
      isWhole = false
      do {
        return try inTransaction {
          let turn = makeTurn()
          let result = try body(turn)
          let changes = try turn.save()
          isWhole = true
          return (result, changes)
        }
      } catch {
        context.reset()
        guard attempt < tries, start.duration(to: .now) < .seconds(Self.longestTry),
          mayPass(error, isWhole: isWhole)
        else { throw error }
        attempt += 1
        if daemon != nil { Thread.sleep(forTimeInterval: 0.005 * Double(min(attempt, 20)) * Double.random(in: 0..<1)) }
      }
    }
  }

  /// Runs a turn in one transaction where others write, too: what it reads and locks then holds until its end.
  private func inTransaction<T>(_ body: () throws -> T) throws -> T {
    guard daemon != nil else { return try body() }
    let coordinator = context.persistentStoreCoordinator
    guard let entity = coordinator.model.entitiesByName[QueueModel.job] else { return try body() }
    return try coordinator.inOneTransaction(of: coordinator.store(of: entity)) { (try body(), .commit) }
  }

  /// Whether a turn may succeed when it runs again.
  /// - Parameter isWhole: whether nothing but its commit can have failed.
  private func mayPass(_ error: any Error, isWhole: Bool) -> Bool {
    switch error {
    // Another program changed the row: it is read again.
    case ManagedObjectError.mergeConflicts: true
    case ManagedObjectError.constraintConflicts, StoreTransactionError.lost: daemon != nil
    case ManagedObjectError.store(let failure): daemon != nil && !isWhole && [.busy, .io].contains(failure.kind)
    default: false
    }
  }

  private func makeTurn() -> LedgerTurn {
    LedgerTurn(
      context: context, now: now(), backoff: backoff.withLock { $0 }, observer: observer.withLock { $0.value },
      daemon: daemon)
  }

  private func takeTurn() {
    let requests = line.withLock { line in
      var jobs = 0
      let count = line.requests.prefix { request in
        jobs += request.jobs
        return jobs <= Self.largestTurn
      }.count
      let taken = Array(line.requests.prefix(max(1, count)))
      line.requests.removeFirst(taken.count)
      line.isTurnComing = !line.requests.isEmpty
      return (taken, isMore: line.isTurnComing)
    }
    if requests.isMore { queue.perform { _ in self.takeTurn() } }
    answer(requests.0, isAlone: false)
    letGo()
    observer.withLock { $0.value }?.ledgerDidEndTurn()
  }

  /// - Parameter isAlone: whether the requests failed together with others, or with what can share their transaction.
  private func answer(_ requests: [Request], isAlone: Bool) {
    // One of several fails all of them: each is tried by itself then. Where others write, too, the same goes for what shares their
    // transaction.
    let sharesTurn = daemon == nil || !isAlone
    let isOneOfSeveral = requests.count > 1 || (daemon != nil && sharesTurn)
    var isWhole = false
    do {
      let tries = isOneOfSeveral ? 1 : daemon == nil ? 2 : Self.mostTries
      let (answers, changes) = try commit(tries: tries, isWhole: &isWhole) { turn in
        let answers = try requests.map { try $0.body(turn) }
        if sharesTurn { try observer.withLock { $0.value }?.ledgerWillCommit(turn) }
        return answers
      }
      announce(changes)
      for answer in answers { answer() }
    } catch {
      if requests.count > 1 || (isOneOfSeveral && (!isWhole || mayPass(error, isWhole: true))) {
        for request in requests { answer([request], isAlone: true) }
      } else {
        requests[0].fail(error)
      }
    }
  }

  /// Forgets what was read, since others write, too. On the ledger's queue, between turns.
  func forgetObjects() { context.reset() }

  private func letGo() {
    if daemon != nil { return context.reset() }
    guard changesHeld.load(ordering: .relaxed) > Self.changesKept else { return }
    changesHeld.store(0, ordering: .relaxed)
    context.reset()
  }

  private func announce(_ changes: [LedgerChange]) {
    guard !changes.isEmpty else { return }
    changesHeld.add(changes.count, ordering: .relaxed)
    observer.withLock { $0.value }?.ledgerDidCommit(changes)
  }
}

/// Collects the answers of requests until all are there.
private final class Answers<Answer: Sendable>: Sendable {
  private let state: Mutex<(answers: [Result<Answer, any Error>?], missing: Int)>
  private let reply: @Sendable ([Result<Answer, any Error>]) -> Void

  init(count: Int, _ reply: @escaping @Sendable ([Result<Answer, any Error>]) -> Void) {
    state = Mutex(([Result<Answer, any Error>?](repeating: nil, count: count), count))
    self.reply = reply
  }

  /// Each place is noted once.
  func note(_ answer: Result<Answer, any Error>, at place: Int) {
    let all = state.withLock { state -> [Result<Answer, any Error>]? in
      state.answers[place] = answer
      state.missing -= 1
      return state.missing == 0 ? state.answers.compactMap { $0 } : nil
    }
    if let all { reply(all) }
  }
}
