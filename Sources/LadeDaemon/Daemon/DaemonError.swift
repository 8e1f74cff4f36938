import ControlServer

/// Why the daemon doesn't start.
public enum DaemonError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of trouble a place on the disk makes.
  public enum Cause: Sendable, Equatable {
    /// It isn't there, can't be made, or its disk fails.
    case unusable
    /// It belongs to another user.
    case notPermitted
    /// A later version made it, or it isn't what it should be: another start won't help.
    case unreadable
  }

  /// The configuration has mistakes; each with its place.
  case configuration(String)
  case store(name: String, reason: String, cause: Cause = .unusable)
  case queue(path: String, reason: String, cause: Cause = .unusable)
  case spool(path: String, reason: String, cause: Cause = .unusable)
  case directory(path: String, reason: String, cause: Cause = .unusable)
  case socket(path: String, reason: String)
  /// The port for metrics.
  case metrics(reason: String)
  /// Another daemon works on the same state directory or spool; its process, if that is known.
  case alreadyRunning(directory: String, pid: String)

  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .configuration(let problems): return problems
    case .store(let name, let reason, _): return "store \(name) can't be opened: \(reason)"
    case .queue(let path, let reason, _): return "the queue \(path) can't be opened: \(reason)"
    case .spool(let path, let reason, _): return "the spool \(path) can't be used: \(reason)"
    case .directory(let path, let reason, _): return "\(path) can't be used: \(reason)"
    case .socket(_, let reason): return "the control socket can't be made: \(reason)"
    case .metrics(let reason): return "metrics can't be served: \(reason)"
    case .alreadyRunning(let directory, let pid):
      let process = pid.isEmpty ? "" : " (process \(pid))"
      return "another laded\(process) works on \(directory): stop it, or give this one directories of its own"
    }
  }

  /// The exit status, by sysexits.h.
  public var exitStatus: Int32 {
    switch self {
    case .configuration: return 78
    case .alreadyRunning: return 75
    case .socket, .metrics: return 74
    case .store(_, _, let cause), .queue(_, _, let cause), .spool(_, _, let cause), .directory(_, _, let cause):
      switch cause {
      case .unusable: return 74
      case .notPermitted: return 77
      case .unreadable: return 65
      }
    }
  }
}

extension DaemonError {
  init(_ error: ControlSocketError) {
    switch error {
    case .inUse(let path): self = .alreadyRunning(directory: path, pid: "")
    case .notASocket(let path), .pathTooLong(let path, _), .failed(_, let path, _):
      self = .socket(path: path, reason: "\(error)")
    }
  }
}
