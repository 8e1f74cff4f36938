import ControlAPI
import Glibc

/// Why a request got no good answer.
enum ControlClientError: Error, Sendable, Hashable {
  /// There is no socket at this path.
  case noSocket(path: String)
  /// There is a socket, but nobody listens on it any more.
  case nobodyListens(path: String)
  /// The socket, or a directory above it, isn't open to us. `group` is the one that may connect, where we could see it.
  case noPermission(path: String, group: String?)
  case notASocket(path: String)
  case cantConnect(path: String, errno: Int32)
  /// The connection ended before the answer did.
  case hungUp(path: String)
  /// Whoever answers speaks another version of the interface. `server` is what it calls itself.
  case versionMismatch(server: String?, detail: String)
  /// The daemon said no, and why.
  case refused(Problem)
  /// `hint` is what to do next.
  case timedOut(seconds: Double, waitingFor: String, hint: String)
}
