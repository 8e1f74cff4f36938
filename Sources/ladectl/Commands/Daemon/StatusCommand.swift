import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl status`: prints the daemon's status.
  struct StatusCommand: ControlCommand {
    static let configuration = verb(
      "status", "Show the daemon's lanes, jobs and stores.", json: .document("a Status"))

    @Flag(help: "Wait until the daemon answers.")
    var wait = false

    @OptionGroup var timeout: TimeoutOption

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard wait || timeout.seconds == nil else { throw ValidationError("--timeout is for --wait.") }
    }

    func run(_ session: Session) async throws {
      let status =
        if wait, timeout.seconds != 0 {
          try await withDeadline(
            seconds: timeout.seconds, waitingFor: { "no daemon answers on \(session.client.socketPath)" },
            hint: "'systemctl status laded' and 'journalctl -u laded' tell whether it starts, and why it doesn't.",
            { try await session.client.statusWhenUp() })
        } else {
          try await session.client.status()
        }
      try session.report(status) { StatusSheet(status: status).rendered(session.terminal) }
    }
  }
}
