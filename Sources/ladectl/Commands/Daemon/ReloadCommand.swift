import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl reload`: applies a changed configuration.
  struct ReloadCommand: ControlCommand {
    static let configuration = verb(
      "reload", "Apply a changed configuration to the running daemon.",
      """
      Applies the configuration as a whole or, if it has a mistake, not at all; then it lists every mistake and exits with 1. \
      Running jobs continue. It lists settings that need a restart: the paths of spool, state, exports and control socket, \
      and the stores. 'systemctl reload laded' does the same. If the control socket can't be reached, it fails, and \
      'systemctl kill --signal=HUP laded' reloads instead; the journal then has the result. Operators only.
      """, json: .document("a Reload"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let reload: Reload
      do {
        reload = try await session.client.reload()
      } catch let error as ControlClientError {
        // Each instance of the service has its socket in a directory of its own.
        let instance = session.client.socketPath.wholeMatch(of: /\/run\/lade@([^\/]+)\/control\.sock/)
        let unit = instance.map { "laded@\($0.1)" } ?? "laded"
        throw error.orElse(
          "If it runs, 'systemctl kill --signal=HUP \(unit)' reloads without the socket, and 'journalctl -u \(unit)' has the result."
        )
      }
      try session.report(reload) { reload.text }
    }
  }
}

extension Reload {
  fileprivate var text: String {
    func line(_ what: String, _ names: [String]) -> String {
      names.isEmpty ? "" : "\(what): " + names.map(\.printable).joined(separator: ", ") + "\n"
    }
    var text = line("applied", changed) + line("removed", removed) + line("needs a restart", needsRestart)
    for store in needsMigration.map(\.printable) {
      text += "the model of store \(store) has changed: 'ladectl store migrate \(store)' or a restart takes it up\n"
    }
    return (text.isEmpty ? "nothing has changed\n" : text)
      + warnings.map { "warning: \($0.printable)\n" }.joined()
  }
}
