import ControlAPI
import Glibc

/// Why a request failed.
enum ControlClientError: Error, Sendable, Hashable {
  /// There is no socket at this path.
  case noSocket(path: String)
  /// There is a socket, but no process listens on it any more.
  case nobodyListens(path: String)
  /// This user may not open the socket or a directory above it. `group` is the one that may connect, if known.
  case noPermission(path: String, group: String?)
  case notASocket(path: String)
  case cantConnect(path: String, errno: Int32)
  /// The connection closed before the response ended.
  case hungUp(path: String)
  /// The server speaks another version of the interface. `server` is its name for itself.
  case versionMismatch(server: String?, detail: String)
  /// The daemon refused, with a reason.
  case refused(Problem)
  /// `hint` is what to do next.
  case timedOut(seconds: Double, waitingFor: String, hint: String)
}
