// Rule 5 (ARCHITECTURE.md), between spool and queue: an entry's job is durable before the entry is taken; the entry's identity
// makes it one job however often it is seen; and the job waits for its file until that is in `active/`. The job keeps the
// identity until the entry's removal from `incoming/` is durable (`SpoolIntake.swift` has the steps).

import ControlAPI
import ControlServer
import Foundation
import Importing
import Jobs
import Logging
import ManagedObjects
import Spool

/// Brings entries of the spool to the queue, and the files of ended jobs to where they belong.
struct SpoolBridge: SpoolDelegate {
  let directories: SpoolDirectories
  let current: CurrentConfiguration
  let queue: JobQueue
  let queueIdentifier: String
  let uploads: UserUploads
  /// Jobs submitted before this time are from an earlier run of the daemon.
  let startedAt: Date
  let logger: Logger

  private var plan: SubmissionPlan { current.now.plan }
  private var replays: Replays { Replays(plan: plan, directories: directories, queue: queue) }
  private var permissions: Permissions { current.now.permissions }

  /// Makes the jobs of entries, in their order: in one transaction, if all can be made.
  nonisolated(nonsending) func accept(_ entries: [SpoolEntry]) async -> [Result<Int64, any Error>] {
    var wanted: [Result<JobSubmission, any Error>] = []
    var places: [SharedEntryPlace?] = []
    for entry in entries {
      do {
        wanted.append(.success(try await submission(of: entry)))
        places.append(entry.place)
      } catch {
        wanted.append(.failure(error))
      }
    }
    // On the intake's thread, which may block. Of several the files of some are moved while the jobs of others are made.
    let looked = places
    var receipts = await queue.receive(
      wanted.compactMap { $0.success }, waits: entries.count == 1, isThere: { try looked[$0]?.hasEntry() ?? true }
    ).makeIterator()
    return zip(entries, wanted).map { entry, wanted in
      wanted.flatMap { submission in
        guard let receipt = receipts.next() else { return .failure(CancellationError()) }
        return Result {
          do {
            return try job(of: entry, submission, try receipt.get().job)
          } catch is EntryIsGone {
            throw SpoolEntryElsewhere(host: nil)
          }
        }
      }
    }
  }

  /// - Throws: `SpoolRefusal` for what can't be a job.
  private nonisolated(nonsending) func submission(of entry: SpoolEntry) async throws -> JobSubmission {
    var request =
      switch entry.kind {
      case .hotFolder(let recipe): JobSubmission(recipe: recipe)
      case .ticket(let ticket): ticket.submission
      }
    try check(request, of: entry)
    do {
      request = try await UndoCheck(stores: plan.stores, queue: queue).checked(request)
    } catch let refusal as ControlError {
      let problem = refusal.problem
      throw SpoolRefusal.unacceptable(what: problem.detail, advice: problem.hint ?? "")
    }
    do {
      var submission = try plan.submission(
        request, source: entry.hasFile ? entry.originalName : nil, files: entry.files,
        by: "spool (user \(entry.ownerUID))")
      submission.origin = .spool(entry.identity)
      submission.awaitsFile = entry.hasFile
      return submission
    } catch let problem as SubmissionProblem {
      throw SpoolRefusal.unacceptable(what: "\(problem.field): \(problem.reason)", advice: problem.advice)
    }
  }

  /// The number of the job that was made, or found.
  private func job(of entry: SpoolEntry, _ submission: JobSubmission, _ job: Job) throws -> Int64 {
    guard job.origin == submission.origin else {
      throw SpoolRefusal.unacceptable(
        what: "unique_key: job \(job.id) has the same one and hasn't ended",
        advice: "Submit it again when that has ended, or with a key of its own.")
    }
    if entry.place != nil, let host = job.host, queue.isElsewhere(job) { throw SpoolEntryElsewhere(host: host) }
    return job.id
  }

  /// Users who can write to the spool may import files; other kinds of jobs are for operators.
  private func check(_ request: JobSubmission, of entry: SpoolEntry) throws {
    let kind = request.kind
    if kind == ImportOperation.kind {
      guard !entry.hasFile, !current.now.configuration.readsDatabase(request.recipe) else { return }
      throw SpoolRefusal.unacceptable(
        what: "the ticket names no source", advice: "Say source: and the name of a file beside the ticket.")
    }
    guard permissions.isOperator(entry.ownerUID) else {
      throw SpoolRefusal.unacceptable(
        what: "the ticket belongs to user \(entry.ownerUID), and only operators may submit jobs of the kind \(kind)",
        advice: "Operators are root, the daemon's user, and those that its configuration names under operators.")
    }
    guard !entry.hasFile else {
      throw SpoolRefusal.unacceptable(
        what: "source: only imports have one, and this is \(kind)", advice: "Leave it out.")
    }
  }

