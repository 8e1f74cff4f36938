import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl wait`: waits until jobs have ended.
  struct Wait: ControlCommand {
    static let configuration = verb(
      "wait", "Wait until jobs have ended, and show their progress.",
      """
      Exits with status 0 if all of them completed, 2 if they completed but records were rejected, 3 if one was discarded or \
      cancelled, 4 on a timeout. --timeout 0 doesn't wait: it asks once. --all waits until no \
      job is available, running or retryable, including jobs that arrive while it waits, but not for jobs on hold or \
      scheduled for later.
      """, json: .document("a JobList, at the end"))

    @Argument(
      help: ArgumentHelp("The jobs' numbers: 12, a range such as 12-20, or 7,9,12-20.", valueName: "job"),
      completion: .jobsInProgress, transform: { try JobNumbers(parsing: $0) })
    var jobs: [JobNumbers] = []

    @Flag(help: "Wait for all current jobs.")
    var all = false

    @OptionGroup var timeout: TimeoutOption

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard all == jobs.isEmpty else { throw ValidationError("Give either jobs' numbers or --all.") }
    }

    func run(_ session: Session) async throws {
      let scope = all ? JobWatch.Scope.all : .jobs(try await session.client.numbers(jobs))
      try await Waiter(session, for: scope).run(timeout: timeout.seconds)
    }
  }
}
