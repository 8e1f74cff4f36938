import CSystemd
import Glibc

/// The service manager that started this process, by sd_notify(3). Without one, that is without `$NOTIFY_SOCKET`,
/// nothing is done. Any thread may call this; it doesn't wait for systemd to read.
package enum ServiceManager {
  /// Something that the service manager is told.
  package enum Notice: Sendable, Equatable {
    /// The service is up, or its configuration is loaded again.
    case ready
    /// The configuration is being loaded again; `ready` follows.
    case reloading
    /// The service is going down.
    case stopping
    /// One line for `systemctl status`.
    case status(String)
    /// Starting, reloading or stopping takes this much longer, from now.
    case extendTimeout(Duration)
    /// The service is alive.
    case watchdog

    fileprivate var assignments: String {
      switch self {
      case .ready: "READY=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds())"
      case .stopping: "STOPPING=1"
      case .status(let text):
        // A line break would begin another assignment.
        "STATUS=" + String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
      case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(time.microseconds)"
      case .watchdog: "WATCHDOG=1"
      }
    }
  }

  /// Tells the service manager, all in one message. Returns whether there is one.
  /// Throws `SystemdError.notify` if there is and it can't be told.
  @discardableResult
  package static func notify(_ notices: Notice...) throws -> Bool {
    let answer = sd_notify(0, notices.map(\.assignments).joined(separator: "\n"))
    guard answer >= 0 else { throw SystemdError.notify(code: -answer) }
    return answer > 0
  }

  /// Within which time the service manager wants to hear `watchdog`, or nil if it doesn't; tell it twice as often.
  /// Throws `SystemdError.watchdog`.
  package static func watchdogInterval() throws -> Duration? {
    var microseconds: UInt64 = 0
    let answer = sd_watchdog_enabled(0, &microseconds)
    guard answer >= 0 else { throw SystemdError.watchdog(code: -answer) }
    return answer > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
  }

  /// CLOCK_MONOTONIC, by which systemd tells a new reload from an old one.
  private static func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
  }
}

extension Duration {
  fileprivate var microseconds: Int64 {
    let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : max(0, whole + components.attoseconds / 1_000_000_000_000)
  }
}
