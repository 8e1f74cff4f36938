import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl list`: the jobs, newest first.
  struct List: ControlCommand {
    static let configuration = CommandConfiguration(abstract: "List jobs, newest first.")

    @Option(
      help: ArgumentHelp("Only jobs in these states, with commas between.", valueName: "state,…"),
      transform: { try Ladectl.states($0) })
    var state: [JobState]?

    @Option(help: ArgumentHelp("Only jobs of this lane.", valueName: "name"))
    var lane: String?

    @Option(help: ArgumentHelp("How many at most.", valueName: "n"))
    var limit = 50

    @Option(help: ArgumentHelp("Only jobs older than this one, to go on where a list ended.", valueName: "id"))
    var before: Int64?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let list = try await session.client.jobs(
        JobQuery(states: state ?? [], lane: lane, limit: limit, before: before))
      try session.report(list) {
        guard !list.jobs.isEmpty else { return "No jobs.\n" }
        let table = list.table.rendered(width: session.terminal.width, style: session.terminal.style)
        let more = list.next.map { "There are more: --before \($0)\n" } ?? ""
        return table + session.terminal.style(more, .dim)
      }
    }
  }

  /// Reads `running,available`.
  fileprivate static func states(_ text: String) throws -> [JobState] {
    try text.split(separator: ",").map { name in
      guard let state = JobState(rawValue: String(name)) else {
        let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(name)' isn't a state of a job; there are \(known).")
      }
      return state
    }
  }
}
