import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl remove`: removes jobs that have ended.
  struct Remove: ControlCommand {
    static let configuration = verb(
      "remove", "Forget jobs that have ended.",
      """
      What they have imported stays. One that hasn't ended must be cancelled first. With --all and without --state: \
      whatever has ended.
      """, json: .changes)

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let change = JobChanger.Change(
        action: .remove, verb: "Remove", participle: "removed",
        standard: JobSelection(states: JobState.allCases.filter(\.isEnded)),
        one: { try await $0.remove($1) }, sentence: { "job \($0.id) removed" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
