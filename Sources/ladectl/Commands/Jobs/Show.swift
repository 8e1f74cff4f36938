import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl show`: prints everything about jobs.
  struct Show: ControlCommand {
    static let configuration = verb(
      "show", "Show everything about jobs: their history, the reasons for their state, their reject files.",
      json: .either("a Job", "a JobList", when: "of several numbers or a range"))

    @Argument(
      help: ArgumentHelp("The jobs' numbers: 12, a range such as 12-20, or 7,9,12-20.", valueName: "job"),
      completion: .jobs, transform: { try JobNumbers(parsing: $0) })
    var jobs: [JobNumbers]

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      var shown: [Job] = []
      for id in try await session.client.numbers(jobs) { shown.append(try await session.client.job(id)) }
      func text() -> String {
        guard !shown.isEmpty else { return "No jobs.\n" }
        return shown.map { job in
          JobSheet(job: job).rendered(width: session.terminal.width, style: session.terminal.style)
        }.joined(separator: "\n")
      }
      if JobNumbers.singles(jobs)?.count == 1, let job = shown.first { return try session.report(job, text) }
      try session.report(JobList(jobs: shown), text)
    }
  }
}
