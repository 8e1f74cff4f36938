import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl watch`: a full-screen view of the daemon at work.
  struct Watch: ControlCommand {
    static let configuration = verb(
      "watch", "Watch the daemon at work: its lanes, running jobs, and the last jobs that ended.",
      """
      Fills the terminal until you press q; jobs aren't affected. If the daemon stops, it waits for it to return. In a pipe, \
      or on a terminal without cursor control (TERM=dumb), it prints a line for each change of a job's state until the \
      daemon stops.
      """, json: .lines("Job"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      if session.terminal.isInteractive, !session.json { return try await Watcher(session).run() }
      if !session.json {
        StandardError.write("ladectl: this isn't a terminal to draw on: a line for each change of a job follows\n")
      }
      try await WatchLines(session).run()
    }
  }
}
