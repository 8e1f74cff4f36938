// Takes the entries that are handed over in `incoming/`. Rule 5 (ARCHITECTURE.md) is kept here: an entry leaves `incoming/` only after
// `accept` has made its job durable, and the same entry seen again has the same identity, so that it makes no second job. The
// steps of an entry, and what a kill or a loss of power leaves behind at each:
//
//   1  examine, fsync          the entry is in incoming/: the next scan starts over
//   2  accept                  the same; `accept` is asked again with the same identity and returns the same job
//   3  ticket → active/        the ticket is in active/ without its file: `HandOverRecovery` brings the file
//   4  file → active/          complete, but unannounced: the daemon calls `isActive` for the jobs it holds back
//   5  filesArrived            the job may run; a loss of power can undo the moves, and then it is as after 2
//   6  fsync of directories    nothing brings the entry back
//   7  handOverCompleted       its identity may be forgotten, and its file put away
//
// A set of files is gathered in a folder before 1, which is an entry like a file from then on (`SetFolders`).
//
// A ticket that names no file isn't synchronised: its job has all of its contents, and may run from 2 on. A loss of power
// leaves the ticket, which its identity recognises until 7; or an empty one, which is refused, or stays in active/ without
// effect; or none, and the job runs all the same. The identity is kept until 7 even if the job ends before: so whatever comes
// back after 5 meets the job that it made, and follows it to where that went.
//
// Where several daemons take entries from a shared folder, each sees the same entries. The one whose `accept` makes the job has
// it; the others leave the entry, and take it over if its daemon is gone before step 5. An identity is forgotten (7) only after the
// entry is gone (4), so `accept` looks first for the job and then for the entry: without either, it was another's.
//
// Events only say where to look. A scan makes up for a missed event: at the start, when the kernel lost events, when an entry
// had to wait, and every minute.

import Dispatch
import Glibc
package import Logging

