// Takes what is handed over in `incoming/`. Rule 5 is kept here: an entry leaves `incoming/` only after `accept` has
// made its job durable, and the same entry seen again has the same identity, so that it makes no second job. The way
// of an entry, and what a kill leaves behind at each step:
//
//   1  examine, fsync          the entry is in incoming/: the next look begins anew
//   2  accept                  the same; `accept` is asked again with the same identity and answers the same job
//   3  ticket → active/        the ticket is in active/ without its file: `resumeHandOvers` brings the file
//   4  file → active/          done but for the word of it: the daemon asks `isActive` for what it holds back
//   5  fsync of directories
//   6  taken                   the job may run
//
// Events only say where to look. A look that was missed is made up for by the rescan: at the start, when the kernel
// lost events, when an entry had to wait, and every minute.

import Dispatch
package import Logging

/// A long-running component that turns the entries of `incoming/` into jobs, one entry at a time, oldest first.
///
/// All its work on the file system is done on a queue of its own. `accept` and `taken` are called one at a time, off
/// that queue.
package actor SpoolIntake {
  /// Makes an entry's job durable and returns its id. Called before the entry is touched; called again for the same
  /// entry (one of the same `identity`) after a failure or a kill, when it must return the id it returned before.
  /// To refuse the entry throw a `SpoolRefusal`; after any other error the entry stays, and is offered again.
  package typealias Accept = @Sendable (SpoolEntry) async throws -> Int64
  /// Hears that a job's file is in `active/` for good, so that the job may run. It may hear it more than once.
  package typealias Taken = @Sendable (_ job: Int64) async throws -> Void

  nonisolated let executor = SpoolExecutor(label: "lade.spool.intake")
  /// The intake's own queue, where blocking is allowed.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let directories: SpoolDirectories
  let recipes: Set<String>
  let timing: SpoolTiming
  let logger: Logger
  let accept: Accept
  let taken: Taken
  let examiner: EntryExaminer
  let handOver: HandOver

  // Where to look.
  var incoming: SpoolPlace?
  var hotFolders: [String: SpoolPlace] = [:]
  var watcher: IncomingWatcher?
  var watches: [Int32: WatchedDirectory] = [:]

  // What is to be looked at.
  var rescanIsDue = false
  var pending = PendingEntries()
  /// Which ticket waits for a file beside it. Bounded: a ticket that isn't here is found by the rescan.
  var awaited: [FileName: FileName] = [:]
  var timer: (any DispatchSourceTimer)?
  var nextRescan = DispatchTime.distantFuture
  var signal: AsyncStream<Void>.Continuation?

  // What was handed over and isn't announced yet.
  var unannounced: [Int64] = []
  var unsynchronised: [ObjectIdentifier: DirectoryHandle] = [:]
  /// Whether a ticket may be in `active/` without its file: after a kill, so at the start, and after a failure.
  var handOversAreOpen = true

  var counts = SpoolStatus()

  // Whose turn it is: an actor lets others in while it waits, and one pass must end before the next.
  var isBusy = false
  var waitingForTurn: [CheckedContinuation<Void, Never>] = []

  /// - Parameters:
  ///   - recipes: names of recipes; each has a hot folder of its name in `incoming/`, created where missing.
  ///   - allowedFolders: absolute paths of folders whose files a ticket may name as its source.
  ///
  /// Throws `SpoolError` for a recipe's name that can't be a folder's and for a relative allowed folder.
  package init(
    directories: SpoolDirectories, recipes: Set<String>, allowedFolders: [String],
    timing: SpoolTiming = SpoolTiming(), logger: Logger, accept: @escaping Accept,
    taken: @escaping Taken = { _ in }
  ) throws {
    for recipe in recipes {
      let name = FileName(recipe)
      if name.count == 0 || name.isBeingWritten || name.isTicket || name.sanitised != recipe {
        throw SpoolError.unusableRecipeName(recipe)
      }
    }
    self.directories = directories
    self.recipes = recipes
    self.timing = timing
    self.logger = logger
    self.accept = accept
    self.taken = taken
    handOver = HandOver(directories: directories)
    examiner = EntryExaminer(
      recipes: recipes, allowedFolders: try allowedFolders.map(SpoolIntake.normalised),
      user: SpoolIntake.user, settle: timing.settle.nanoseconds, sourceGrace: timing.sourceGrace.nanoseconds)
  }

  /// What was done so far.
  package var status: SpoolStatus { counts }

  /// Takes what there is, then what comes, until the task is cancelled; then it finishes the entry in hand and returns.
  /// Errors with an entry or a directory are logged and counted, and tried again; they don't end it.
  /// Throws `SpoolError.alreadyRunning`.
  package func run() async throws {
    guard signal == nil else { throw SpoolError.alreadyRunning }
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signal = signal
    startWatching()
    rescanIsDue = true
    signal.yield()
    for await _ in signals {
      if Task.isCancelled { break }
      await work()
    }
    stopWatching()
    self.signal = nil
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
      report(error, at: directories.path)
    }
  }

  private func beginTurn() async {
    if !isBusy {
      isBusy = true
      return
    }
    // The one that ends its turn hands it on, so `isBusy` stays true.
    await withCheckedContinuation { waitingForTurn.append($0) }
  }

  private func endTurn() {
    if waitingForTurn.isEmpty {
      isBusy = false
    } else {
      waitingForTurn.removeFirst().resume()
    }
  }

  func report(_ error: any Error, at place: String) {
    counts.failures += 1
    counts.lastFailure = "\(place): \(error)"
    logger.error("spool: \(error)", metadata: ["entry": "\(place)"])
    scheduleRescan(after: timing.settle.nanoseconds)
  }
}
