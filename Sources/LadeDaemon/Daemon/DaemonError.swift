import ControlServer
import Glibc

/// Why the daemon doesn't start.
public enum DaemonError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of trouble a path, socket or port makes, and so whether another start may help.
  public enum Cause: Sendable, Equatable {
    /// It isn't there and can't be made, or isn't what it should be: another start won't help.
    case unusable
    /// A disk is full or fails, a store is locked, memory or descriptors are short, or something that isn't known: another
    /// start may help.
    case failing
    /// Another program uses it, and may let go of it.
    case inUse
    /// It belongs to another user, or the unit denies the network: another start won't help.
    case notPermitted
    /// A later version made the store, or it isn't one: another start won't help.
    case unreadable
  }

  /// The configuration has mistakes; each with its place.
  case configuration(String)
  case store(name: String, reason: String, cause: Cause = .failing)
  case queue(path: String, reason: String, cause: Cause = .failing)
  case spool(path: String, reason: String, cause: Cause)
  case directory(path: String, reason: String, cause: Cause)
  case socket(path: String, reason: String, cause: Cause)
  /// The port for metrics.
  case metrics(reason: String, cause: Cause)
  /// The port or the Unix socket for pages.
  case web(reason: String, cause: Cause)
  /// The process may have too few descriptors, or too little address space.
  case limits(String)
  /// Another daemon works on the same state directory or spool; its process, if that is known.
  case alreadyRunning(directory: String, pid: String)
  /// The daemon can't have its host's name on a shared queue.
  case host(String, cause: Cause)
  /// It couldn't renew its lease on a queue that others work on, too.
  case leaseLost

  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .configuration(let problems): return problems
    case .store(let name, let reason, _): return "store \(name) can't be opened: \(reason)"
    case .queue(let path, let reason, _): return "the queue \(path) can't be opened: \(reason)"
    case .spool(let path, let reason, _): return "the spool \(path) can't be used: \(reason)"
    case .directory(let path, let reason, _): return "\(path) can't be used: \(reason)"
    case .socket(_, let reason, _): return "the control socket can't be made: \(reason)"
    case .metrics(let reason, _): return "metrics can't be served: \(reason)"
    case .web(let reason, _): return "pages can't be served: \(reason)"
    case .limits(let problems): return problems
    case .alreadyRunning(let directory, let pid):
      let process = pid.isEmpty ? "" : " (process \(pid))"
      return "another laded\(process) works on \(directory): stop it, or give this one directories of its own"
    case .host(let reason, _): return "the queue is shared, and \(reason)"
    case .leaseLost:
      return "the lease on the queue is lost, for it couldn't be renewed in time: others go on with its jobs"
    }
  }

  /// The exit status, by sysexits.h. The unit restarts the service after 74 and 75 only.
  public var exitStatus: Int32 {
    switch self {
    case .configuration: return 78
    case .limits: return 71
    case .alreadyRunning, .leaseLost, .host(_, cause: .inUse): return 75
    case .host: return 78
    case .store(_, _, let cause), .queue(_, _, let cause), .spool(_, _, let cause), .directory(_, _, let cause),
      .socket(_, _, let cause), .metrics(_, let cause), .web(_, let cause):
      switch cause {
      case .unreadable: return 65
      case .unusable: return 73
      case .failing: return 74
      case .inUse: return 75
      case .notPermitted: return 77
      }
    }
  }
}

extension DaemonError.Cause {
  /// What the error number of a system call on a path or socket tells.
  init(errno code: Int32) {
    self =
      switch code {
      case EACCES, EPERM: .notPermitted
      case EADDRINUSE, EBUSY: .inUse
      case ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG, EROFS, ENXIO, EADDRNOTAVAIL, EAFNOSUPPORT: .unusable
      default: .failing
      }
  }
}

extension DaemonError {
  init(_ error: ControlSocketError) {
    switch error {
    case .inUse(let path): self = .alreadyRunning(directory: path, pid: "")
    case .notASocket(let path), .pathTooLong(let path, _):
      self = .socket(path: path, reason: "\(error)", cause: .unusable)
    case .failed(_, let path, let code): self = .socket(path: path, reason: "\(error)", cause: .init(errno: code))
    }
  }

  /// - Parameter error: of the Unix socket of the pages.
  init(pages error: ControlSocketError) {
    let cause: Cause =
      switch error {
      case .inUse: .inUse
      case .notASocket, .pathTooLong: .unusable
      case .failed(_, _, let code): .init(errno: code)
      }
    self = .web(reason: "\(error)", cause: cause)
  }

  init(_ error: LoopbackError) {
    let (cause, purpose): (Cause, LoopbackPurpose) =
      switch error {
      case .inUse(_, let purpose): (.inUse, purpose)
      case .noInternet(_, let purpose): (.notPermitted, purpose)
      case .failed(_, _, let purpose, let code): (.init(errno: code), purpose)
      }
    switch purpose {
    case .metrics: self = .metrics(reason: "\(error)", cause: cause)
    case .web: self = .web(reason: "\(error)", cause: cause)
    }
  }
}
