import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl priority`: changes the priority of jobs.
  struct Priority: ControlCommand {
    static let configuration = verb(
      "priority", "Change the priority of jobs; higher runs first.",
      """
      --all without --state selects all waiting jobs.

        ladectl priority --to 10 12 14
        ladectl priority --to -5 --all --recipe archive
      """, json: .changes)

    @Option(
      name: .customLong("to"), parsing: .unconditional,
      help: ArgumentHelp(
        "The priority, -1000000 to 1000000; the default is 0.", valueName: "n"))
    var priority: Int

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let priority = priority
      let change = JobChanger.Change(
        action: .priority, priority: priority, verb: "Give priority \(priority) to",
        participle: "have priority \(priority)",
        standard: JobSelection(states: [.scheduled, .available, .retryable]),
        one: { try await $0.setPriority($1, to: priority) }, sentence: { "job \($0.id) has priority \($0.priority)" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
