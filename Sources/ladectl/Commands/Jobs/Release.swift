import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl release`: releases jobs on hold.
  struct Release: ControlCommand {
    static let configuration = verb(
      "release", "Release jobs on hold.", "--all selects all jobs on hold that haven't ended.", json: .changes)

    @OptionGroup var jobs: JobsToChange
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let change = JobChanger.Change(
        action: .release, verb: "Release", participle: "released", standard: .heldUnfinished,
        one: { try await $0.release($1) }, sentence: { "job \($0.id) \($0.state.rawValue)" })
      try await JobChanger(session: session, change: change).run(jobs)
    }
  }
}
