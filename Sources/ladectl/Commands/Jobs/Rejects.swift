import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl rejects`: what jobs rejected, and importing it again.
  struct Rejects: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rejects", abstract: "Show why a job rejected records, and import them again.",
      discussion: "'ladectl rejects 12' is short for 'ladectl rejects show 12'.",
      subcommands: [Show.self, Retry.self], defaultSubcommand: Show.self)

    /// `ladectl rejects show`: explains why a job rejected records.
    struct Show: ControlCommand {
      static let configuration = verb(
        "show", "Show why a job rejected records, grouped by reason with the first examples.",
        """
        Each record has a number, and those that a retry has resolved name its job. With a number, the record is shown as a \
        whole. The job's reject file holds the records in their source's format, with the reasons added; --file writes it to \
        standard output once the job has ended, of a feed as JSON Lines.

          ladectl rejects 12 --file > corrected.csv
        """, json: .either("a RejectReport", "a Reject", when: "with a number"))

      @Argument(help: "The job's number.", completion: .jobs)
      var job: Int64

      @Argument(help: "The number of one reject.")
      var number: Int64?

      @Flag(help: "Write all of them to standard output, as a file that can be corrected and imported.")
      var file = false

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func validate() throws {
        if file, number != nil { throw ValidationError("--file writes all rejects: leave the number out.") }
      }

      func run(_ session: Session) async throws {
        if file {
          return try await session.client.rejectFile(job) { session.terminal.writeData($0) }
        }
        if let number {
          let reject = try await session.client.reject(number, of: job)
          return try session.report(reject) { reject.sheet(style: session.terminal.style) }
        }
        let report = try await session.client.rejects(job)
        try session.report(report) { RejectSheet(report: report).rendered(style: session.terminal.style) }
      }
    }

    /// `ladectl rejects retry`: imports rejected records again.
    struct Retry: ControlCommand {
      static let configuration = verb(
        "retry", "Import the rejected records of a job again, under today's recipe and model.",
        """
        Makes a job of the records that are still open. Each record is resolved at most once: one that is rejected again stays \
        open, under its number. --edit opens the records in $VISUAL or $EDITOR first, with the reasons as comments, and checks \
        the corrected ones before it submits them; a record that is removed there stays open.

          ladectl rejects retry 12 --dry-run
          ladectl rejects retry 12 --edit --wait
        """, json: .either("a Job", "a JobList", when: "with --wait"))

      @Argument(help: "The number of the job that rejected them.", completion: .jobs)
      var job: Int64

      @Flag(help: "Do everything except the commit.")
      var dryRun = false

      @Flag(help: "Correct the records in an editor first.")
      var edit = false

      @Flag(help: "Wait until the job has ended.")
      var wait = false

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let retry: Job
        if edit {
          let made = try await RejectEditing(session: session, job: job).submit { request in
            var request = request
            request.isDryRun = dryRun
            return try await session.client.retryRejects(job, request)
          }
          guard let made else { return }
          retry = made
        } else {
          retry = try await session.client.retryRejects(job, RejectRetryRequest(isDryRun: dryRun))
        }
        guard wait else { return try session.report(retry) { "Job \(retry.id) retries the rejects of job \(job).\n" } }
        try await Waiter(session, for: .jobs([retry.id])).run(timeout: nil)
      }
    }
  }
}
