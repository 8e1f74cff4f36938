import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Glibc
import Importing
import Jobs
import ManagedObjects
import Spool

extension DaemonBackend {
  /// Reject files are read one after the other: each takes a core for as long as it is.
  private static let rejectQueue = DispatchQueue(label: "control.rejects")
  /// The bytes of records in a page.
  private static let pageBytes = 256 << 10

  /// The job of that number, whose reject file is here if it has one.
  private func rejectingJob(_ id: Int64) async throws -> Job {
    let job = try await translating { try await queue.job(id) }
    if let shared = queue.sharedRejects(of: job) {
      guard job.progress.rejected > 0 else { return job }
      let folders = sharedRejects
      try await Self.rejectQueue.result { try folders.bring(shared, of: job) }
      return job
    }
    guard queue.isElsewhere(job), job.progress.rejected > 0 else { return job }
    throw ControlError.conflict(
      reason: "The rejects of job \(id) are on host \(job.host ?? "").", hint: "Ask a daemon there.")
  }

  func rejects(_ id: Int64) async throws -> RejectReport {
    let job = try await rejectingJob(id)
    guard let file = rejectFile(of: job) else { return RejectReport(job: id) }
    let options = try job.decodeOptions(as: ImportOptions.self).reader
    let isFeed = job.entity == ImportRequest.feed
    let resolved = resolvedRejects(of: job)
    let report = try await Self.rejectQueue.result {
      var report = RejectReport(job: id, file: file.path, isFolder: isFeed, try Self.summary(of: file, options))
      guard let resolved else { return report }
      try resolved { rejects in
        let counts = try rejects.counts(of: report.count)
        report.resolved = counts.sorted { $0.key < $1.key }.map { .init(job: $0.key, count: $0.value) }
        report.open = report.count - counts.values.reduce(0, +)
        guard !counts.isEmpty else { return }
        for group in report.groups.indices {
          for example in report.groups[group].examples.indices {
            let number = report.groups[group].examples[example].number
            report.groups[group].examples[example].resolvedBy = try rejects.resolvers(number...number)[number]
          }
        }
      }
      return report
    }
    if job.state.isEnded { try await checkAttempt(job.attempt, of: id) }
    return report
  }

  func reject(_ number: Int64, of id: Int64) async throws -> Reject {
    let job = try await rejectingJob(id)
    guard let records = try records(of: job), number <= job.progress.rejected else {
      throw ControlError.noSuchReject(number, of: id)
    }
    let resolved = resolvedRejects(of: job)
    let reject = try await Self.rejectQueue.result {
      try Self.refusing {
        var reject = Reject(try records().record(number, of: job.progress.rejected))
        try resolved?({ reject.resolvedBy = try $0.resolvers(number...number)[number] })
        return reject
      }
    }
    try await checkAttempt(job.attempt, of: id)
    return reject
  }

  /// Refuses what is about the rejects of an attempt that isn't the job's last: its reject file was written again, so the numbers
  /// mean other records.
  private func checkAttempt(_ attempt: Int, of id: Int64) async throws {
    let job = try await rejectingJob(id)
    guard job.attempt != attempt || !job.state.isEnded else { return }
    throw ControlError.conflict(
      reason: "Job \(id) was tried again since: these were the rejects of an earlier attempt.",
      hint: "Look at its rejects again.")
  }

  func rejectFile(_ id: Int64) async throws -> RejectFileContent {
    let job = try await rejectingJob(id)
    guard let records = try records(of: job), let file = rejectFile(of: job), job.progress.rejected > 0 else {
      throw ControlError.conflict(reason: "Job \(id) has rejected nothing.")
    }
    let download = RejectDownload(job: id, file: file, isFeed: job.entity == ImportRequest.feed, records)
    return RejectFileContent(name: download.name) {
      let bytes = try await Self.rejectQueue.result { try Self.refusing { try download.next() } }
      try await checkAttempt(job.attempt, of: id)
      return bytes
    }
  }