  func filesArrived(of ids: [Int64]) { queue.filesArrived(of: ids, by: "spool", named: Self.activeName) }

  /// From now on the files of the jobs can be put away: their entries have left `incoming/` for good.
  nonisolated(nonsending) func handOverCompleted(of ids: [Int64]) async throws {
    for id in try await queue.handOverCompleted(of: ids, by: "spool", named: Self.activeName) {
      logger.warning("job \(id): it is gone; its file stays in active/", metadata: ["job": "\(id)"])
    }
  }

  func sourceChanged(of id: Int64) async throws {
    _ = try await queue.withdraw(id, reason: "cancelled by the spool: its file was written to while it was copied")
  }

  /// Forgets how far a job had come in its store, and puts its file away.
  func finished(_ job: Job) async throws {
    guard var outcome = plan.outcome(of: job) else { return }
    if job.kind == ImportOperation.kind, job.state != .completed, let store = job.store,
      let coordinator = plan.stores[store]?.coordinator
    {
      try await settleUnfinished(job, coordinator)
    }
    // Before the file is put away: while it is in active/, a start after a kill calls this again.
    if job.origin?.retriedJob != nil {
      let rejects = current.now.configuration.rejects
      try await directories.onQueue { try RejectRetryFiles(job: job.id, rejects: rejects).remove() }
    }
    if JobCheckpoint.isKept(by: job.kind), let store = job.store, let coordinator = plan.stores[store]?.coordinator {
      await forget(job.id, job.claim, in: store, coordinator)
    }
    if job.readsDatabase { try await removeExtract(of: job.id) }
    if job.sharedFile != nil, let reader = plan.options(of: job)?.reader {
      try await removeLocalRejects(ImportOperation.rejectsName(of: job, reader))
    }
    // What it waits for is put away when it has come; a ticket in active/ brings it.
    guard let name = job.activeName, !job.isAwaitingFile else { return }
    if case .replay(_, let file)? = job.origin {
      outcome = try await directories.onQueue { [directories, outcome] in
        // It stays in done/ under its first name, unless it was imported there before its values were masked.
        guard outcome.keepsFile else {
          if let first = SpoolDirectories.job(ofActiveName: file) {
            try directories.removeKept(job: first, activeName: file)
          }
          return outcome
        }
        return try directories.isDone(file) ? .removed(reason: outcome.reason) : outcome
      }
    }
    try await putAway(name, of: job, as: outcome)
  }

  /// A file that came to another host's spool is put away there.
  private func putAway(_ name: String, of job: Job, as outcome: SpoolOutcome) async throws {
    if job.sharedFile != nil, queue.isElsewhere(job) {
      try await directories.onQueue { [directories] in try directories.discardReceived(name) }
    } else {
      _ = try await directories.finish(activeName: name, as: outcome)
    }
  }

  /// Removes the reject file that an import has written on this host and that is in the queue's database.
  private func removeLocalRejects(_ name: String) async throws {
    let file = URL(fileURLWithPath: current.now.configuration.rejects).appendingPathComponent(name)
    try await directories.onQueue {
      for url in [file, URL(fileURLWithPath: file.path + ".part")] {
        do { try FileManager.default.removeItem(at: url) } catch CocoaError.fileNoSuchFile { continue }
      }
    }
  }

  /// Removes what a job keeps in a store to go on by.
  private func forget(
    _ job: Int64, _ claim: Int64?, in store: String, _ coordinator: PersistentStoreCoordinator
  ) async {
    do {
      try await directories.onQueue {
        try JobCheckpoint.forget(job, claim: claim, queue: queueIdentifier, in: coordinator)
      }
    } catch {
      // A remaining checkpoint is harmless: the job's number is never used again.
      logger.warning(
        "job \(job): its checkpoint stays in store \(store): \(error)",
        metadata: ["job": "\(job)", "store": "\(store)"])
    }
  }

