// An operation is a plain synchronous `Operation`: its lane's `OperationQueue` calls `start()`, and Foundation calls `main()`
// there and counts it as finished when that returns. See `LaneQueue` for which queue that is.

public import Foundation
import Importing
public import ManagedObjects
import Synchronization

/// The work of one job: a subclass overrides ``perform()``.
///
/// `perform()` runs on a queue of its lane that nothing else uses, and may block. It builds its own private context there, saves whole
/// batches, and after each batch reports progress and looks at two flags:
/// - `isCancelled`: the job is to be cancelled. Return ``JobOutcome/cancelled(_:)``.
/// - ``isDraining``: the daemon stops. Return ``JobOutcome/interrupted(_:)``; the job goes on after the next start.
///
/// It may be killed at any instruction and run again from the beginning, so what it has done already must be noted where
/// its work is (rule 4, ARCHITECTURE.md).
///
/// ```swift
/// final class CountOperation: JobOperation, @unchecked Sendable {
///   // Sendable: it adds nothing to its superclass.
///   override func perform() throws -> JobOutcome {
///     let context = try context()
///     let count = try context.count(for: FetchRequest<ManagedObject>(entityName: job.entity ?? "Person"))
///     return .completed(JobProgress(records: Int64(count)))
///   }
/// }
/// ```
///
/// Swift wants `@unchecked Sendable` restated by each subclass, because Foundation's `Operation` is. An operation that is a
/// closure needs no subclass: ``OperationCatalogue/add(_:options:access:check:perform:)``.
open class JobOperation: Operation, @unchecked Sendable {
  // Sendable: `job` and `environment` are constant, the flag is atomic, and `ending` has its lock. A subclass's own
  // properties are touched by `perform` only.

  /// The job as it stood when it was claimed.
  public let job: Job
  /// What the operation works with.
  public let environment: JobEnvironment
  private let draining = Atomic<Bool>(false)
  private let ending = Mutex(Ending())
  private let successor = Mutex<(@Sendable () -> JobOperation?)?>(nil)
  private let finished = Mutex<(@Sendable (JobOperation?) -> Void)?>(nil)
  /// What the saves of the operation's contexts compare, by coordinator.
  private let fences = Mutex<[ObjectIdentifier: SaveFence]>([:])

  private struct Ending {
    var outcome: JobOutcome?
    var latest: JobProgress?
  }

  /// How operations of this class share the data store that their job names: beside others, unless a subclass says
  /// that it needs the store to itself, or not at all.
  open class var access: StoreAccess { .shared }

  /// How the operation of a job with these options shares its store, in JSON; as the class says, unless a subclass differs.
  package class func access(for options: String) -> StoreAccess { access }

  /// Whether operations of this class replace the whole content of their store, which no save announces: contexts of the
  /// store forget what they have read, and standing queries end.
  open class var replacesContent: Bool { false }

  /// An operation for a job. A subclass that overrides it calls it first.
  public required init(job: Job, environment: JobEnvironment) {
    self.job = job
    self.environment = environment
    super.init()
  }

  /// Whether the daemon stops, so that the operation is to stop at its next batch. May be read from any thread.
  public final var isDraining: Bool { draining.load(ordering: .relaxed) }

  /// Checks a submission before a job is made of it, so that mistakes are reported to the submitter: the daemon and an
  /// ``EmbeddedQueue`` refuse what it throws for. What depends on the store's content is left to ``perform()``, which checks
  /// everything again. It may be called on any thread, and must not block.
  ///
  /// ```swift
  /// override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
  ///   let options = try submission.decodeOptions(as: Options.self)
  ///   guard !options.to.isEmpty else {
  ///     throw JobFailure(code: "bad_options", message: "to: it must not be empty", isRetryable: false)
  ///   }
  /// }
  /// ```
  /// - Parameter model: the model of the data store that it names; without entities where it names none.
  /// - Throws: what the job would fail with.
  open class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {}

  /// Does the work. Errors that it throws are failures: see ``JobFailure/init(_:)``.
  open func perform() throws -> JobOutcome {
    throw JobFailure(
      code: "not_implemented", message: "\(type(of: self)) doesn't override perform()", isRetryable: false)
  }

  /// How the job ended, if an earlier attempt did all of its work and its end wasn't recorded: the daemon was killed after the
  /// last save, or that save was reported as failed although it was committed. Such a job is neither cancelled nor failed. Nil
  /// if there may be work left.
  package func endBefore() throws -> JobOutcome? { nil }

  /// A context of the operation's own over a data store, for ``perform()``: it belongs to the thread that calls this. Its
  /// saves have `job` and the job's number as their author, and nothing is saved any more once another has taken the job over.
  /// - Parameter store: the store's name; nil: the store that the job names.
  /// - Throws: ``JobFailure`` of the codes `no_such_store` and `superseded`.
  public final func context(for store: String? = nil) throws -> ManagedObjectContext {
    let context = try readingContext(for: store)
    context.fence = try fence(in: context.persistentStoreCoordinator)
    return context
  }

  /// A context that only reads.
  final func readingContext(for store: String? = nil) throws -> ManagedObjectContext {
    ManagedObjectContext(
      .confinement, coordinator: try namedStore(store).coordinator, name: "\(job.kind) \(job.id)",
      transactionAuthor: "job \(job.id)")
  }

