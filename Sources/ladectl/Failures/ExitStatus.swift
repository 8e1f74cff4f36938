import ArgumentParser

/// What the program's exit status says. A wrong command line is 64, `EX_USAGE` of sysexits(3), by ArgumentParser.
enum ExitStatus: Int32, Sendable {
  case success = 0
  /// The daemon refused, or the request failed.
  case failed = 1
  /// A job that was waited for didn't complete.
  case jobEndedBadly = 3
  case timedOut = 4
  /// No daemon answers, or it may not be talked to.
  case noDaemon = 5

  /// To end with this status without another word.
  var silently: ExitCode { ExitCode(rawValue) }
}
