import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl remove`: removes jobs that have ended.
  struct Remove: ControlCommand {
    static let configuration = verb(
      "remove", "Remove jobs that have ended.",
      """
      Imported records stay. The files and rejects of the jobs are removed with them, unless keep.files of the \
      configuration is forever: lade.yaml(5). Cancel an unfinished job first. --all without --state selects all jobs that have ended.
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
