import ControlAPI

/// The context of every verb: the daemon, the terminal and the output format.
struct Session: Sendable {
  let client: ControlClient
  let terminal: Terminal
  let json: Bool

  /// Writes a verb's result as JSON if requested, otherwise as text.
  func report(_ value: some Encodable, _ text: () -> String) throws {
    if json { terminal.writeData(try JSONText.of(value)) } else { terminal.write(text()) }
  }
}

extension Session {
  /// Writes a remark on the result to standard error, where it isn't in the way of a program that reads the result.
  func remark(_ text: String) { StandardError.write(terminal.errorStyle(text, .dim) + "\n") }

  /// Whether a destructive verb may proceed: confirmed by an option, or by the user when asked.
  /// - Throws: ``LocalFailure/noTerminal(question:)`` if there is no terminal.
  func mayGoOn(_ question: String, yes: Bool) throws -> Bool {
    if yes { return true }
    guard terminal.canAsk else { throw LocalFailure.noTerminal(question: question) }
    guard Question.ask(question) else {
      StandardError.write("Nothing was changed.\n")
      return false
    }
    return true
  }
}
