import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl status`: prints the daemon's status.
  struct StatusCommand: ControlCommand {
    static let configuration = verb(
      "status", "Show the daemon's lanes, jobs and stores.", json: .document("a Status"))

    @Option(help: ArgumentHelp("Wait up to this many seconds for the daemon to answer.", valueName: "seconds"))
    var wait: Double?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard wait.map({ $0 >= 0 && $0.isFinite }) ?? true else {
        throw ValidationError("--wait is a number of seconds.")
      }
    }

    func run(_ session: Session) async throws {
      let status =
        if let wait {
          try await withDeadline(
            seconds: wait, waitingFor: { "no daemon answers on \(session.client.socketPath)" },
            hint: "'systemctl status laded' and 'journalctl -u laded' tell whether it starts, and why it doesn't.",
            { try await session.client.statusWhenUp() })
        } else {
          try await session.client.status()
        }
      try session.report(status) { StatusSheet(status: status).rendered(session.terminal) }
    }
  }
}