  private func removeExtract(of job: Int64) async throws {
    let folder = URL(fileURLWithPath: current.now.configuration.extracts)
    try await directories.onQueue { try ExtractFile.remove(of: job, in: folder) }
  }

  /// Removes what jobs keep in stores and extracts that ended before a kill. Those whose file is in `active/` are settled by it.
  private func settleEnded() async throws {
    let folder = URL(fileURLWithPath: current.now.configuration.extracts)
    var ids = Set(try await directories.onQueue { try ExtractFile.jobs(in: folder) })
    for store in plan.stores.all {
      do {
        let coordinator = store.coordinator
        ids.formUnion(
          try await directories.onQueue { try JobCheckpoint.jobs(ofQueue: queueIdentifier, in: coordinator) })
      } catch {
        logger.warning("what jobs that have ended keep in store \(store.configuration.name) stays: \(error)")
      }
    }
    for id in ids.sorted() {
      do {
        let job = try await queue.job(id)
        guard job.state.isEnded, !queue.isElsewhere(job) else { continue }
        guard let name = job.activeName else {
          try await finished(job)
          continue
        }
        // Its checkpoint couldn't be removed when the file was put away.
        if try await directories.onQueue({ try directories.isActive(name) }) { continue }
        if let store = job.store, let coordinator = plan.stores[store]?.coordinator {
          await forget(id, job.claim, in: store, coordinator)
        }
      } catch JobQueueError.noSuchJob {
        // It ended, and was removed.
        for store in plan.stores.all { await forget(id, nil, in: store.configuration.name, store.coordinator) }
        try await removeExtract(of: id)
      }
    }
  }

  /// What an import that failed or was cancelled has committed before is in the store's checkpoint, and the queue need not
  /// know: a kill may have come between. Brings its counts and its reject file in line with that, and sets the references of
  /// the records that a retry has resolved, since nothing retries those again.
  private func settleUnfinished(_ job: Job, _ coordinator: PersistentStoreCoordinator) async throws {
    let rejects = URL(fileURLWithPath: current.now.configuration.rejects)
    let progress = try await directories.onQueue { () -> JobProgress? in
      func warn(_ error: any Error) {
        logger.warning(
          "job \(job.id): what it has committed couldn't be brought in line with what is known of it: \(error)",
          metadata: ["job": "\(job.id)"])
      }
      do {
        let (progress, problem) = try UnfinishedImport(
          job, queue: queueIdentifier, rejects: rejects, copy: queue.sharedRejects(of: job), in: coordinator
        ).settle()
        if let problem { warn(problem) }
        return progress
      } catch {
        warn(error)
        return nil
      }
    }
    if let progress { try await queue.correct(job.id, progress) }
  }

