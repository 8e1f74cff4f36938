import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl show`: everything about a job.
  struct Show: ControlCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show everything about a job: its steps, why it is as it is, where its rejects are.")

    @Argument(help: "The job's number.")
    var job: Int64

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let job = try await session.client.job(job)
      try session.report(job) {
        JobSheet(job: job).rendered(width: session.terminal.width, style: session.terminal.style)
      }
    }
  }
}
