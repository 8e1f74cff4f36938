import ControlAPI
import Glibc

/// Why a request failed.
enum ControlClientError: Error, Sendable, Hashable {
  /// There is no socket at this path.
  case noSocket(path: String)
  /// There is a socket, but no process listens on it any more.
  case notListening(path: String)
  /// This user may not open the socket or a directory above it. `group` is the one that may connect, if known.
  case noPermission(path: String, group: String?)
  case notASocket(path: String)
  case cantConnect(path: String, errno: Int32)
  /// A request didn't reach the daemon; the hint names another way.
  indirect case notReached(ControlClientError, otherWay: String)
  /// The connection closed before the response ended.
  case hungUp(path: String)
  /// The server speaks another version of the interface. `server` is its name for itself.
  case versionMismatch(server: String?, detail: String)
  /// The daemon refused, with a reason.
  case refused(Problem)
  /// `hint` is what to do next.
  case timedOut(seconds: Double, waitingFor: String, hint: String)
}

extension ControlClientError {
  /// The exit status for scripts.
  var exitStatus: ExitStatus {
    switch self {
    case .noSocket, .notListening, .notASocket, .cantConnect, .hungUp: .noDaemon
    case .notReached(let error, _): error.exitStatus
    case .noPermission: .notAllowed
    // A daemon that is starting or stopping may still answer.
    case .refused(let problem) where problem.status == 503: .noDaemon
    case .refused(let problem) where problem.status == 403: .notAllowed
    case .refused: .failed
    case .versionMismatch: .versionMismatch
    case .timedOut: .timedOut
    }
  }

  /// The problem to show; its status is 0 if there was no response.
  var problem: Problem {
    switch self {
    case .noSocket(let path):
      local(
        "no_daemon", "laded isn't running: there is no socket \(path).",
        hint: "Start it with 'sudo systemctl start laded'; if it can't start, 'systemctl status laded' says why. For a "
          + "daemon of your own, give its socket with --socket or LADE_SOCKET.")
    case .notListening(let path):
      local(
        "no_daemon", "laded isn't running: it left the socket \(path) behind, on which no process listens.",
        hint: "It may have been killed: see 'journalctl -u laded', and start it with 'sudo systemctl start laded'.")
    case .noPermission(let path, let group):
      local(
        "no_permission", "You have no permission to connect to laded on \(path).",
        hint: group.map {
          "Members of the group '\($0)' have it: 'sudo usermod -aG \($0) USER', then log in again. Or use sudo."
        } ?? "Ask the owner of that directory for access, or use sudo.")
    case .notASocket(let path):
      local("no_daemon", "\(path) isn't a socket.", hint: "Give the daemon's socket with --socket or LADE_SOCKET.")
    case .cantConnect(let path, let code):
      local(
        "no_daemon", "Couldn't connect to \(path): \(String(cString: strerror(code))).",
        hint: code == ENAMETOOLONG ? "The path is too long for a Unix socket." : nil)
    case .notReached(let error, let way):
      error.problem.adding(hint: way)
    case .hungUp(let path):
      local(
        "hung_up", "laded closed the connection on \(path) before it had answered completely.",
        hint: "It is stopping, or it can't start: 'systemctl status laded' says why. Submitted jobs continue after a "
          + "restart; 'ladectl status --wait' waits for that.")
    case .versionMismatch(let server, let detail):
      local(
        "version_mismatch",
        "ladectl \(LadeVersion.current) and \(server ?? "the program that answers on the socket") don't understand each "
          + "other: \(detail)",
        hint: "Install both from one version, and restart laded after an update.")
    case .refused(let problem):
      problem
    case .timedOut(let seconds, let what, let hint):
      local(
        "timed_out", "After \(Quantity.seconds(seconds)), \(what).",
        hint: hint)
    }
  }

  /// The error of a request, with another way for it where the daemon can't be connected to.
  func orElse(_ way: String) -> ControlClientError {
    switch self {
    case .noSocket, .notListening, .notASocket, .cantConnect: .notReached(self, otherWay: way)
    case .noPermission, .notReached, .hungUp, .versionMismatch, .refused, .timedOut: self
    }
  }

  private func local(_ code: String, _ detail: String, hint: String?) -> Problem {
    Problem(status: 0, code: code, title: "No answer", detail: detail, hint: hint)
  }
}

extension Problem {
  fileprivate func adding(hint more: String) -> Problem {
    var problem = self
    problem.hint = hint.map { $0 + "\n" + more } ?? more
    return problem
  }
}