  /// Removes the files of a job that was removed from the queue, unless they are kept forever, and its rejects.
  func removed(_ job: Job, rejects: String) async throws {
    if job.sharedFile != nil {
      // It may have ended elsewhere a moment ago, and its file be in active/ still.
      if let name = job.activeName, let outcome = plan.outcome(of: job) {
        try await putAway(name, of: job, as: outcome)
      }
      let folders = SharedRejectFolders(state: current.now.configuration.state)
      try await directories.onQueue { try folders.remove(job) }
    }
    if current.now.configuration.keep.files != .forever {
      try await directories.onQueue { [directories] in
        try directories.removeKept(job: job.id, activeName: job.activeName)
      }
    }
    // The name is the daemon's own: the job's number and an ending.
    guard let name = job.progress.rejectsFile else { return }
    if let store = job.store, let coordinator = plan.stores[store]?.coordinator {
      let rejected = JobCheckpoint.name(job.id, queue: queueIdentifier)
      try await directories.onQueue {
        let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "rejects \(job.id), clean-up")
        try ResolvedRejects(of: rejected, in: context).removeAll()
      }
    }
    let file = URL(fileURLWithPath: rejects).appendingPathComponent(name)
    try await directories.onQueue {
      do {
        try FileManager.default.removeItem(at: file)
      } catch CocoaError.fileNoSuchFile {
        return
      }
    }
  }

  /// What a kill left between queue and spool: jobs whose entries had left `incoming/`, jobs whose files hadn't come or came
  /// back there when the power failed, and files of jobs that had ended. What was moved is on the disk by now.
  func recover() async throws {
    let state = URL(fileURLWithPath: current.now.configuration.state)
    try await directories.onQueue {
      for name in [
        RejectRetryFiles.scratchName, RejectTrial.folderName, RecipeTrial.folderName, SharedRejectFolders.folderName,
      ] {
        do { try FileManager.default.removeItem(at: state.appendingPathComponent(name)) } catch CocoaError
          .fileNoSuchFile
        {}
      }
    }
    try await settleEnded()
    try await each(JobFilter(isUnarrived: true, limit: 1000)) { job in
      let name = Self.activeName(job.id, job.source)
      if try await directories.onQueue({ try hasArrived(job, as: name) }) {
        _ = try await queue.fileArrived(job.id, activeName: name, by: "restart")
      } else if job.source != nil, !job.isAwaitingFile, !job.state.isEnded, job.sharedFile == nil {
        try await queue.fileLost(job.id)
      }
    }
    try await each(JobFilter(isAwaitingFile: true, limit: 1000)) { job in
      try await replays.bring(job)
      switch job.origin {
      case .spool: return
      // The queue asks for its file again, unless it has ended.
      case .schedule, .replay: guard job.state.isEnded else { return }
      case nil, .rejects, .upload: break
      }
      let name = Self.activeName(job.id, job.source)
      let made = job.submittedAt.timeIntervalSince1970
      if try await directories.onQueue({ try directories.hasCopy(name, forJobMade: made) }) {
        // If the job was ended while the file was copied, the file is put away.
        _ = try await queue.fileArrived(job.id, activeName: name, by: "restart")
      } else if !job.state.isEnded {
        _ = try await queue.cancel(job.id, by: "restart: the daemon was stopped while it copied the file")
      }
    }
    try await uploads.recover(queue)
    try await settleActive()
  }

  /// Removes what this daemon had begun to take from a folder of several hosts, and what another daemon has taken over while no
  /// daemon worked here. After the queue has started, and before the intake runs.
  func discardTakenOver() async throws {
    guard directories.sharedIncoming != nil else { return }
    try await queue.endTakeOvers()
    for id in try await activeJobs().joined() {
      do {
        guard try await queue.wasTakenOver(id) else { continue }
        let job = try await queue.job(id)
        let name = Self.activeName(id, job.source)
        try await directories.onQueue { [directories] in
          try directories.discardHandOver(name, of: id, keepsFile: job.sharedFile != nil)
        }
      } catch JobQueueError.noSuchJob {
        // `recover` has said so.
        continue
      }
    }
  }

  /// Has the files in `active/` put away whose jobs have ended.
  func settleActive() async throws {
    for ids in try await activeJobs() {
      for id in Set(try await queue.settle(ids)).sorted() {
        logger.warning(
          "job \(id): a file of it is in active/, and it isn't in the queue: the file stays there",
          metadata: ["job": "\(id)"])
      }
    }
  }

  /// Whether a job's file is in `active/`, and its ticket, if it had one, has left `incoming/` for good: a loss of power may
  /// have undone the ticket's move and kept the file's. Blocks.
  private func hasArrived(_ job: Job, as name: String) throws -> Bool {
    guard try directories.isActive(name) else { return false }
    if case .spool(let identity)? = job.origin { try directories.takeTicket(identity, of: job.id) }
    return true
  }

  /// Cancels the jobs from before this start whose files disappeared before they were taken: everything that is still in
  /// `incoming/` has been taken by now.
  func scanCompleted() async throws {
    try await each(JobFilter(isUnarrived: true, limit: 1000)) { job in
      guard job.submittedAt < startedAt else { return }
      let name = Self.activeName(job.id, job.source)
      guard try await !directories.onQueue({ try directories.isActive(name) }) else { return }
      _ = try await queue.withdraw(
        job.id, reason: "cancelled by the spool: its file was removed before it was taken")
    }
  }

  /// What a job's file is called in `active/`; of a job without one, its ticket.
  private static func activeName(_ job: Int64, _ source: String?) -> String {
    source.map { SpoolDirectories.activeName(job: job, originalName: $0) } ?? SpoolDirectories.ticketName(job: job)
  }

  /// The numbers of the jobs that have a file in `active/`, some together: there may be many.
  private func activeJobs() async throws -> [[Int64]] {
    try await directories.onQueue {
      var ids: [Int64] = []
      try directories.forEachActive { _, job in ids.append(job) }
      ids.sort()
      return stride(from: 0, to: ids.count, by: 500).map { Array(ids[$0..<min($0 + 500, ids.count)]) }
    }
  }

  /// Calls `body` with the jobs that pass a filter, as many in memory as it says.
  private func each(_ filter: JobFilter, _ body: (Job) async throws -> Void) async throws {
    var filter = filter
    while true {
      let jobs = try await queue.jobs(filter)
      // Where others share the queue, each looks after its own files.
      for job in jobs where !queue.isElsewhere(job) { try await body(job) }
      guard jobs.count == filter.limit, let last = jobs.last else { return }
      filter.before = last.id
    }
  }
}

