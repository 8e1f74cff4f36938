import ArgumentParser

/// The program's exit statuses.
enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The daemon refused, or the request failed.
  case failed = 1
  /// A job didn't complete while waiting for it.
  case jobEndedBadly = 3
  case timedOut = 4
  /// No daemon answers.
  case noDaemon = 5
  /// This user may not open the socket, or the daemon denied permission.
  case notAllowed = 6
  /// The server speaks another version of the interface.
  case versionMismatch = 7
  /// A usage error, or a required confirmation without a terminal: `EX_USAGE` of sysexits(3).
  case usage = 64

  /// Its description in help and manual pages.
  var meaning: String {
    switch self {
    case .success: "it worked; where jobs were waited for, every one completed"
    case .failed: "the daemon refused, or it failed; of several jobs at least for one"
    case .jobEndedBadly: "a job that was waited for was discarded or cancelled"
    case .timedOut: "the time given by --timeout or --wait was up"
    case .noDaemon: "no daemon answers, or it went away before it had answered"
    case .notAllowed: "you may not: the socket is closed to you, or this is for others to do"
    case .versionMismatch: "ladectl and the daemon are of versions that don't go together"
    case .usage: "the command line is wrong, or there is nobody to ask a question"
    }
  }

  /// All statuses as lines for help.
  static var table: String {
    allCases.map { "  " + "\($0.rawValue)".padded(to: 4) + $0.meaning }.joined(separator: "\n")
  }

  /// Ends with this status silently.
  var silently: ExitCode { ExitCode(rawValue) }
}