  /// Raises the fence of a data store to this claim of the job, before the first that is read there; nil for a store that has no
  /// place for one.
  /// - Throws: ``JobFailure`` of the code `superseded`.
  final func fence(in coordinator: PersistentStoreCoordinator) throws -> SaveFence? {
    guard job.claim > 0, coordinator.model.entitiesByName[ImportModel.fenceEntity] != nil else { return nil }
    if let known = fences.withLock({ $0[ObjectIdentifier(coordinator)] }) { return known }
    let fence = try JobFence.raise(checkpointName, to: job.claim, in: coordinator)
    // A later claimant may have raised the fence, ended the job and removed what it keeps, including the fence. From here on that
    // can't happen.
    guard try environment.isOwn?(job) ?? true else { throw JobFailure.superseded(job) }
    fences.withLock { $0[ObjectIdentifier(coordinator)] = fence }
    return fence
  }

  /// A data store by its name; by default that of the job.
  /// - Throws: ``JobFailure`` of the code `no_such_store`.
  final func namedStore(_ given: String? = nil) throws -> (name: String, coordinator: PersistentStoreCoordinator) {
    // A job that migrates its store goes on with what the store is then.
    let stores = environment.presentStores?() ?? environment.dataStores
    let known = stores.keys.sorted().joined(separator: ", ")
    guard let name = given ?? job.store, !name.isEmpty else {
      throw JobFailure(
        code: "no_such_store", message: "the job doesn't say which store is meant; there are \(known)",
        isRetryable: false)
    }
    guard let coordinator = stores[name] else {
      throw JobFailure(
        code: "no_such_store", message: "there is no store \(name); there are \(known)", isRetryable: false)
    }
    return (name, coordinator)
  }

  /// Says how far the work is. Cheap, and may be called from any thread; after every batch is often enough.
  public final func report(_ progress: JobProgress) {
    ending.withLock { $0.latest = progress }
    environment.report(progress)
  }

  /// Runs reads that end within a statement when the operation is to stop. `body` saves nothing: a save would be interrupted, too.
  /// - Throws: what `perform()` must let through, which ends the job as it was asked to.
  package final func reading<T>(_ body: () throws -> T) throws -> T {
    try Interruption { [unowned self] in isCancelled || isDraining ? .cancelled : nil }.limit(body)
  }

  /// Called by the operation queue when it is the operation's turn.
  public final override func start() {
    Self.yield(environment.niceness)
    super.start()
    // Foundation doesn't call `main()` of an operation that was cancelled before.
    if ending.withLock({ $0.outcome == nil }) { main() }
    let next = successor.withLock { $0.take() }?()
    finished.withLock { $0.take() }?(next)
  }

  /// Gives the calling thread a nice value. It keeps it, because lowering it again takes a privilege: lanes have threads of
  /// the utility class, which nothing that answers runs on.
  private static func yield(_ niceness: Int32) {
    let thread = __priority_which_t(PRIO_PROCESS.rawValue)
    let before = getpriority(thread, 0)
    guard niceness > 0, before < niceness, setpriority(thread, 0, niceness) == 0 else { return }
    // A thread that this one makes inherits the value. Where such a thread couldn't lower it again, all stay as they were.
    if setpriority(thread, 0, before) == 0 { _ = setpriority(thread, 0, niceness) }
  }

  /// Sets what is called once, on the operation's thread, when it has done its work, or was cancelled before; what it
  /// returns follows in the operation's slot.
  final func whenDone(_ body: @escaping @Sendable () -> JobOperation?) { successor.withLock { $0 = body } }

  /// Sets what is called once after that, with the operation that is to follow.
  final func whenFinished(_ body: @escaping @Sendable (JobOperation?) -> Void) { finished.withLock { $0 = body } }

  /// Runs ``perform()`` and keeps its outcome.
  public final override func main() {
    let outcome = outcomeOfRun()
    ending.withLock { $0.outcome = outcome }
  }

  private func outcomeOfRun() -> JobOutcome {
    do {
      if isCancelled { return try endBefore() ?? .cancelled(job.progress) }
      if isDraining { return .interrupted(job.progress) }
      return try perform()
    } catch {
      let progress = ending.withLock { $0.latest } ?? job.progress
      do {
        if let end = try endBefore() { return end }
      } catch {
        // What ended it says more.
      }
      if error is Interrupted, isCancelled { return .cancelled(progress) }
      if error is Interrupted, isDraining { return .interrupted(progress) }
      return .failed(JobFailure(error), progress)
    }
  }

  /// Asks it to stop at its next batch because the daemon stops.
  final func drain() { draining.store(true, ordering: .relaxed) }

  /// How it ended. An operation that was cancelled before its turn never ran.
  final var outcome: JobOutcome { ending.withLock { $0.outcome } ?? .cancelled(job.progress) }
}

/// How an operation ended.
public enum JobOutcome: Sendable, Equatable {
  /// It did everything. `note` is a remark for people, beside the numbers.
  case completed(JobProgress, note: String? = nil)
  /// It stopped because it was cancelled; what it saved stays.
  case cancelled(JobProgress)
  /// It stopped because the daemon stops, and continues after the next start.
  case interrupted(JobProgress)
  /// It failed; what it saved stays.
  case failed(JobFailure, JobProgress)

  /// How far it came.
  public var progress: JobProgress {
    switch self {
    case .completed(let progress, _), .cancelled(let progress), .interrupted(let progress), .failed(_, let progress):
      return progress
    }
  }
}

/// How the operations of a kind share the data store that their job names.
public enum StoreAccess: String, Sendable, Hashable, Codable, CaseIterable {
  /// The job doesn't touch the store: it runs whatever runs there.
  case none
  /// It runs beside others, as imports do: each has its own context and saves.
  case shared
  /// It has the store to itself: it begins when nothing else runs there, and until it ends nothing else begins.
  case exclusive
}
