import ArgumentParser
import ControlAPI
import Foundation
import Glibc

/// An error as the user sees it: what happened, where, what to do, and the exit status. Every error of ladectl is written here,
/// the command line's included.
struct Failure: Sendable {
  /// How to exit.
  enum Ending: Sendable {
    case report(Problem, ExitStatus)
    /// Not an error: help, the version, or an exit status after the verb has reported.
    case argumentParser(any Error)
  }

  let ending: Ending

  /// Interprets the error that ended a verb.
  init(_ error: any Error) {
    switch error {
    case let error as ControlClientError: ending = .report(error.problem, error.exitStatus)
    case let error as LocalFailure: ending = .report(error.problem, error.exitStatus)
    case is ExitCode: ending = .argumentParser(error)
    default:
      switch Ladectl.exitCode(for: error) {
      case .success: ending = .argumentParser(error)
      case .validationFailure: ending = .report(Self.usageProblem(error), .usage)
      default:
        ending = .report(
          Problem(status: 0, code: "failed", title: "It failed", detail: words(of: error), hint: nil), .failed)
      }
    }
  }

  private static func usageProblem(_ error: any Error) -> Problem {
    let mistake = UsageMistake(Ladectl.message(for: error), of: VerbDescription.onCommandLine)
    return Problem(
      status: 0, code: "usage", title: "The command line is wrong", detail: mistake.detail, hint: mistake.hint)
  }

  /// Writes the error to standard error and ends the process.
  func exit(asJSON json: Bool) -> Never {
    switch ending {
    case .argumentParser(let error):
      if Ladectl.exitCode(for: error) == .success {
        let text = Self.help(Ladectl.fullMessage(for: error))
        if !text.isEmpty { Terminal().write(text.hasSuffix("\n") ? text : text + "\n") }
      }
      Glibc.exit(Ladectl.exitCode(for: error).rawValue)
    case .report(let problem, let status):
      Self.write(problem, asJSON: json)
      Glibc.exit(status.rawValue)
    }
  }

  /// Help in ladectl's words: it has verbs, not subcommands.
  private static func help(_ text: String) -> String {
    guard text.contains("USAGE: ") else { return text }
    return text.replacing("SUBCOMMANDS:", with: "VERBS:").replacing("<subcommand>", with: "<verb>")
      .replacing("<subcommands>", with: "<verbs>").replacing("subcommand", with: "verb")
  }

  /// Writes a problem to standard error, for a verb that continues with other jobs.
  static func write(_ problem: Problem, asJSON json: Bool) {
    let text = text(of: problem)
    // A problem consists of text and numbers, which JSON can always hold.
    StandardError.writeData(json ? (try? JSONText.of(problem)) ?? text : text)
  }

  /// The problem as text: what happened and, on the lines below, what to do.
  static func text(of problem: Problem) -> String {
    let detail = problem.detail(namingOptionsOf: VerbDescription.onCommandLine)
    // A malformed predicate is shown on lines of its own, with a caret below the error.
    return "ladectl: \(lines(detail.namingUsers).joined(separator: "\n  "))\n"
      + lines(problem.hint ?? "").map { "  \($0)\n" }.joined()
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: true).map { String($0).printable }
  }
}

/// The program's exit statuses.
enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The daemon refused, or the request failed.
  case failed = 1
  /// Every job that was waited for completed, and one of them rejected records.
  case completedWithRejects = 2
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
    case .success: "success; with waiting, every job completed without rejects"
    case .failed: "the daemon refused or failed; with several jobs, for at least one of them"
    case .completedWithRejects: "records were rejected by a job that was waited for, or in a test"
    case .jobEndedBadly: "a job that was waited for was discarded or cancelled"
    case .timedOut: "the time given by --timeout has passed"
    case .noDaemon: "no daemon answers, or it ended before it answered"
    case .notAllowed: "permission denied, by the socket or by the daemon"
    case .versionMismatch: "ladectl and the daemon are of incompatible versions"
    case .usage: "the command line is wrong, or a question can't be asked without a terminal"
    }
  }

  /// All statuses as lines for help.
  static var table: String {
    allCases.map { "  " + "\($0.rawValue)".padded(to: 4) + $0.meaning }.joined(separator: "\n")
  }

  /// Ends with this status silently.
  var silently: ExitCode { ExitCode(rawValue) }
}

/// A readable message for an error while reading; Foundation's are for programmers.
func words(of error: any Error) -> String {
  if let error = error as? DecodingError { return words(of: error) }
  let bridged = error as NSError
  guard bridged.domain == NSCocoaErrorDomain else { return "\(error)" }
  // Its own message only mentions "the operation"; the system's error, if there is one, gives the reason.
  let cause = (bridged.userInfo[NSUnderlyingErrorKey] as? any Error) ?? error
  return cause.localizedDescription.replacing("The operation could not be completed. ", with: "")
}

/// The position in the document and the mistake: `jobs[0].name: a String should be here`.
private func words(of error: DecodingError) -> String {
  switch error {
  case .keyNotFound(let key, let context): place(context) + "'\(key.stringValue)' is missing"
  case .typeMismatch(let type, let context): place(context) + "a value of the type \(type) should be here"
  case .valueNotFound(let type, let context): place(context) + "a value of the type \(type) should be here, not null"
  case .dataCorrupted(let context): place(context) + context.debugDescription
  @unknown default: "\(error)"
  }
}

private func place(_ context: DecodingError.Context) -> String {
  let path = context.codingPath.reduce(into: "") { text, key in
    text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? "" : ".") + key.stringValue
  }
  return path.isEmpty ? "" : path + ": "
}
