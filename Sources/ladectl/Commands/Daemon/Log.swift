import ArgumentParser
import ControlAPI
import FoundationEssentials

extension Ladectl {
  /// `ladectl log`: prints the daemon's log.
  struct Log: ControlCommand {
    static let configuration = verb(
      "log", "Show the daemon's last log lines, of one job or of all; -f follows the log.",
      """
      The daemon keeps only the last lines since its start; 'journalctl -u laded' has all of them, and with JOB_ID=12 those of one job.

        ladectl log 12
        ladectl log -f --level warning
      """,
      json: .either("a LogPage", "a LogLine a line as they come", when: "with -f"))

    @Argument(help: "Only lines about this job.", completion: .jobs)
    var job: Int64?

    @Flag(
      name: [.customShort("f"), .long], help: "Follow the log until Ctrl-C or the daemon stops."
    )
    var follow = false

    @Option(
      help: "Only lines of at least this level.", completion: .list(LogLevel.allCases.map(\.rawValue)))
    var level: LogLevel?

    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("Number of lines to show.", valueName: "n"))
    var lines = 100

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (0...LogQuery.maximumLimit).contains(lines) else {
        throw ValidationError("--lines is a number from 0 to \(LogQuery.maximumLimit).")
      }
    }

    func run(_ session: Session) async throws {
      var query = LogQuery(job: job, level: level, limit: lines)
      guard follow else {
        let page = try await session.client.log(query)
        // A job that doesn't exist has no log lines either; tell the two apart.
        if let job, page.lines.isEmpty { _ = try await session.client.job(job) }
        let nothing = job.map {
          "Of job \($0) no line is kept that was logged; see 'ladectl show \($0)', or 'journalctl -u laded JOB_ID=\($0)'.\n"
        }
        return try session.report(page) {
          page.lines.isEmpty ? nothing ?? "Nothing was logged.\n" : page.lines.map { Self.text($0, session) }.joined()
        }
      }
      let last = LastLine()
      while true {
        try await session.client.followLog(query) { event in
          guard case .line(let line) = event else { return false }
          await last.note(line.number)
          if session.json {
            session.terminal.writeData(try JSONText.line(line))
          } else {
            session.terminal.write(Self.text(line, session))
          }
          return true
        }
        // This client was too slow: continue from here, so that it misses nothing that the daemon still has.
        query.after = await last.number
        query.limit = LogQuery.maximumLimit
      }
    }

    private static func text(_ line: LogLine, _ session: Session) -> String {
      let style = session.terminal.style
      let ink: Style.Ink? =
        switch line.level {
        case .error, .critical: .red
        case .warning: .yellow
        case .trace, .debug: .dim
        case .info, .notice: nil
        }
      let facts = line.facts
      let level = style(line.level.rawValue.padded(to: 8), ink)
      return style(Quantity.time(line.at), .dim) + " \(level) \(line.message.namingUsers.printable)"
        + (facts.isEmpty ? "" : " " + style(facts.joined(separator: " ").printable, .dim)) + "\n"
    }

    private actor LastLine {
      private(set) var number: Int64?

      func note(_ number: Int64) { self.number = number }
    }
  }
}

extension LogLevel: ExpressibleByArgument {}