/// A long-running component that turns the entries of `incoming/` into jobs, the oldest first. Entries that are there
/// together go through the steps in groups, which share the flushes of the disk and the queue's transactions.
///
/// All its work on the file system is done on a queue of its own, so it may block there.
package actor SpoolIntake {
  /// How many entries a group has at most.
  static let groupSize = 128
  /// From this many entries on, a group flushes the whole file system instead of each file.
  private static let flushedTogether = 16
  /// After this many failures in a row, a queue that takes nothing isn't asked for each of a hundred thousand entries.
  private static let failuresInARow = 8
  /// How many entries that arrived during a listing are kept in memory.
  private static let arrivalsKept = 4096

  nonisolated let executor = SpoolExecutor(label: "lade.spool.intake")
  /// The intake's own queue, where blocking is allowed.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let directories: SpoolDirectories
  private let delegate: any SpoolDelegate
  private nonisolated let sharedStatus = SharedSpoolStatus()

  // What to take.
  private var settings: SpoolSettings
  private var examiner: EntryExaminer

  // The parts that own their state.
  private let schedule: ScanSchedule
  private let report: IntakeReport
  private let corrupt: CorruptFolder
  private let folders: IncomingFolders
  private let handOver: HandOver
  private let recovery: HandOverRecovery
  private let sets: SetFolders
  private let ticketless: TicketlessFiles

  // What to examine.
  private var pending = PendingEntries()
  /// The tickets that wait for a file beside them, by the file's name. Bounded: a scan finds a ticket that isn't here.
  private var awaited: [FileName: FileName] = [:]

  // What is being handed over: candidates before step 2, jobs between steps 4 and 7, and the call of step 7.
  private var group: [SpoolCandidate] = []
  private var unconfirmed: [Int64] = []
  private var confirmation: Task<Bool, Never>?
  private var failedAccepts = 0

  /// Takes what events named while ``run()`` waits.
  private var taking: Task<Void, Never>?

  /// Only one scan or group of events at a time.
  private let turn = AsyncMutex()
  private var isRunning = false
  private var hasCompletedScan = false

  /// An intake with these settings. It takes nothing before it runs.
  package init(directories: SpoolDirectories, settings: SpoolSettings, delegate: any SpoolDelegate, logger: Logger) {
    self.directories = directories
    self.settings = settings
    self.delegate = delegate
    examiner = settings.examiner(of: directories)
    let schedule = ScanSchedule()
    let report = IntakeReport(
      logger: logger, schedule: schedule, status: sharedStatus, retryDelay: settings.timing.settle.nanoseconds)
    let corrupt = CorruptFolder(directories: directories, report: report, limit: settings.rules.corruptLimit)
    let folders = IncomingFolders(
      directories: directories, settings: settings, report: report, schedule: schedule, corrupt: corrupt)
    let handOver = HandOver(directories: directories)
    recovery = HandOverRecovery(
      directories: directories, handOver: handOver, folders: folders, report: report, schedule: schedule)
    ticketless = TicketlessFiles(report: report)
    sets = SetFolders(settings.sets, report: report, schedule: schedule, corrupt: corrupt)
    self.schedule = schedule
    self.report = report
    self.corrupt = corrupt
    self.folders = folders
    self.handOver = handOver
  }

  /// What the intake has done so far. Doesn't wait for the intake's queue, on which a large file may be being copied.
  package nonisolated var status: SpoolStatus { sharedStatus.current }

  // MARK: Running

  /// Takes what is there, then what arrives, until the task is cancelled; then it finishes the current entry and returns.
  /// Errors with an entry or a directory are logged, counted and retried; they don't end it.
  /// Throws `SpoolError.alreadyRunning`.
  package func run() async throws {
    guard !isRunning else { throw SpoolError.alreadyRunning }
    isRunning = true
    startWatching()
    schedule.requestScan()
    await withTaskCancellationHandler {
      while true {
        await schedule.wait()
        if Task.isCancelled { break }
        if schedule.isDue { await scan() } else { await takePending() }
      }
    } onCancel: {
      executor.queue.async {
        self.assumeIsolated {
          $0.taking?.cancel()
          $0.schedule.signal()
        }
      }
    }
    await taking?.value
    _ = await confirmed()
    schedule.stop()
    folders.stopWatching()
    isRunning = false
  }

  private func startWatching() {
    schedule.start(on: executor.queue) { [weak self] in
      self?.assumeIsolated { $0.schedule.timerFired() }
    }
    folders.startWatching(on: executor) { [weak self] events in
      self?.assumeIsolated { $0.take(events) }
    } mountsChanged: { [weak self] in
      self?.assumeIsolated { $0.schedule.requestScan() }
    }
  }

  /// Scans `incoming/` now, and returns when every entry was taken, refused or left. Also works while `run()` doesn't.
  /// Throws `SpoolError` if the directories themselves can't be read.
  package func rescan() async throws {
    await turn.lock()
    defer { turn.unlock() }
    try await scanEverything()
  }

  /// The same as `rescan()`, but reports a failure instead of throwing it, as `run()` does.
  func scan() async {
    await turn.lock()
    defer { turn.unlock() }
    do {
      try await scanEverything()
    } catch {
      report.scanFailed(error, at: directories.path)
    }
  }

  private func takePending() async {
    await turn.lock()
    defer { turn.unlock() }
    await drain()
  }

  /// Creates the missing hot folders and takes nothing, so that they exist when the daemon reports that it is up.
  /// Throws `SpoolError` if `incoming/` can't be read.
  package func openHotFolders() async throws {
    await turn.lock()
    defer { turn.unlock() }
    try folders.refresh()
  }

  /// Makes durable what an earlier process moved. Call it after `openHotFolders()`.
  package func synchroniseMoves() throws {
    try directories.handle(.active).synchronise()
    for place in folders.all { try place.directory.synchronise() }
  }

  /// Applies other settings, and scans everything with them. The current entries are finished first. When this returns, the
  /// hot folders of new recipes exist and are watched; the folder of a removed recipe is treated like any other folder in
  /// `incoming/`. A failure with a folder is reported and retried as usual.
  package func reconfigure(_ new: SpoolSettings) async {
    await turn.lock()
    defer { turn.unlock() }
    settings = new
    examiner = new.examiner(of: directories)
    report.retry(after: new.timing.settle.nanoseconds)
    corrupt.setLimit(new.rules.corruptLimit)
    folders.reconfigure(new)
    sets.reconfigure(new.sets)
    do {
      try folders.refresh()
    } catch {
      report.failed(error, at: directories.path)
    }
    schedule.requestScan()
  }

  // MARK: Events

  /// Records what events name, and takes it where nothing else is being done. Runs between two steps of a scan.
  private func take(_ events: [IncomingEvent]) {
    note(events)
    if events.isEmpty { return }
    // A task that is made here begins on this thread; that of `run()` would be resumed by way of another.
    guard schedule.isSleeping, taking == nil else { return schedule.signal() }
    taking = Task {
      await takePending()
      taking = nil
    }
  }

  /// Records what events name. Never blocks.
  private func note(_ events: [IncomingEvent]) {
    for event in events {
      if event.isOverflow {
        report.eventsLost()
        schedule.requestScan()
      } else if let directory = folders.directory(of: event) {
        note(event, on: directory)
      }
    }
  }

  private func note(_ event: IncomingEvent, on directory: WatchedDirectory) {
    if event.has(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
      folders.watchEnded(event)
      return schedule.requestScan()
    }
    guard let name = event.name, !examiner.partialNames.match(name) else { return }
    switch directory {
    case .root:
      if name == FileName(SpoolDirectories.Folder.incoming.rawValue) { schedule.requestScan() }
    case .place(let recipe):
      if recipe == nil, examiner.recipes.contains(name) { return schedule.requestScan() }
      if event.has(IN_DELETE) { return }
      let isFinished = event.has(IN_MOVED_TO | IN_CLOSE_WRITE)
      if !pending.add(name, recipe: recipe, isFinished ? .finished : .created) { schedule.requestScan() }
      if recipe == nil, isFinished, let ticket = awaited.removeValue(forKey: name),
        !pending.add(ticket, recipe: nil, .found)
      {
        schedule.requestScan()
      }
    }
  }

  /// Takes the entries that events named, in their order.
  /// - Returns: those entries, and whether it makes sense to continue with others.
  @discardableResult
  private func drain() async -> (entries: PendingEntries, goesOn: Bool) {
    let pending = self.pending
    self.pending = PendingEntries()
    for key in pending.keys {
      if Task.isCancelled { break }
      guard let place = folders.place(of: key.recipe), let trigger = pending.triggers[key] else { continue }
      // The next scan finds the rest.
      guard await consider(key.name, in: place, trigger: trigger) else { return (pending, false) }
    }
    return (pending, await takeRemaining())
  }

  /// The same, with the events that the kernel holds up to now.
  private func drainKernel() async -> (entries: PendingEntries, goesOn: Bool) {
    note(folders.readEvents())
    return await drain()
  }

  // MARK: Scanning

  /// Takes the entries that events named first, in the order in which they arrived, then what is listed. An entry that
  /// arrives during the listing is left to its own event, because the listing may see a later entry and miss an earlier one.
  private func scanEverything() async throws {
    schedule.beginScan(next: settings.timing.rescanInterval)
    report.beginScan()
    corrupt.beginScan()
    sets.beginScan()
    awaited = [:]
    let failuresBefore = status.failures
    try folders.refresh()
    if recovery.isNeeded { try recovery.run(examiner: examiner, finished: &unconfirmed) }
    let start = FileStatus.tick()
    let before = await drainKernel()
    guard before.goesOn else { return }
    var arrivals = [FoundEntry]()
    var sorter = try list(changedBefore: start, arrivals: &arrivals)
    while !Task.isCancelled, let entry = try sorter.next() {
      guard await consider([entry], except: [before.entries]) else { return }
    }
    guard await takeRemaining() else { return }
    let after = await drainKernel()
    guard after.goesOn else { return }
    // Some changes cause no event: the removal of a file's other name, for instance.
    guard await consider(arrivals.sorted(), except: [before.entries, after.entries]), await takeRemaining() else {
      return
    }
    if sorter.isIncomplete { schedule.scan(after: settings.timing.settle.nanoseconds) }
    let obstacle =
      folders.incoming != nil
      ? nil
      : directories.sharedIncoming.map { "\($0) isn't there. Is it mounted?" }
        ?? "\(directories.path)/incoming isn't there. The daemon creates it again soon."
    if let folder = directories.sharedIncoming { report.shared(folder, obstacle: obstacle) }
    report.endScan(isComplete: !sorter.isIncomplete, obstacle: obstacle)
    let result = status
    // A ticket in active/ may still wait for its file, which isn't an entry.
    let isAllTaken =
      !Task.isCancelled && result.failures == failuresBefore && result.waiting == 0 && obstacle == nil
      && !sorter.isIncomplete && !schedule.isDue && !recovery.isNeeded
    // In a folder of several hosts, another may be about to take a ticket.
    if isAllTaken, directories.sharedIncoming == nil, let incoming = folders.incoming {
      ticketless.reportOld(in: incoming, patience: settings.timing.sourceGrace.nanoseconds, recipes: settings.recipes)
    }
    if !hasCompletedScan, isAllTaken {
      try await delegate.scanCompleted()
      hasCompletedScan = true
    }
  }

  private func consider(_ found: [FoundEntry], except seen: [PendingEntries]) async -> Bool {
    for entry in found where !Task.isCancelled {
      if seen.contains(where: { $0.contains(entry) }) { continue }
      guard let place = folders.place(of: entry.recipe) else { continue }
      if await !consider(entry.name, in: place, trigger: .found) { return false }
    }
    return true
  }

  /// Lists the entries. Where events report arrivals, entries that changed since `start` go to `arrivals` instead.
  private func list(changedBefore start: Int64, arrivals: inout [FoundEntry]) throws -> EntrySorter {
    var sorter = EntrySorter(recipes: settings.recipes) { [directories] in
      try directories.handle(.active).scratchFile()
    }
    var changedSince = [FoundEntry]()
    ticketless.beginListing()
    for place in folders.all where !sets.take(in: place) {
      let isWatched = folders.isWatched(place)
      try place.directory.forEach { name, kind in
        if examiner.partialNames.match(name) { return sets.note(name, kind, in: place) }
        // Data files that wait for a ticket aren't entries.
        if place.recipe == nil, kind == .regular, !name.isTicket, name.refusal == nil {
          return ticketless.note(name)
        }
        if place.recipe == nil, kind == .directory, examiner.recipes.contains(name) { return }
        guard let status = try place.directory.status(of: name) else { return }
        let entry = FoundEntry(modified: status.modified, recipe: place.recipe, name: name)
        // A time in the future comes from a clock that was set back, and says nothing.
        if isWatched, status.changed >= start, status.changed <= FileStatus.now() {
          if changedSince.count < Self.arrivalsKept { changedSince.append(entry) } else { schedule.requestScan() }
        } else {
          sorter.add(entry)
        }
      }
    }
    arrivals = changedSince
    return sorter
  }

  // MARK: Taking

  /// Examines an entry, and takes, refuses or leaves it. An error is reported, and the entry stays.
  /// - Returns: whether it makes sense to continue with others.
  private func consider(_ name: FileName, in place: SpoolPlace, trigger: SpoolTrigger) async -> Bool {
    if let recipe = place.recipe, sets.take(in: place) {
      sets.touch(name, in: recipe, trigger: trigger)
      return true
    }
    do {
      if try recovery.isAlreadyCopied(name, in: place) { return true }
      switch try examiner.examine(name, in: place, trigger: trigger) {
      case .ignore: break
      case .wait(let time, let source): wait(name, for: time, source: source)
      case .refuse(let refusal): try refuse(name, in: place, refusal)
      case .take(var candidate):
        candidate.isShared = directories.sharedIncoming != nil
        if candidate.isAlso(in: group) {
          // Of two tickets for one file the first gets it, and the other is examined when the file is gone.
          guard await takeGroup() else { return false }
          return await consider(name, in: place, trigger: trigger)
        }
        group.append(candidate)
        if group.count >= Self.groupSize { return await takeGroup() }
      case .gather where directories.sharedIncoming != nil:
        // Its files are moved together one by one, and two daemons would tear them apart.
        try refuse(name, in: place, .setInSharedFolder)
      case .gather(let members, let ticket):
        // Another ticket of the group may name one of them.
        guard await takeGroup() else { return false }
        if let candidate = try sets.gather(members, ticket: name, ticket, in: place) { group.append(candidate) }
      }
      return true
    } catch {
      return report.failed(error, at: "incoming/" + place.relativeName(name))
    }
  }

  private func wait(_ name: FileName, for time: Int64?, source: String?) {
    report.update { $0.waiting += 1 }
    if let source, awaited.count < PendingEntries.limit { awaited[FileName(source)] = name }
    if let time { schedule.scan(after: time) }
  }

  /// Moves an entry to `corrupt/`, with the reason beside it.
  func refuse(_ name: FileName, in place: SpoolPlace, _ refusal: SpoolRefusal) throws {
    try corrupt.take(name, from: place, refusal)
  }

  /// Takes the group, and returns when its hand-over is confirmed, too.
  /// - Returns: whether it makes sense to continue with others.
  private func takeRemaining() async -> Bool {
    var goesOn = await takeGroup()
    if goesOn, sets.isNeeded {
      for candidate in sets.candidates(folders, examiner, isCopied: recovery.isAlreadyCopied)
      where goesOn && !Task.isCancelled {
        do {
          if try recovery.isAlreadyCopied(candidate.name, in: candidate.place) { continue }
        } catch {
          goesOn = report.failed(error, at: "incoming/" + candidate.place.relativeName(candidate.name))
          continue
        }
        group.append(candidate)
        if group.count >= Self.groupSize { goesOn = await takeGroup() }
      }
      goesOn = await takeGroup() && goesOn
    }
    return await confirmed() && goesOn
  }

  /// Takes the group through steps 1 to 5, and begins 6 and 7.
  /// - Returns: whether it makes sense to continue with others.
  private func takeGroup() async -> Bool {
    guard !group.isEmpty else { return await confirm() }
    let candidates = group
    group = []
    do {
      try synchronise(candidates)
    } catch {
      return report.failed(error, at: "incoming/")
    }
    let answers = await delegate.accept(candidates.map(\.entry))
    var goesOn = true
    var (arrived, changed) = ([Int64](), [Int64]())
    for (candidate, answer) in zip(candidates, answers) {
      let name = "incoming/" + candidate.place.relativeName(candidate.name)
      do {
        if let job = try move(candidate, answer), candidate.fileName != nil { arrived.append(job) }
        report.succeeded(name)
      } catch is CancellationError where Task.isCancelled {
        report.info("spool: stopping; left for the next start", entry: name)
      } catch is SpoolEntryElsewhere {
        // The next scan asks again: its daemon may be gone by then.
        report.update { $0.waiting += 1 }
      } catch {
        // A set is complete whatever its files hold, and is copied again.
        if case SpoolError.changed = error, candidate.ticket == nil, candidate.set == nil,
          case .success(let job) = answer
        {
          changed.append(job)
        }
        goesOn = report.failed(error, at: name) && goesOn
      }
    }
    // Not for a file that was copied from elsewhere: after a loss of power it wouldn't be found again.
    if !arrived.isEmpty { delegate.filesArrived(of: arrived) }
    for job in changed {
      // The file as it is now is an entry of its own, and gets a job of its own.
      do {
        try await delegate.sourceChanged(of: job)
      } catch {
        goesOn = report.failed(error, at: "job \(job)") && goesOn
      }
    }
    if failedAccepts >= Self.failuresInARow { goesOn = false }
    return await confirm() && goesOn
  }

  /// Step 1: what is handed over is on disk before its job can be.
  private func synchronise(_ candidates: [SpoolCandidate]) throws {
    if candidates.count < Self.flushedTogether {
      for candidate in candidates { try candidate.synchronise() }
      return
    }
    var devices = Set<UInt64>()
    for file in candidates.flatMap(\.handedOver) where devices.insert(file.status.device).inserted {
      try file.descriptor.synchroniseFileSystem(path: directories.path)
    }
  }

  /// Steps 3 and 4.
  /// - Returns: the job whose entry is in `active/`; nil for one that was refused.
  private func move(_ candidate: SpoolCandidate, _ answer: Result<Int64, any Error>) throws -> Int64? {
    let job: Int64
    switch answer {
    case .success(let made): job = made
    case .failure(let refusal as SpoolRefusal):
      failedAccepts = 0
      if candidate.set == nil {
        try refuse(candidate.name, in: candidate.place, refusal)
      } else {
        try sets.refuse(candidate.name, in: candidate.place, refusal)
      }
      return nil
    case .failure(let other as SpoolEntryElsewhere):
      failedAccepts = 0
      throw other
    case .failure(let error):
      failedAccepts += 1
      throw error
    }
    failedAccepts = 0
    // The job of a ticket alone is no host's, and who moves the ticket confirms that.
    if candidate.file == nil, let place = candidate.entry.place, try !place.hasEntry() {
      throw SpoolEntryElsewhere(host: nil)
    }
    do {
      try move(candidate, job: job)
    } catch {
      recovery.moveFailed()
      throw error
    }
    report.update { $0.taken += 1 }
    unconfirmed.append(job)
    report.info(
      "job \(job): its entry was taken from the spool", entry: candidate.place.relativeName(candidate.name), job: job)
    return job
  }

  private func move(_ candidate: SpoolCandidate, job: Int64) throws {
    let place = candidate.place
    if let set = candidate.set { return try handOver.move(set, of: place, to: candidate.entry.activeName(job: job)) }
    // The ticket first: alone in `active/` after a kill, it says which file is still to come.
    if let ticket = candidate.ticket {
      try handOver.move(candidate.name, of: place, ticket, to: SpoolDirectories.ticketName(job: job))
    }
    guard let file = candidate.file else { return }
    let name = candidate.entry.activeName(job: job)
    // The job of a ticket that comes again may have its file already, and this may be another one.
    if candidate.ticket != nil, try handOver.isKnown(FileName(name)) { return }
    if let fileName = candidate.fileName {
      try handOver.move(fileName, of: place, file, to: name)
    } else {
      try handOver.copy(file, to: name)
    }
  }

  /// Makes the moves durable (step 6), and confirms that (step 7) while the next entries are taken: the confirmation shares
  /// their transaction.
  /// - Returns: whether the moves are durable.
  private func confirm() async -> Bool {
    guard !unconfirmed.isEmpty else { return true }
    do {
      try handOver.synchronise()
    } catch {
      // The next scan tries again.
      report.failed(error, at: "active/")
      return false
    }
    guard await confirmed() else { return false }
    let jobs = unconfirmed
    unconfirmed = []
    confirmation = Task {
      do {
        try await delegate.handOverCompleted(of: jobs)
        report.handOverSucceeded(root: directories.path)
        return true
      } catch {
        unconfirmed = jobs + unconfirmed
        report.failed(error, at: "active/")
        return false
      }
    }
    return true
  }

  /// Waits for the last confirmation.
  /// - Returns: whether it succeeded.
  private func confirmed() async -> Bool {
    guard let confirmation else { return true }
    self.confirmation = nil
    return await confirmation.value
  }
}
