import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl wait`: until jobs have ended.
  struct Wait: ControlCommand {
    static let configuration = CommandConfiguration(
      abstract: "Wait until jobs have ended, and show how they come along.",
      discussion: """
        Ends with status 0 when all of them completed, 3 when one was discarded or cancelled, 4 when the time was up. \
        --all waits until no job is available, running or retryable, and takes in those that come meanwhile; a job \
        scheduled for later isn't waited for.
        """)

    @Argument(help: "The jobs' numbers.")
    var jobs: [Int64] = []

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
      try await Waiter(session, for: all ? .all : .jobs(jobs)).run(timeout: timeout)
    }
  }
}
