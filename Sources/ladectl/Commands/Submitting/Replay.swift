import ArgumentParser
import ControlAPI
import FoundationEssentials

extension Ladectl {
  /// `ladectl replay`: imports kept files of a recipe again.
  struct Replay: ControlCommand {
    static let configuration = verb(
      "replay", "Import files of a recipe again that are kept in done/.",
      """
      Submits a job for each file that the recipe has imported, in the order in which they were submitted. Each job starts when \
      the one before has completed; if one fails, those after it are cancelled. They run after other waiting jobs, unless \
      --priority says otherwise. While a replay of the recipe goes on, a second one isn't made. On a terminal it asks first.

        ladectl replay --recipe orders --since 7d --dry-run
        ladectl replay --recipe orders --since 7d --lane backfill
        ladectl replay --recipe orders --since 14d --until 7d
      """, json: .either("a ReplayResult", "a JobList", when: "with --wait"))

    @Option(help: ArgumentHelp("The recipe.", valueName: "name"), completion: .recipes)
    var recipe: String

    @Option(
      help: ArgumentHelp(
        "Files submitted at this time or later: 7d, 12h, 2026-03-01T12:00:00Z, or local.", valueName: "time"),
      transform: { try PastTime(parsing: $0) })
    var since: PastTime

    @Option(
      help: ArgumentHelp("Files submitted before this time; same forms.", valueName: "time"),
      transform: { try PastTime(parsing: $0) })
    var until: PastTime?

    @Option(help: ArgumentHelp("The lane to run in, instead of the recipe's.", valueName: "name"), completion: .lanes)
    var lane: String?

    @Option(
      parsing: .unconditional, help: ArgumentHelp("The priority; higher runs first (default: -1000).", valueName: "n"))
    var priority: Int?

    @Flag(help: "Show the files, and submit nothing.")
    var dryRun = false

    @Flag(help: "Don't ask for confirmation.")
    var yes = false

    @Flag(help: "Wait until all jobs have ended.")
    var wait = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard !dryRun || !wait else { throw ValidationError("There is nothing to wait for with --dry-run.") }
      guard until.map({ $0.date > since.date }) ?? true else { throw ValidationError("--until must be after --since.") }
    }

    func run(_ session: Session) async throws {
      var request = ReplayRequest(
        since: since.date, until: until?.date, lane: lane, priority: priority, isDryRun: true)
      if !dryRun, !yes, session.terminal.canAsk {
        let count = try await session.client.replay(request, of: recipe).files.count
        let question = "Import \(Quantity.count(count, "file")) again by \(recipe.printable)?"
        guard try count == 0 || session.mayGoOn(question, yes: false) else { return }
      }
      request.isDryRun = dryRun
      let result = try await session.client.replay(request, of: recipe)
      guard wait, result.batch != nil else {
        return try session.report(result) { result.text(session.terminal) }
      }
      try await Waiter(session, for: .jobs(result.files.compactMap(\.replay))).run(timeout: nil)
    }
  }
}

/// A time before now on the command line.
struct PastTime: Sendable, Hashable {
  let date: Date

  /// Parses a time span before now such as `7d`, or a time as ``StartTime`` does.
  /// - Throws: `ValidationError` that lists the accepted forms.
  init(parsing text: String, now: Date = Date()) throws {
    if let span = Duration(parsing: text), span > .zero {
      date = now.addingTimeInterval(-span.seconds)
      return
    }
    do {
      date = try StartTime(parsing: text, now: now).date
    } catch {
      throw ValidationError(
        "'\(text)' isn't a time; write 7d or 12h for one before now (s, m, h, d), 2026-03-01T12:00:00Z, or "
          + "'2026-03-01 12:00' (local).")
    }
  }
}

extension ReplayResult {
  fileprivate func text(_ terminal: Terminal) -> String {
    var text = sentence + "\n"
    for note in notes { text += "Note: \(note.printable)\n" }
    if !files.isEmpty {
      text += TextTable(
        columns: [.init("FILE"), .init("SUBMITTED"), .init("JOB", .right), .init("AGAIN", .right)],
        rows: files.map { file in
          [
            .init(file.source), .init(Quantity.time(file.submittedAt)), .init("\(file.job)"),
            .init(file.replay.map { "\($0)" } ?? ""),
          ]
        }
      ).rendered(width: terminal.width, style: terminal.style)
    }
    if !missing.isEmpty {
      text += "Not kept any more:\n"
      for file in missing {
        text += "  \(file.source.printable), job \(file.job), \(Quantity.time(file.submittedAt))\n"
      }
    }
    return text
  }

  private var sentence: String {
    guard !files.isEmpty else { return "No file of \(recipe.printable) is kept from that time: nothing to replay." }
    let count = Quantity.count(files.count, "file")
    if isDryRun { return "\(count) of \(recipe.printable) would be imported again, in this order." }
    let name = batch.map { " as batch \($0)" } ?? ""
    return isOld
      ? "A replay of \(recipe.printable) hasn't ended: no other was made\(name.isEmpty ? "" : "; it goes on" + name)."
      : "\(count) of \(recipe.printable) \(files.count == 1 ? "is" : "are") imported again\(name), in this order."
  }
}
