import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl wait`: waits until jobs have ended.
  struct Wait: ControlCommand {
    static let configuration = verb(
      "wait", "Wait until jobs have ended, and show how they come along.",
      """
      Ends with status 0 when all of them completed, 3 when one was discarded or cancelled, 4 when the time was up. \
      --all waits until no job is available, running or retryable, and takes in those that come meanwhile; a job \
      scheduled for later, or held, isn't waited for.
      """, json: .document("a JobList, at the end"))

    @Argument(
      help: ArgumentHelp("The jobs' numbers: 12, a range such as 12-20, or 7,9,12-20.", valueName: "job"),
      completion: .jobsInProgress, transform: { try JobNumbers(parsing: $0) })
    var jobs: [JobNumbers] = []

    @Flag(help: "Wait for whatever there is to do now.")
    var all = false

    @Option(help: ArgumentHelp("Give up after so many seconds.", valueName: "seconds"))
    var timeout: Double?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard all == jobs.isEmpty else { throw ValidationError("Give either jobs' numbers or --all.") }
      guard timeout.map({ $0 >= 0 && $0.isFinite }) ?? true else {
        throw ValidationError("--timeout is a number of seconds.")
      }
    }

    func run(_ session: Session) async throws {
      let scope = all ? JobWatch.Scope.all : .jobs(try await session.client.numbers(jobs))
      try await Waiter(session, for: scope).run(timeout: timeout)
    }
  }
}
