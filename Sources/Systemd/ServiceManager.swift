import CSystemd
import Glibc

/// The service manager that started this process, through sd_notify(3). Without one, that is without `$NOTIFY_SOCKET`,
/// nothing happens. Any thread may call this; it doesn't wait for systemd to read the message.
package enum ServiceManager {
  /// A notification to the service manager.
  package enum Notice: Sendable, Equatable {
    /// The service is up, or has reloaded its configuration.
    case ready
    /// The service is reloading its configuration; `ready` follows.
    case reloading
    /// The service is stopping.
    case stopping
    /// One line for `systemctl status`.
    case status(String)
    /// Starting, reloading or stopping takes at least this much longer, from now on.
    case extendTimeout(Duration)
    /// The service is alive.
    case watchdog

    fileprivate var assignments: String {
      switch self {
      case .ready: "READY=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds())"
      case .stopping: "STOPPING=1"
      case .status(let text):
        // A line break would start another assignment.
        "STATUS=" + String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
      case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(time.microseconds)"
      case .watchdog: "WATCHDOG=1"
      }
    }
  }

  /// Sends notifications in one message. Returns whether there is a service manager.
  /// Throws `SystemdError.notify` if there is one and it can't be reached.
  @discardableResult
  package static func notify(_ notices: Notice...) throws -> Bool {
    let answer = sd_notify(0, notices.map(\.assignments).joined(separator: "\n"))
    guard answer >= 0 else { throw SystemdError.notify(code: -answer) }
    return answer > 0
  }

  /// The watchdog timeout of the service manager, or nil if it has none. Send `watchdog` at least twice as often.
  /// Throws `SystemdError.watchdog`.
  package static func watchdogInterval() throws -> Duration? {
    var microseconds: UInt64 = 0
    let answer = sd_watchdog_enabled(0, &microseconds)
    guard answer >= 0 else { throw SystemdError.watchdog(code: -answer) }
    return answer > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
  }

  /// CLOCK_MONOTONIC, which systemd uses to distinguish a new reload from an old one.
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
