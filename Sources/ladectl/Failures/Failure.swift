import ArgumentParser
import ControlAPI
import Glibc

/// An error as the user sees it: message, hint, exit status. The only place that produces these.
struct Failure: Sendable {
  /// How to exit.
  enum Ending: Sendable {
    case report(Problem, ExitStatus)
    /// ArgumentParser's own: help, version, a usage error, or a silent exit status.
    case argumentParser(any Error)
  }

  let ending: Ending

  private init(ending: Ending) { self.ending = ending }

  /// Interprets the error that ended a verb.
  init(_ error: any Error) {
    switch error {
    case let error as ControlClientError: ending = .report(error.problem, error.exitStatus)
    case let error as LocalFailure: ending = .report(error.problem, error.exitStatus)
    default: ending = .argumentParser(error)
    }
  }

  /// Writes the error to standard error and ends the process.
  func exit(asJSON json: Bool) -> Never {
    switch ending {
    case .argumentParser(let error) where json && Ladectl.exitCode(for: error) == .validationFailure:
      let problem = Problem(
        status: 0, code: "usage", title: "The command line is wrong", detail: Ladectl.message(for: error),
        hint: "'ladectl help VERB' tells of a verb's words and options.")
      Failure(ending: .report(problem, .usage)).exit(asJSON: true)
    case .argumentParser(let error):
      Ladectl.exit(withError: error)
    case .report(let problem, let status):
      let text = json ? (try? JSONText.of(problem)) ?? Self.text(of: problem) : Self.text(of: problem)
      StandardError.write(text)
      Glibc.exit(status.rawValue)
    }
  }

  /// The problem as text: what happened and, on the next line, what to do.
  static func text(of problem: Problem) -> String {
    // A malformed predicate is shown on lines of its own, with a caret below the error.
    let lines = problem.detail.namingUsers.split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0).printable
    }
    return "ladectl: \(lines.joined(separator: "\n  "))\n" + (problem.hint.map { "  \($0.printable)\n" } ?? "")
  }
}
