import Glibc

extension SpoolIntake {
  /// Finishes the hand-overs that a kill or a full disk interrupted: what still lies in `incoming/` though its copy is
  /// whole, then tickets in `active/` whose file isn't there. Before anything else is taken, for another ticket may name
  /// the same file.
  func resumeHandOvers() throws {
    guard let incoming else { return }
    handOversAreOpen = false
    let active = try directories.handle(.active)
    let finished = try removeRests(in: active, incoming)
    try active.forEach { name, _ in
      guard let text = name.text else { return }
      if text.hasPrefix("."), text.hasSuffix(".part") {
        // Under the lock, so that no copy is begun meanwhile.
        return try directories.copying.withLock { if !$0.contains(name) { try active.remove(name) } }
      }
      guard let job = SpoolDirectories.job(ofActiveName: text), text == SpoolDirectories.ticketName(job: job) else {
        return
      }
      do {
        try resumeHandOver(job, of: name, in: active, incoming, isFinished: finished.contains(job))
      } catch {
        handOversAreOpen = true
        _ = report(error, at: active.place(name))
      }
    }
  }

  /// Removes from `incoming/` what was copied from there.
  /// - Returns: the jobs whose ticket was finished by that. Those whose file was are about to be announced.
  private func removeRests(in active: DirectoryHandle, _ incoming: SpoolPlace) throws -> Set<Int64> {
    var tickets = Set<Int64>()
    unremoved = [:]
    try active.forEach { name, _ in
      guard let target = HandOverRest.target(ofName: name) else { return }
      do {
        let isWhole = try handOver.removeRest(of: target) { $0.map { hotFolders[$0] } ?? incoming }
        if failures.succeeded(at: active.place(name)) {
          logger.notice("spool: goes on", metadata: ["entry": "\(active.place(name))"])
        }
        guard isWhole, let text = target.text, let job = SpoolDirectories.job(ofActiveName: text) else { return }
        if text == SpoolDirectories.ticketName(job: job) { tickets.insert(job) } else { unannounced.append(job) }
      } catch {
        // Until it can be removed it is passed over: its job may have run.
        if let rest = try handOver.rest(of: target) {
          unremoved[PendingEntries.Key(recipe: rest.recipe, name: rest.name)] = rest.mark
        }
        handOversAreOpen = true
        _ = report(error, at: active.place(name))
      }
    }
    return tickets
  }

  private func resumeHandOver(
    _ job: Int64, of name: FileName, in active: DirectoryHandle, _ incoming: SpoolPlace, isFinished: Bool
  ) throws {
    let bytes = try active.open(name).read(atMost: Ticket.longest + 1, path: active.place(name))
    // One that names a file is on the disk before its job is; what can't be read lost its text with the power.
    guard let ticket = Ticket.ifReadable(bytes), let source = ticket.source else {
      if isFinished { unannounced.append(job) }
      return
    }
    let newName = SpoolDirectories.activeName(job: job, originalName: source.fileName)
    if try active.status(of: FileName(newName)) != nil {
      if isFinished { unannounced.append(job) }
      return
    }
    switch try examiner.source(of: ticket, ticketStatus: nil, in: incoming.directory) {
    case .opened(let file):
      if case .beside(let fileName) = source {
        try handOver.move(FileName(fileName), of: incoming, file, to: newName)
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
        "job \(job): the daemon was stopped while its file was taken, and that is gone",
        metadata: ["job": "\(job)", "source": "\(source.fileName)"])
    }
    if failures.succeeded(at: active.place(name)) {
      logger.notice("spool: goes on", metadata: ["entry": "\(active.place(name))"])
    }
    unannounced.append(job)
  }
}

extension Ticket {
  /// The ticket that the bytes are; nil if they aren't one.
  fileprivate static func ifReadable(_ bytes: [UInt8]) -> Ticket? {
    do throws(TicketError) {
      return try Ticket(parsing: bytes)
    } catch {
      return nil
    }
  }
}
