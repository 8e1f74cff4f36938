/// Why the daemon doesn't start.
public enum DaemonError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The configuration has mistakes; each with its place.
  case configuration(String)
  case store(name: String, reason: String)
  case queue(path: String, reason: String)
  case spool(path: String, reason: String)
  case directory(path: String, reason: String)
  /// Another daemon works on the same state directory or spool.
  case alreadyRunning(directory: String, pid: String)

  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .configuration(let problems): return problems
    case .store(let name, let reason): return "store \(name) can't be opened: \(reason)"
    case .queue(let path, let reason): return "the queue \(path) can't be opened: \(reason)"
    case .spool(let path, let reason): return "the spool \(path) can't be used: \(reason)"
    case .directory(let path, let reason): return "\(path) can't be used: \(reason)"
    case .alreadyRunning(let directory, let pid):
      return "another laded (process \(pid)) works on \(directory): stop it, or give this one directories of its own"
    }
  }

  /// The exit status, by sysexits.h.
  public var exitStatus: Int32 {
    switch self {
    case .configuration: return 78
    case .alreadyRunning: return 75
    case .store, .queue, .spool, .directory: return 74
    }
  }
}
