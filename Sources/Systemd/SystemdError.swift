import Glibc

/// What went wrong between this service and systemd. The codes are the system's error numbers.
package enum SystemdError: Error, Equatable, CustomStringConvertible {
  /// `$NOTIFY_SOCKET` is set and can't be reached.
  case notify(code: Int32)
  /// `$LISTEN_FDS` is set and makes no sense, or its descriptors aren't there.
  case listen(code: Int32)
  /// A socket was passed that can't be used.
  case socket(name: String, problem: String)
  /// `$WATCHDOG_USEC` is set and makes no sense.
  case watchdog(code: Int32)
  /// The journal is there and doesn't take the entry.
  case journal(code: Int32)
  /// The journal would drop the field without a word: names are A–Z, 0–9 and `_`, start with a letter, and have at
  /// most 64 characters.
  case journalFieldName(String)

  /// What happened and what to do.
  package var description: String {
    switch self {
    case .notify(let code):
      "systemd can't be told through $NOTIFY_SOCKET: \(SystemdError.text(code)). Check NotifyAccess= of the unit."
    case .listen(let code):
      "The sockets that systemd should have passed can't be taken: \(SystemdError.text(code)). Check the .socket unit."
    case .socket(let name, let problem):
      "The socket “\(name)” that systemd passed can't be used: \(problem). Check ListenStream= and "
        + "FileDescriptorName= of the .socket unit."
    case .watchdog(let code):
      "$WATCHDOG_USEC can't be understood: \(SystemdError.text(code)). Check WatchdogSec= of the unit."
    case .journal(let code):
      "The journal doesn't take an entry: \(SystemdError.text(code)). Check systemd-journald."
    case .journalFieldName(let name):
      "“\(name)” can't be a field of the journal: use A–Z, 0–9 and “_”, a letter first, at most 64 of them."
    }
  }

  private static func text(_ code: Int32) -> String {
    String(cString: strerror(code)) + " (errno \(code))"
  }
}