extension Result {
  fileprivate var success: Success? {
    if case .success(let value) = self { value } else { nil }
  }
}

/// Why a job that has ended can't be tried again, and what to do.
struct RevivalRefusal: Error, Equatable, CustomStringConvertible {
  let description: String
}

extension SpoolBridge {
  /// Brings the file of a job that has ended back to `active/`, before the job is tried again.
  ///
  /// An import's checkpoint is removed at its end, so the import starts again. If records find their objects by key, the
  /// result is that of one run; if every record is a new object, it isn't.
  /// - Throws: ``RevivalRefusal``, or the spool's error.
  func revive(_ job: Job) async throws {
    guard job.kind == ImportOperation.kind else { return }
    if let rejected = job.origin?.retriedJob {
      throw RevivalRefusal(
        description:
          "it retried the rejects of job \(rejected); 'ladectl rejects retry \(rejected)' retries those that are "
          + "open")
    }
    if case .replay(_, let file)? = job.origin {
      throw RevivalRefusal(
        description:
          "it was part of a replay, and later files may have been imported since: "
          + "'ladectl replay --recipe \(job.recipe ?? "")' imports \(file) and those after it again")
    }
    if job.readsDatabase {
      throw RevivalRefusal(
        description:
          "it read a database, and others may have read newer rows since: 'ladectl import --recipe \(job.recipe ?? "")' reads on "
          + "from the cursor")
    }
    try await refuseIfRetried(job)
    guard let name = job.activeName else {
      throw RevivalRefusal(description: "it was ended before it had its file; submit that again")
    }
    let options = try job.decodeOptions(as: ImportOptions.self)
    if options.mode == .insert, !options.isWhole, job.progress.inserted > 0 {
      throw RevivalRefusal(
        description: "it has inserted \(job.progress.inserted) records, and would insert them again; submit those that "
          + "are missing, or the whole file by upsert, if the entity has a key")
    }
    // Another host leaves its file where it is: the queue's database has the bytes.
    if job.sharedFile != nil, queue.isElsewhere(job) { return }
    guard try await directories.onQueue({ try directories.reclaim(name) }) || job.sharedFile != nil else {
      throw RevivalRefusal(description: "its file, \(name), isn't in corrupt/ or done/ any more; submit it again")
    }
  }

  /// Refuses to write the reject file of a job again whose rejects have been retried: their numbers would mean other records.
  private func refuseIfRetried(_ job: Job) async throws {
    guard job.progress.rejected > 0 else { return }
    let key = RejectRetryFiles.uniqueKey(of: job.id)
    let states = Set(JobState.allCases.filter { !$0.isEnded })
    let retries = try await queue.jobs(JobFilter(states: states, uniqueKey: key, limit: 1000))
      .filter { $0.origin?.retriedJob == job.id }
    var resolved: Int64 = 0
    if let store = job.store, let coordinator = plan.stores[store]?.coordinator {
      let rejected = JobCheckpoint.name(job.id, queue: queueIdentifier)
      resolved = try await directories.onQueue {
        let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "rejects \(job.id)")
        return try ResolvedRejects(of: rejected, in: context).count()
      }
    }
    guard retries.isEmpty, resolved == 0 else {
      throw RevivalRefusal(
        description: "its rejects have been retried; submit its file again, or retry the rejects that are open")
    }
  }
}

extension Job {
  /// Whether it reads an incremental source.
  var readsDatabase: Bool {
    // Few options have the word.
    guard kind == ImportOperation.kind, options.contains("\"from\":") else { return false }
    do {
      return try decodeOptions(as: ImportOptions.self).from != nil
    } catch {
      // The job fails with that.
      return false
    }
  }
}
