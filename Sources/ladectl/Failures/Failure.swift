import ArgumentParser
import ControlAPI
import Glibc

/// An error as the user gets it: words, a hint, an exit status. The only place that makes these.
struct Failure: Sendable {
  /// How to leave.
  enum Ending: Sendable {
    case report(Problem, ExitStatus)
    /// ArgumentParser's own: help, version, a wrong command line, or an exit status without a word.
    case argumentParser(any Error)
  }

  let ending: Ending

  private init(ending: Ending) { self.ending = ending }

  /// What an error that ended a verb means.
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

  /// The problem in words: what happened, and on the next line what to do.
  static func text(of problem: Problem) -> String {
    // A predicate that can't be read is told with a mark under the place, on lines of its own.
    let lines = problem.detail.namingUsers.split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0).printable
    }
    return "ladectl: \(lines.joined(separator: "\n  "))\n" + (problem.hint.map { "  \($0.printable)\n" } ?? "")
  }
}
