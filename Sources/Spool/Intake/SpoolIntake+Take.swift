import Glibc

extension SpoolIntake {
  /// So many jobs are announced together, after one fsync of the directories.
  static let announcedTogether = 64

  /// Looks at an entry, and takes it, refuses it or leaves it. What goes wrong is reported, and the entry stays.
  func consider(_ name: FileName, in place: SpoolPlace, trigger: SpoolTrigger) async {
    do {
      switch try examiner.examine(name, in: place, trigger: trigger) {
      case .ignore: break
      case .wait(let time, let source): wait(name, for: time, source: source)
      case .refuse(let refusal): try refuse(name, in: place, refusal)
      case .take(let candidate): try await take(candidate)
      }
    } catch is CancellationError where Task.isCancelled {
      logger.info("spool: stopping; left for the next start", metadata: ["entry": "\(place.relativeName(name))"])
    } catch {
      report(error, at: "incoming/" + place.relativeName(name))
    }
    if unannounced.count >= SpoolIntake.announcedTogether { await announce() }
  }

  private func wait(_ name: FileName, for time: Int64?, source: String?) {
    counts.waiting += 1
    if let source, awaited.count < PendingEntries.limit { awaited[FileName(source)] = name }
    if let time { scheduleRescan(after: time) }
  }

  private func take(_ candidate: SpoolCandidate) async throws {
    let job: Int64
    do {
      job = try await accept(candidate.entry)
    } catch let refusal as SpoolRefusal {
      return try refuse(candidate.name, in: candidate.place, refusal)
    }
    do {
      try move(candidate, job: job)
    } catch {
      handOversAreOpen = true
      throw error
    }
    counts.taken += 1
    unannounced.append(job)
    logger.info(
      "spool: taken", metadata: ["entry": "\(candidate.place.relativeName(candidate.name))", "job": "\(job)"])
  }

  private func move(_ candidate: SpoolCandidate, job: Int64) throws {
    let directory = candidate.place.directory
    unsynchronised[ObjectIdentifier(directory)] = directory
    // The ticket first: left alone in `active/` by a kill, it says which file is still to come.
    if let ticket = candidate.ticket {
      try handOver.move(candidate.name, of: directory, ticket, to: SpoolDirectories.ticketName(job: job))
    }
    guard let file = candidate.file else { return }
    let name = candidate.entry.activeName(job: job)
    if let fileName = candidate.fileName {
      try handOver.move(fileName, of: directory, file, to: name)
    } else {
      try handOver.copy(file, to: name)
    }
  }

  /// Puts on disk what was moved, and says that those jobs may run.
  func announce() async {
    guard !unannounced.isEmpty else { return }
    do {
      try directories.handle(.active).synchronise()
      for directory in unsynchronised.values { try directory.synchronise() }
    } catch {
      return report(error, at: directories.path)
    }
    unsynchronised = [:]
    let jobs = unannounced
    unannounced = []
    for job in jobs {
      do {
        try await taken(job)
      } catch {
        // It is said again after the next rescan.
        unannounced.append(job)
        report(error, at: "job \(job)")
      }
    }
  }

  /// Finishes the hand-overs that a kill or a full disk interrupted: tickets in `active/` whose file isn't there.
  func resumeHandOvers() throws {
    guard let incoming else { return }
    handOversAreOpen = false
    let active = try directories.handle(.active)
    try active.forEach { name, _ in
      guard let text = name.text else { return }
      if text.hasPrefix("."), text.hasSuffix(".part") { return try active.remove(name) }
      guard let job = SpoolDirectories.job(ofActiveName: text), text == SpoolDirectories.ticketName(job: job) else {
        return
      }
      do {
        try resumeHandOver(job, of: name, in: active, incoming)
      } catch {
        handOversAreOpen = true
        report(error, at: active.place(name))
      }
    }
  }

  private func resumeHandOver(
    _ job: Int64, of name: FileName, in active: DirectoryHandle, _ incoming: SpoolPlace
  ) throws {
    let bytes = try active.open(name).read(atMost: Ticket.longest + 1, path: active.place(name))
    let ticket = try Ticket(parsing: bytes)
    guard let source = ticket.source else { return }
    let newName = SpoolDirectories.activeName(job: job, originalName: source.fileName)
    if try active.status(of: FileName(newName)) != nil { return }
    switch try examiner.source(of: ticket, ticketStatus: nil, in: incoming.directory) {
    case .opened(let file):
      if case .beside(let fileName) = source {
        try handOver.move(FileName(fileName), of: incoming.directory, file, to: newName)
        unsynchronised[ObjectIdentifier(incoming.directory)] = incoming.directory
      } else {
        try handOver.copy(file, to: newName)
      }
    case .stop(.wait):
      handOversAreOpen = true
      return scheduleRescan(after: timing.settle.nanoseconds)
    case .stop, .none:
      // The job itself will say that its file is missing.
      logger.error(
        "spool: the daemon was stopped during the hand-over, and the source is gone",
        metadata: ["job": "\(job)", "source": "\(source.fileName)"])
    }
    unannounced.append(job)
  }
}
