import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl reload`: applies a changed configuration.
  struct ReloadCommand: ControlCommand {
    static let configuration = verb(
      "reload", "Have the daemon read its configuration again, and work by it.",
      """
      All of it is put in force, or, if anything is wrong with it, nothing; then every mistake is told, and the status is \
      1. Jobs that run go on. What can only change when the daemon is started again is named: where the spool, the state, \
      exports and the control socket are, and the stores. 'systemctl reload laded' does the same. For operators.
      """, json: .document("a Reload"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let reload = try await session.client.reload()
      try session.report(reload) { reload.text }
    }
  }
}

extension Reload {
  fileprivate var text: String {
    var text =
      changed.isEmpty
      ? "nothing has changed" : "in force now: " + changed.map(\.printable).joined(separator: ", ")
    text += "\n"
    if !needsRestart.isEmpty {
      text += "needs a restart: " + needsRestart.map(\.printable).joined(separator: ", ") + "\n"
    }
    return text
  }
}
