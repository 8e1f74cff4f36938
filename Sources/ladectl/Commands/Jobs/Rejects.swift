import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl rejects`: explains why a job rejected records.
  struct Rejects: ControlCommand {
    static let configuration = verb(
      "rejects", "Show why a job rejected records, grouped by reason with the first examples.",
      """
      The job's reject file holds the records in their source's format, with the reasons added: copy it, correct the records, \
      and submit the copy.
      """, json: .document("a RejectReport"))

    @Argument(help: "The job's number.", completion: .jobs)
    var job: Int64

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let report = try await session.client.rejects(job)
      try session.report(report) { RejectSheet(report: report).rendered(style: session.terminal.style) }
    }
  }
}
