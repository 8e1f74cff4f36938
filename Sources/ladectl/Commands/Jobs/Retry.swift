import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl retry`: runs failed jobs again.
  struct Retry: ControlCommand {
    static let configuration = verb(
      "retry", "Run jobs again that were discarded or cancelled, or at once one that waits for its next attempt.",
      """
      A job goes on where it stopped: what it has imported isn't imported twice. With --all and without --state: the \
      discarded ones.

        ladectl retry 12
        ladectl retry --all --state discarded --lane import
      """, json: .changes)

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let change = JobChanger.Change(
        action: .retry, verb: "Retry", participle: "to be tried again", standard: JobSelection(states: [.discarded]),
        one: { try await $0.retry($1) }, sentence: { "job \($0.id) \($0.state.rawValue)" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
