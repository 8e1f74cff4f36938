import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl hold`: prevents jobs from starting.
  struct Hold: ControlCommand {
    static let configuration = verb(
      "hold", "Put jobs on hold until they are released.",
      """
      A running job can't be held; pausing its lane keeps the others from starting. --all without --state selects all waiting \
      jobs.
      """, json: .changes)

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let change = JobChanger.Change(
        action: .hold, verb: "Hold", participle: "held",
        standard: JobSelection(states: [.scheduled, .available, .retryable], isHeld: false),
        one: { try await $0.hold($1) }, sentence: { "job \($0.id) held" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
