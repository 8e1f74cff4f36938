/// Data files in `incoming/` itself that no ticket names: often the recipe's folder was forgotten. Each is logged once while it is
/// there. There may be many, so only some are examined.
///
/// Not `Sendable`: it is confined to the intake's queue.
final class TicketlessFiles {
  private static let mostExamined = 256
  private static let mostLogged = 20

  private let report: IntakeReport
  /// Of the last listing.
  private var found: [FileName] = []
  private var logged: Set<String> = []

  init(report: IntakeReport) { self.report = report }

  func beginListing() { found = [] }

  /// A listing has met a data file.
  func note(_ name: FileName) {
    if found.count < Self.mostExamined { found.append(name) }
  }

  /// Logs those that have been there for longer than a ticket waits for its file. After a scan that has taken every ticket: one that is
  /// left may name them.
  /// - Parameters:
  ///   - patience: how long that is, in nanoseconds.
  ///   - recipes: the recipes with hot folders.
  func reportOld(in incoming: SpoolPlace, patience: Int64, recipes: [String]) {
    let now = FileStatus.now()
    var old: Set<String> = []
    for name in found where old.count < Self.mostLogged {
      let entry = "incoming/" + incoming.relativeName(name)
      do {
        guard let status = try incoming.directory.status(of: name), now - status.changed > patience else { continue }
      } catch {
        report.failed(error, at: entry)
        continue
      }
      old.insert(entry)
      if !logged.contains(entry) { report.ticketless(entry, recipes: recipes) }
    }
    logged = old
  }
}
