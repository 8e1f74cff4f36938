// Takes what is handed over in `incoming/`. Rule 5 is kept here: an entry leaves `incoming/` only after `accept` has
// made its job durable, and the same entry seen again has the same identity, so that it makes no second job. The way
// of an entry, and what a kill or a loss of power leaves behind at each step:
//
//   1  examine, fsync          the entry is in incoming/: the next look begins anew
//   2  accept                  the same; `accept` is asked again with the same identity and answers the same job
//   3  ticket → active/        the ticket is in active/ without its file: `resumeHandOvers` brings the file
//   4  file → active/          done but for the word of it: the daemon asks `isActive` for what it holds back
//   5  came                    the job may run; with the power the moves may be lost, and it is as after 2
//   6  fsync of directories    nothing brings the entry back
//   7  taken                   its identity may be forgotten, and its file put away
//
// A ticket that names no file isn't synced: its job has all of it, and may run from 2 on. What the power leaves of it is the
// ticket, known by its identity as long as 7 wasn't; or an empty one, which is refused, or lies in active/ and says nothing;
// or none, and the job runs all the same. The identity is known until 7 though the job has ended: so whatever comes back
// after 5 meets the job that it made, and follows it to where that went.
//
// Events only say where to look. A look that was missed is made up for by the rescan: at the start, when the kernel
// lost events, when an entry had to wait, and every minute.

import Dispatch
package import Logging
import Synchronization

