import Glibc

/// A failure of the communication with systemd. The codes are errno values.
package enum SystemdError: Error, Equatable, CustomStringConvertible {
  /// `$NOTIFY_SOCKET` is set, but the socket can't be reached.
  case notify(code: Int32)
  /// `$LISTEN_FDS` is set and invalid, or its descriptors don't exist.
  case listen(code: Int32)
  /// A passed socket can't be used.
  case socket(name: String, problem: String)
  /// `$WATCHDOG_USEC` is set and invalid.
  case watchdog(code: Int32)
  /// The journal rejected the entry.
  case journal(code: Int32)
  /// The journal would drop the field silently: names consist of A–Z, 0–9 and `_`, start with a letter, and have at most 64
  /// characters.
  case journalFieldName(String)

  /// What happened and what to do.
  package var description: String {
    switch self {
    case .notify(let code):
      "systemd can't be notified through $NOTIFY_SOCKET: \(SystemdError.text(code)). Check NotifyAccess= of the unit."
    case .listen(let code):
      "The sockets that systemd should have passed can't be used: \(SystemdError.text(code)). Check the .socket unit."
    case .socket(let name, let problem):
      "The socket “\(name)” that systemd passed can't be used: \(problem). Check ListenStream= and "
        + "FileDescriptorName= of the .socket unit."
    case .watchdog(let code):
      "$WATCHDOG_USEC is invalid: \(SystemdError.text(code)). Check WatchdogSec= of the unit."
    case .journal(let code):
      "The journal rejected an entry: \(SystemdError.text(code)). Check systemd-journald."
    case .journalFieldName(let name):
      "“\(name)” can't be a journal field: use A–Z, 0–9 and “_”, a letter first, at most 64 characters."
    }
  }

  private static func text(_ code: Int32) -> String {
    String(cString: strerror(code)) + " (errno \(code))"
  }
}
