import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl watch`: a full-screen view of the daemon at work.
  struct Watch: ControlCommand {
    static let configuration = verb(
      "watch", "Watch the daemon at work: its lanes, the jobs that run, the last that ended.",
      """
      Fills the terminal and follows what happens until q is pressed; the jobs go on. A daemon that is stopped \
      meanwhile is waited for. In a pipe, or on a terminal that can't be drawn on (TERM=dumb), it writes a line for \
      each change of a job's state instead, until the daemon ends.
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