/// A long-running component that turns the entries of `incoming/` into jobs, the oldest first. Many that lie there together
/// take those steps together, some at a time.
///
/// All its work on the file system is done on a queue of its own, on which `accept` and `taken` are called, too, one at a
/// time: they mustn't block.
package actor SpoolIntake {
  /// Makes the entries' jobs durable, in their order, and returns the id of each. Called before an entry is touched; called
  /// again for the same entry (one of the same `identity`) after a failure or a kill, when it must return the id it
  /// returned before. To refuse an entry fail with a `SpoolRefusal`; after any other error the entry stays, and is offered
  /// again.
  package typealias Accept = nonisolated(nonsending) @Sendable ([SpoolEntry]) async -> [Result<Int64, any Error>]
  /// Hears that the files of jobs are in `active/`, so that the jobs may run, though their entries may come back.
  package typealias Came = @Sendable (_ jobs: [Int64]) -> Void
  /// Hears that the entries of jobs, or their files, are in `active/` for good. Of a job's file it may be the first word. It
  /// may hear it more than once.
  package typealias Taken = nonisolated(nonsending) @Sendable (_ jobs: [Int64]) async throws -> Void
  /// Hears that a job's file won't come: it was written to while it was taken.
  package typealias Withdrawn = @Sendable (_ job: Int64) async throws -> Void
  /// Hears that everything in `incoming/` was looked at, and that nothing has to wait or failed. Called once.
  package typealias LookedThrough = @Sendable () async throws -> Void

  nonisolated let executor = SpoolExecutor(label: "lade.spool.intake")
  /// The intake's own queue, where blocking is allowed.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let directories: SpoolDirectories
  let logger: Logger
  let accept: Accept
  let came: Came
  let taken: Taken
  let withdrawn: Withdrawn
  var lookedThrough: LookedThrough?
  let handOver: HandOver

  // By what to take: see SpoolIntake+Reconfigure.
  var settings: SpoolSettings
  var examiner: EntryExaminer
  var recipes: [String] { settings.recipes }
  var timing: SpoolTiming { settings.timing }
  var rules: SpoolRules { settings.rules }

  // Where to look.
  var incoming: SpoolPlace?
  var hotFolders: [String: SpoolPlace] = [:]
  var watcher: IncomingWatcher?
  var watches: [Int32: WatchedDirectory] = [:]
  var mountWatcher: MountWatcher?
  var watchedRoot: DirectoryHandle?
  /// What was there in this run, and since when it is gone.
  var placesSeen: Set<WatchedDirectory> = []
  var placesGone: [WatchedDirectory: DispatchTime] = [:]

  // What is to be looked at.
  var rescanIsDue = false
  var pending = PendingEntries()
  /// Which ticket waits for a file beside it. Bounded: a ticket that isn't here is found by the rescan.
  var awaited: [FileName: FileName] = [:]
  var timer: (any DispatchSourceTimer)?
  var nextRescan = DispatchTime.distantFuture
  var isRunning = false
  /// Whether there is something to look at, and who sleeps until there is.
  var isWoken = false
  var sleeper: CheckedContinuation<Void, Never>?

  // What is about to be taken, and what was handed over and isn't announced yet.
  var batch: [SpoolCandidate] = []
  var unannounced: [Int64] = []
  /// What is being announced, and whether it was heard.
  var word: Task<Bool, Never>?
  var unsynchronised: [ObjectIdentifier: DirectoryHandle] = [:]
  /// Whether a ticket may be in `active/` without its file: after a kill, so at the start, and after a failure.
  var handOversAreOpen = true
  /// What was copied to `active/` and couldn't be removed.
  var unremoved: [PendingEntries.Key: FileMark] = [:]

  var counts = SpoolStatus() {
    didSet { published.withLock { $0 = counts } }
  }
  private nonisolated let published = Mutex(SpoolStatus())
  var failures = FailureLog()
  /// How often in a row the queue took nothing.
  var acceptsFailed = 0
  /// How many entries `corrupt/` had when they were counted, and how many came since.
  var corruptCount: Int?
  var corruptCountIsOfThisPass = false
  var refusedNow = 0

  // Whose turn it is: an actor lets others in while it waits, and one pass must end before the next.
  var isBusy = false
  var waitingForTurn: [CheckedContinuation<Void, Never>] = []
  /// A look that was asked for and hasn't begun.
  var nextLook: Task<Void, Never>?

  /// An intake by these settings; nothing is taken before it runs.
  package init(
    directories: SpoolDirectories, settings: SpoolSettings, logger: Logger, accept: @escaping Accept,
    came: @escaping Came = { _ in }, taken: @escaping Taken = { _ in }, withdrawn: @escaping Withdrawn = { _ in },
    lookedThrough: @escaping LookedThrough = {}
  ) {
    self.settings = settings
    examiner = settings.examiner(of: directories)
    self.directories = directories
    self.logger = logger
    self.accept = accept
    self.came = came
    self.taken = taken
    self.withdrawn = withdrawn
    self.lookedThrough = lookedThrough
    handOver = HandOver(directories: directories)
  }

  /// What was done so far.
  package var status: SpoolStatus { counts }

  /// The same, for who doesn't wait for the intake's queue, on which a large file may be copied.
  package nonisolated var latestStatus: SpoolStatus { published.withLock { $0 } }

  /// Takes what there is, then what comes, until the task is cancelled; then it finishes the entry in hand and returns.
  /// Errors with an entry or a directory are logged and counted, and tried again; they don't end it.
  /// Throws `SpoolError.alreadyRunning`.
  package func run() async throws {
    guard !isRunning else { throw SpoolError.alreadyRunning }
    isRunning = true
    startWatching()
    rescanIsDue = true
    isWoken = true
    await withTaskCancellationHandler {
      while true {
        // What else waits for the intake's queue has its turn between two looks.
        if isWoken { await Task.yield() } else { await withCheckedContinuation { sleeper = $0 } }
        isWoken = false
        if Task.isCancelled { break }
        await work()
      }
    } onCancel: {
      executor.queue.async { self.assumeIsolated { $0.wakeUp() } }
    }
    _ = await wordIsKept()
    stopWatching()
    isRunning = false
  }

  /// Lets `run()` look again. It goes on where it is told, on the intake's queue, without another thread between.
  func wakeUp() {
    isWoken = true
    sleeper?.resume()
    sleeper = nil
  }

  /// Looks at everything in `incoming/` now, and returns when all of it was taken, refused or left.
  /// Also works while `run()` doesn't. Throws `SpoolError` if the directories themselves can't be read.
  package func rescan() async throws {
    await beginTurn()
    defer { endTurn() }
    try await pass()
  }

  /// Makes the hot folders that are missing, and takes nothing: so that a daemon that says it is up has them.
  /// Throws `SpoolError` if `incoming/` can't be read.
  package func openHotFolders() async throws {
    await beginTurn()
    defer { endTurn() }
    try refreshPlaces()
  }

  private func work() async {
    await beginTurn()
    defer { endTurn() }
    do {
      if rescanIsDue { try await pass() } else { await drain() }
    } catch {
      _ = report(error, at: directories.path)
      counts.obstacle = "\(error)"
    }
  }

  /// Looks at everything, and returns when that is done or the time is over; the look then goes on. What goes wrong is
  /// reported as it is while `run()` works. Who asks while one waits for its turn shares it.
  package func look(within limit: Duration) async {
    let look =
      nextLook
      ?? Task {
        await beginTurn()
        defer { endTurn() }
        nextLook = nil
        do {
          try await pass()
        } catch {
          _ = report(error, at: directories.path)
          counts.obstacle = "\(error)"
        }
      }
    nextLook = look
    let (end, ended) = AsyncStream<Void>.makeStream()
    Task {
      await look.value
      ended.finish()
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in end {} }
      group.addTask {
        do { try await Task.sleep(for: limit) } catch { return }
      }
      await group.next()
      group.cancelAll()
    }
  }

  func beginTurn() async {
    if !isBusy {
      isBusy = true
      return
    }
    // The one that ends its turn hands it on, so `isBusy` stays true.
    await withCheckedContinuation { waitingForTurn.append($0) }
  }

  func endTurn() {
    if waitingForTurn.isEmpty {
      isBusy = false
    } else {
      waitingForTurn.removeFirst().resume()
    }
  }

  /// Where failures stand that concern every entry.
  static let all = "*"

  /// Counts a failure, tells of it if it is news, and sees to another try.
  /// - Returns: whether it makes sense to go on with others.
  func report(_ error: any Error, at place: String) -> Bool {
    counts.failures += 1
    counts.lastFailure = "\(place): \(error)"
    scheduleRescan(after: max(timing.settle.nanoseconds, 1_000_000))
    let failure = error as? SpoolError
    let concernsAll = failure?.concernsAll ?? false
    if concernsAll { counts.obstacle = "\(error)" }
    // What changes from try to try isn't news.
    let (key, text) =
      switch failure {
      case .corruptIsFull: ("corrupt/", "full")
      case .noRoom: (place, "no room")
      case .system(_, _, let code) where concernsAll: (SpoolIntake.all, "\(code)")
      default: (place, "\(error)")
      }
    switch failures.note(text, at: key) {
    case .new:
      logger.error(
        "spool: \(error) It is tried again.",
        metadata: ["entry": "\(place)", "event": "\(SpoolLogEvent.failed.rawValue)"])
    case .tooMany: logger.error("spool: more than \(FailureLog.limit) entries fail, and no more are told of")
    case .old: logger.debug("spool: \(error)", metadata: ["entry": "\(place)"])
    }
    return !concernsAll
  }
}
