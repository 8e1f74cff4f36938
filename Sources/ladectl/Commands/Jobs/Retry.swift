import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl retry`: runs failed jobs again.
  struct Retry: ControlCommand {
    static let configuration = verb(
      "retry", "Run discarded or cancelled jobs again, or start the next attempt of a job at once.",
      """
      A job continues where it stopped and imports nothing twice. --all without --state selects the discarded jobs.

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
