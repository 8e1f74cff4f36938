import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl cancel`: stops jobs.
  struct Cancel: ControlCommand {
    static let configuration = verb(
      "cancel", "Cancel jobs.",
      """
      A running job stops after its current batch; imported records stay. If a job can't be cancelled, the others still are, \
      and the exit status is 1. --all without --state selects all unfinished jobs.

        ladectl cancel 12 14-20
        ladectl cancel --all --recipe people --yes
      """, json: .changes)

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let change = JobChanger.Change(
        action: .cancel, verb: "Cancel", participle: "cancelled, or asked to stop", standard: .unfinished,
        one: { try await $0.cancel($1) },
        sentence: { $0.state == .cancelled ? "job \($0.id) cancelled" : "job \($0.id) is asked to stop" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
