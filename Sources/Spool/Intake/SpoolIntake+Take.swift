import CLinux
import Glibc

extension SpoolIntake {
  /// So many entries are taken together, at most: they share one flush of the disk and the queue's transactions.
  static let takenTogether = 128
  /// From so many on the file system is flushed at once instead of file by file.
  private static let flushedTogether = 16
  /// When the queue takes nothing so many times in a row, it isn't asked for each of a hundred thousand entries.
  private static let failuresInARow = 8

  /// Looks at an entry, and takes it, refuses it or leaves it. What goes wrong is reported, and the entry stays.
  /// - Returns: whether it makes sense to go on with others.
  func consider(_ name: FileName, in place: SpoolPlace, trigger: SpoolTrigger) async -> Bool {
    do {
      if let mark = unremoved[PendingEntries.Key(recipe: place.recipe, name: name)],
        try FileMark(of: name, in: place.directory) == mark
      {
        return true
      }
      switch try examiner.examine(name, in: place, trigger: trigger) {
      case .ignore: break
      case .wait(let time, let source): wait(name, for: time, source: source)
      case .refuse(let refusal): try refuse(name, in: place, refusal)
      case .take(let candidate):
        if candidate.isAlso(in: batch) {
          // Of two tickets for one file the first has it, and the other is looked at when it is gone.
          guard await takeBatch() else { return false }
          return await consider(name, in: place, trigger: trigger)
        }
        batch.append(candidate)
        if batch.count >= SpoolIntake.takenTogether { return await takeBatch() }
      }
      return true
    } catch {
      return report(error, at: "incoming/" + place.relativeName(name))
    }
  }

  private func wait(_ name: FileName, for time: Int64?, source: String?) {
    counts.waiting += 1
    if let source, awaited.count < PendingEntries.limit { awaited[FileName(source)] = name }
    if let time { scheduleRescan(after: time) }
  }

  /// Makes the jobs of the entries that were looked at, moves these to `active/`, says that the jobs may run, and that the
  /// entries are gone for good.
  /// - Returns: whether it makes sense to go on with others.
  func takeBatch() async -> Bool {
    guard !batch.isEmpty else { return await announce() }
    let candidates = batch
    batch = []
    do {
      try synchronise(candidates)
    } catch {
      return report(error, at: "incoming/")
    }
    let answers = await accept(candidates.map(\.entry))
    var goesOn = true
    var (here, changed) = ([Int64](), [Int64]())
    for (candidate, answer) in zip(candidates, answers) {
      let name = "incoming/" + candidate.place.relativeName(candidate.name)
      do {
        if let job = try finish(candidate, answer), candidate.fileName != nil { here.append(job) }
        if failures.succeeded(at: name) { logger.notice("spool: goes on", metadata: ["entry": "\(name)"]) }
      } catch is CancellationError where Task.isCancelled {
        logger.info("spool: stopping; left for the next start", metadata: ["entry": "\(name)"])
      } catch {
        if case SpoolError.changed = error, candidate.ticket == nil, case .success(let job) = answer {
          changed.append(job)
        }
        goesOn = report(error, at: name) && goesOn
      }
    }
    // A file that was copied from elsewhere isn't there to be found again.
    if !here.isEmpty { came(here) }
    for job in changed {
      // What it is now is an entry of its own, and has a job of its own.
      do { try await withdrawn(job) } catch { goesOn = report(error, at: "job \(job)") && goesOn }
    }
    if acceptsFailed >= SpoolIntake.failuresInARow { goesOn = false }
    return await announce() && goesOn
  }

  /// - Returns: the job whose entry is in `active/`; nil for one that was refused.
  private func finish(_ candidate: SpoolCandidate, _ answer: Result<Int64, any Error>) throws -> Int64? {
    let job: Int64
    switch answer {
    case .success(let made): job = made
    case .failure(let refusal as SpoolRefusal):
      acceptsFailed = 0
      try refuse(candidate.name, in: candidate.place, refusal)
      return nil
    case .failure(let error):
      acceptsFailed += 1
      throw error
    }
    acceptsFailed = 0
    do {
      try move(candidate, job: job)
    } catch {
      handOversAreOpen = true
      throw error
    }
    counts.taken += 1
    unannounced.append(job)
    logger.info(
      "job \(job): its entry was taken from the spool",
      metadata: ["entry": "\(candidate.place.relativeName(candidate.name))", "job": "\(job)"])
    return job
  }

  /// What is handed over is on disk before its job can be.
  private func synchronise(_ candidates: [SpoolCandidate]) throws {
    if candidates.count < SpoolIntake.flushedTogether {
      for candidate in candidates { try candidate.synchronise() }
      return
    }
    var devices = Set<UInt64>()
    for file in candidates.flatMap(\.handedOver) where devices.insert(file.status.device).inserted {
      let answer = lade_synchronise_file_system(file.descriptor.number)
      guard answer == 0 else { throw SpoolError.system(call: "syncfs", path: directories.path, code: -answer) }
    }
  }

  private func move(_ candidate: SpoolCandidate, job: Int64) throws {
    let place = candidate.place
    unsynchronised[ObjectIdentifier(place.directory)] = place.directory
    // The ticket first: left alone in `active/` by a kill, it says which file is still to come.
    if let ticket = candidate.ticket {
      try handOver.move(candidate.name, of: place, ticket, to: SpoolDirectories.ticketName(job: job))
    }
    guard let file = candidate.file else { return }
    let name = candidate.entry.activeName(job: job)
    // Of a ticket that is met again the job may have its file, and this be another one.
    if candidate.ticket != nil, try handOver.isKnown(FileName(name)) { return }
    if let fileName = candidate.fileName {
      try handOver.move(fileName, of: place, file, to: name)
    } else {
      try handOver.copy(file, to: name)
    }
  }

  /// Puts on disk what an earlier process moved. After `openHotFolders()`.
  package func synchroniseMoves() throws {
    try directories.handle(.active).synchronise()
    for place in [incoming].compactMap({ $0 }) + hotFolders.values { try place.directory.synchronise() }
  }

  /// Takes what was looked at, and returns when that is said, too.
  /// - Returns: whether it makes sense to go on with others.
  func takeRest() async -> Bool {
    let goesOn = await takeBatch()
    return await wordIsKept() && goesOn
  }

  /// Puts on disk what was moved, and says so while others are taken: the word of it shares their transaction.
  /// - Returns: whether that is so.
  private func announce() async -> Bool {
    guard !unannounced.isEmpty else { return true }
    do {
      try directories.handle(.active).synchronise()
      for directory in unsynchronised.values { try directory.synchronise() }
      unsynchronised = [:]
      try handOver.forgetRests()
    } catch {
      // It is said again by the next look.
      _ = report(error, at: "active/")
      return false
    }
    guard await wordIsKept() else { return false }
    let jobs = unannounced
    unannounced = []
    word = Task {
      do {
        try await taken(jobs)
        if failures.succeeded(at: "active/") || failures.succeeded(at: SpoolIntake.all) {
          logger.notice("spool: goes on", metadata: ["entry": "\(directories.path)"])
        }
        return true
      } catch {
        unannounced = jobs + unannounced
        _ = report(error, at: "active/")
        return false
      }
    }
    return true
  }

  /// Whether what was said last was heard.
  func wordIsKept() async -> Bool {
    guard let word else { return true }
    self.word = nil
    return await word.value
  }
}