  func openRejects(_ id: Int64, _ query: RejectQuery) async throws -> RejectPage {
    let job = try await rejectingJob(id)
    if let attempt = query.attempt { try await checkAttempt(attempt, of: id) }
    guard let records = try records(of: job) else { return RejectPage(rejects: [], attempt: job.attempt) }
    let resolved = resolvedRejects(of: job)
    let page = try await Self.rejectQueue.result {
      try Self.refusing {
        let records = try records()
        var page = RejectPage(rejects: [], attempt: job.attempt, columns: try records.columns())
        var bytes = 0
        var hasMore = false
        try records.forEach(after: query.after) { some in
          guard let first = some.first, let last = some.last else { return true }
          var known: [Int64: Int64] = [:]
          try resolved?({ known = try $0.resolvers(first.number...last.number) })
          for record in some where known[record.number] == nil {
            let reject = Reject(record)
            if page.rejects.count == query.limit
              || (!page.rejects.isEmpty && bytes + reject.record.utf8.count > Self.pageBytes)
            {
              hasMore = true
              return false
            }
            bytes += reject.record.utf8.count
            page.rejects.append(reject)
          }
          return true
        }
        page.next = hasMore ? page.rejects.last?.number : nil
        return page
      }
    }
    try await checkAttempt(job.attempt, of: id)
    return page
  }

  func checkRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> RejectCheck {
    try Self.checkNumber(of: request)
    let plan = try await retryPlan(of: id, request.attempt, isDryRun: true, by: peer)
    if let store = plan.submission.store { try await refuseWhileTaken(store) }
    let trial = RejectTrial(
      plan: plan, corrections: request.records?.map(RejectExtract.Correction.init),
      credentials: configuration.credentials ?? MaskCredentials(folder: nil),
      folder: URL(fileURLWithPath: configuration.state).appendingPathComponent(RejectTrial.folderName))
    let check = try await Self.trialQueue.trial(within: RejectTrial.longest) { limit in
      try Self.refusing { try trial.run(limit) }
    }
    try await checkAttempt(plan.rejected.attempt, of: id)
    return check
  }

  func retryRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> Job {
    try Self.checkNumber(of: request)
    let plan = try await retryPlan(of: id, request.attempt, isDryRun: request.isDryRun, by: peer)
    if let open = try await openRejects(of: plan.rejected), open == 0 {
      throw ControlError.conflict(reason: "All rejects of job \(id) are resolved.")
    }
    return try await translating {
      // From here on there is no other retry of these rejects, until this one has ended.
      let made = try await queue.receive(plan.submission, retryingRejectsOf: id)
      guard made.isNew else {
        guard made.job.origin?.retriedJob == id else {
          throw ControlError.conflict(
            reason: "Job \(made.job.id) has the unique key of a retry of these rejects, and hasn't ended.",
            hint: "'ladectl wait \(made.job.id)' waits until it has.")
        }
        throw ControlError.conflict(
          reason: "Job \(made.job.id) is retrying the rejects of job \(id).",
          hint: "'ladectl wait \(made.job.id)' waits until it has ended.")
      }
      let corrections = request.records?.map(RejectExtract.Correction.init)
      do {
        let file = try await sourceOfRetry(made.job.id, plan, corrections)
        // A job that is tried again rewrites its reject file.
        try await checkAttempt(plan.rejected.attempt, of: id)
        return shown(queue.completed(try await handOver(.file(file.opened), to: made.job, by: peer)))
      } catch let error as ControlError {
        if case .unavailable = error { throw error }
        await giveUp(made.job.id, because: RevivalRefusal(description: error.problem.detail))
        throw error
      } catch {
        await giveUp(made.job.id, because: error)
        throw error
      }
    }
  }

  /// A file that is removed when it isn't used any more.
  private final class ScratchFile: Sendable {
    let opened: SubmittedFile
    private let folder: URL

    init(_ opened: SubmittedFile, in folder: URL) {
      self.opened = opened
      self.folder = folder
    }

    deinit {
      do {
        try FileManager.default.removeItem(at: folder)
      } catch {
        // The next start of the daemon removes it.
      }
    }
  }

  /// Writes what a retry reads.
  private func sourceOfRetry(
    _ job: Int64, _ plan: RejectRetryPlan, _ corrections: [RejectExtract.Correction]?
  ) async throws -> ScratchFile {
    let folder = URL(fileURLWithPath: configuration.state).appendingPathComponent(RejectRetryFiles.scratchName)
      .appendingPathComponent(String(job))
    let numbers = RejectRetryFiles(job: job, rejects: configuration.rejects).numbers
    let source = folder.appendingPathComponent(plan.submission.source ?? "rejects")
    return try await Self.rejectQueue.result { [directories] in
      try Self.refusing {
        let parts = folder.appendingPathComponent("parts")
        try FileManager.default.createDirectory(
          at: parts, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
          try plan.extract(corrections, to: source, numbers: numbers, scratch: parts)
          return ScratchFile(
            try directories.openSubmitted(source.path, for: geteuid(), allowedFolders: []), in: folder)
        } catch {
          try FileManager.default.removeItem(at: folder)
          throw error
        }
      }
    }
  }

