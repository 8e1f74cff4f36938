import Glibc

extension SpoolIntake {
  /// Finishes the hand-overs that a kill or a full disk interrupted: tickets in `active/` whose file isn't there. Before
  /// anything else is taken, for another ticket may name the same file.
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
        _ = report(error, at: active.place(name))
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
    if failures.succeeded(at: active.place(name)) {
      logger.notice("spool: goes on", metadata: ["entry": "\(active.place(name))"])
    }
    unannounced.append(job)
  }
}
