import Glibc

/// Finishes the hand-overs that a kill or a full disk interrupted: entries that still lie in `incoming/` though their copy is
/// whole, then tickets in `active/` without their file. It runs before anything else is taken, because another ticket may
/// name the same file.
///
/// Not `Sendable`: it is confined to the intake's queue. All methods block.
final class HandOverRecovery {
  private let directories: SpoolDirectories
  private let handOver: HandOver
  private let folders: IncomingFolders
  private let report: IntakeReport
  private let schedule: ScanSchedule
  /// Whether a ticket may be in `active/` without its file: after a kill, so at the start, and after a failure.
  private(set) var isNeeded = true
  /// The entries that were copied to `active/` and couldn't be removed.
  private var unremoved: [PendingEntries.Key: FileMark] = [:]

  init(
    directories: SpoolDirectories, handOver: HandOver, folders: IncomingFolders, report: IntakeReport,
    schedule: ScanSchedule
  ) {
    self.directories = directories
    self.handOver = handOver
    self.folders = folders
    self.report = report
    self.schedule = schedule
  }

  /// A move failed: the next scan begins with ``run(examiner:finished:)``.
  func moveFailed() { isNeeded = true }

  /// Whether an entry was copied and couldn't be removed, so that it is not to be taken again.
  func isAlreadyCopied(_ name: FileName, in place: SpoolPlace) throws -> Bool {
    guard let mark = unremoved[PendingEntries.Key(recipe: place.recipe, name: name)] else { return false }
    return try FileMark(of: name, in: place.directory) == mark
  }

  /// - Parameter finished: gets the jobs whose hand-over is complete but for making it durable, also when this throws.
  func run(examiner: EntryExaminer, finished: inout [Int64]) throws {
    guard let incoming = folders.incoming else { return }
    isNeeded = false
    let active = try directories.handle(.active)
    let tickets = try finishRemovals(in: active, finished: &finished)
    var done = [Int64]()
    defer { finished += done }
    try active.forEach { name, _ in
      guard let text = name.text else { return }
      if text.hasPrefix("."), text.hasSuffix(".part") { return try directories.removeAbandonedCopy(name, in: active) }
      guard let job = SpoolDirectories.job(ofActiveName: text), text == SpoolDirectories.ticketName(job: job) else {
        return
      }
      do {
        if try finish(job, ticket: name, in: active, incoming, examiner, hasMovedTicket: tickets.contains(job)) {
          done.append(job)
        }
      } catch {
        isNeeded = true
        report.failed(error, at: active.place(name))
      }
    }
  }

  /// Unlinks from `incoming/` what was copied from there.
  /// - Returns: the jobs whose ticket that concerned. Those whose file it concerned are added to `finished`.
  private func finishRemovals(in active: DirectoryHandle, finished: inout [Int64]) throws -> Set<Int64> {
    var (tickets, files) = (Set<Int64>(), [Int64]())
    unremoved = [:]
    defer { finished += files }
    try active.forEach { name, _ in
      guard let target = RemovalNote.target(ofName: name) else { return }
      do {
        let isWhole = try handOver.finishRemoval(of: target) { folders.place(of: $0) }
        report.succeeded(active.place(name))
        guard isWhole, let text = target.text, let job = SpoolDirectories.job(ofActiveName: text) else { return }
        if text == SpoolDirectories.ticketName(job: job) { tickets.insert(job) } else { files.append(job) }
      } catch {
        // Passed over until it can be removed: its job may have run.
        if let note = try handOver.note(of: target) {
          unremoved[PendingEntries.Key(recipe: note.recipe, name: note.name)] = note.mark
        }
        isNeeded = true
        report.failed(error, at: active.place(name))
      }
    }
    return tickets
  }

  /// - Returns: whether the hand-over of the ticket's job is complete because of this call or of ``finishRemovals``.
  private func finish(
    _ job: Int64, ticket name: FileName, in active: DirectoryHandle, _ incoming: SpoolPlace, _ examiner: EntryExaminer,
    hasMovedTicket: Bool
  ) throws -> Bool {
    let bytes = try active.open(name).read(atMost: Ticket.longest + 1, path: active.place(name))
    // A ticket that names a file is on disk before its job is. One that can't be read lost its text in a power failure.
    guard let ticket = Ticket.ifReadable(bytes), let source = ticket.source else { return hasMovedTicket }
    let newName = SpoolDirectories.activeName(job: job, originalName: source.fileName)
    // Its file may have been put away already: another of that name isn't the job's.
    if try handOver.isKnown(FileName(newName)) { return hasMovedTicket }
    switch try examiner.source(of: ticket, ticketStatus: nil, in: incoming.directory) {
    case .opened(let file):
      if case .beside(let fileName) = source {
        try handOver.move(FileName(fileName), of: incoming, file, to: newName)
      } else {
        try handOver.copy(file, to: newName)
      }
    case .stop(.wait):
      isNeeded = true
      schedule.scan(after: examiner.settle)
      return false
    case .stop, .none:
      // The job itself will report that its file is missing.
      report.sourceLost(source.fileName, job: job)
    }
    report.succeeded(active.place(name))
    return true
  }
}

extension Ticket {
  /// The ticket in these bytes; nil if they aren't one.
  fileprivate static func ifReadable(_ bytes: [UInt8]) -> Ticket? {
    do throws(TicketError) {
      return try Ticket(parsing: bytes)
    } catch {
      return nil
    }
  }
}