  /// Each correction is checked by itself. More are better made in a copy of the reject file.
  private static func checkNumber(of request: RejectRetryRequest) throws {
    guard let count = request.records?.count, count > RejectRetryRequest.mostRecords else { return }
    throw ControlError.invalid(
      field: "records", reason: "there are \(count), and may be \(RejectRetryRequest.mostRecords)",
      hint: "Leave them out to retry all that are open, or import a corrected copy of the reject file.")
  }

  private func retryPlan(of id: Int64, _ attempt: Int?, isDryRun: Bool, by peer: Peer) async throws -> RejectRetryPlan {
    try await translating {
      var job = try await rejectingJob(id)
      try permissions.checkChange(of: id, submittedBy: job.submittedBy, by: peer)
      // Its counts and its reject file are settled at its end.
      if job.state.isEnded { job = try await queue.whenEnded(id) }
      if let attempt { try await checkAttempt(attempt, of: id) }
      return try RejectRetryPlan(
        of: job, isDryRun: isDryRun, plan: plan, rejects: rejectsFolder(of: job).path, queue: queueIdentifier,
        by: peer.who)
    }
  }

  // MARK: What a job has rejected

  private func rejectFile(of job: Job) -> URL? {
    job.progress.rejectsFile.map { rejectsFolder(of: job).appendingPathComponent($0) }
  }

  private func rejectsFolder(of job: Job) -> URL {
    job.sharedFile == nil ? URL(fileURLWithPath: configuration.rejects) : sharedRejects.folder(of: job)
  }

  private var sharedRejects: SharedRejectFolders { SharedRejectFolders(state: configuration.state) }

  /// The rejected records of a job that has ended; nil if it has none. Called where it may block.
  private func records(of job: Job) throws -> (@Sendable () throws -> RejectedRecords)? {
    guard job.kind == ImportOperation.kind, let file = rejectFile(of: job) else { return nil }
    guard job.state.isEnded else {
      throw ControlError.conflict(
        reason: "Job \(job.id) hasn't ended, so its rejects aren't complete.",
        hint: "'ladectl wait \(job.id)' waits for it.")
    }
    let options = try job.decodeOptions(as: ImportOptions.self)
    let coordinator = job.store.flatMap { stores[$0] }?.coordinator
    return {
      RejectedRecords(file, options: options, entity: job.entity.flatMap { coordinator?.model.entitiesByName[$0] })
    }
  }

  /// Lends what retries have resolved of a job's rejects; nil where there can be nothing. Called where it may block.
  private func resolvedRejects(of job: Job) -> (@Sendable ((ResolvedRejects) throws -> Void) throws -> Void)? {
    guard job.kind == ImportOperation.kind, job.progress.rejected > 0, job.origin?.retriedJob == nil,
      let coordinator = job.store.flatMap({ stores[$0] })?.coordinator
    else { return nil }
    let name = JobCheckpoint.name(job.id, queue: queueIdentifier)
    return { body in
      let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "rejects \(job.id)")
      try body(ResolvedRejects(of: name, in: context))
    }
  }

  /// How many rejects of a job no retry has resolved; nil where that means nothing.
  func openRejects(of job: Job) async throws -> Int64? {
    guard job.state.isEnded, let resolved = resolvedRejects(of: job) else { return nil }
    return try await DispatchQueue.global(qos: .userInitiated).result {
      var open = job.progress.rejected
      try resolved { open -= try $0.count() }
      return open
    }
  }

  /// What is wrong with the reject file or with the request, as the client's to correct.
  private static func refusing<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as RejectRetryError {
      switch error {
      case .noSuchReject, .notOneRecord, .notApart, .needsCorrection:
        throw ControlError.invalid(field: "records", reason: "\(error)")
      case .changed, .resolved, .nothingToRead: throw ControlError.conflict(reason: "\(error).")
      }
    } catch let error as ReaderError {
      throw ControlError.conflict(reason: "The reject file can't be read as the job wrote it: \(error)")
    } catch MappingError.fileFailed(let path, let operation, let reason) {
      throw ControlError.conflict(reason: "Can't \(operation) \(path): \(reason).")
    }
  }

  private static func summary(of file: URL, _ options: ReaderOptions) throws -> RejectSummary {
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError.conflict(reason: "The job rejected records, and \(file.path) isn't there any more.")
    }
    do {
      return try RejectSummary.read(file, options: options)
    } catch {
      throw ControlError.conflict(reason: "\(file.path) can't be read as the job wrote it: \(error)")
    }
  }
}

extension RejectExtract.Correction {
  init(_ wanted: RejectCorrection) {
    self.init(number: wanted.number, record: wanted.record.map { Array($0.utf8) })
  }
}
