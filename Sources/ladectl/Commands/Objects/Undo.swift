import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl undo`: takes back what a job has done.
  struct Undo: ControlCommand {
    static let configuration = verb(
      "undo", "Take back what a job has done to the objects of a store, as far as it was recorded.",
      """
      Objects that the job inserted are deleted, those that it changed get their former values back, and those that it deleted \
      are inserted again. What was changed since stays as it is and is listed in the job's note; --force takes that back, too. \
      Runs as a job in the lane 'maintenance', which can itself be undone. On a terminal it asks first. --dry-run waits for the \
      job, and shows what it would do.

        ladectl undo 12 --dry-run
        ladectl undo 12 --wait
      """, json: .submission)

    @Argument(help: "The job to take back.", completion: .jobs)
    var job: Int64

    @Flag(help: "Do everything and report it, but commit nothing. Implies --wait.")
    var dryRun = false

    @Flag(help: "Take back also what was changed since.")
    var force = false

    @Option(help: ArgumentHelp("The store, if several have recorded the job.", valueName: "name"), completion: .stores)
    var store: String?

    @Flag(help: "Don't ask for confirmation.")
    var yes = false

    @OptionGroup var other: OtherOptions
    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    private var options: [String: OptionValue] {
      get throws {
        try other.merged(with: [
          "job": .int(Int(job)), "dry_run": dryRun ? .bool(true) : nil, "force": force ? .bool(true) : nil,
        ])
      }
    }

    func validate() throws { _ = try options }

    func run(_ session: Session) async throws {
      if !yes, !dryRun {
        guard try session.mayGoOn("Take back what job \(job) has done?", yes: false) else { return }
      }
      let work = submission.applied(to: JobSubmission(kind: "undo", store: store, options: try options))
      guard dryRun else { return try await Submitter(session: session).run([work], wait: submission.wait) }
      let made = try await session.client.submit(work)
      try await Waiter(session, for: .jobs([made.id])).run(timeout: nil)
      // What it lists is the point of it, so it is never truncated.
      if !session.json, let note = try await session.client.job(made.id).note {
        session.terminal.write(note.split(separator: "; ").map { "  \(String($0).printable)\n" }.joined())
      }
    }
  }
}
