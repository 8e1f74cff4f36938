import Glibc

/// Why the control socket couldn't be made.
package enum ControlSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A daemon has it, starting or running.
  case inUse(path: String)
  /// There is something there that isn't a socket, and isn't ours to remove.
  case notASocket(path: String)
  /// A Unix socket's path has at most `limit` bytes.
  case pathTooLong(path: String, limit: Int)
  case failed(operation: String, path: String, errno: Int32)

  package var description: String {
    switch self {
    case .inUse(let path):
      "\(path): another laded listens on this socket, or is about to; stop it, or give this one a socket of its own"
    case .notASocket(let path):
      "\(path): there is a file that isn't a socket; move it away"
    case .pathTooLong(let path, let limit):
      "\(path): the path of a socket can have \(limit) bytes here; choose a shorter one"
    case .failed(let operation, let path, let code):
      "\(path): couldn't \(operation): \(String(cString: strerror(code)))"
    }
  }
}
