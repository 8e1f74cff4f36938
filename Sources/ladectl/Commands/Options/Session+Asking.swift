extension Session {
  /// Whether a destructive verb may proceed: confirmed by an option, or by the user when asked.
  /// - Throws: ``LocalFailure/nobodyToAsk(question:)`` if there is no terminal.
  func mayGoOn(_ question: String, yes: Bool) throws -> Bool {
    if yes { return true }
    guard terminal.canAsk else { throw LocalFailure.nobodyToAsk(question: question) }
    guard Question.ask(question) else {
      StandardError.write("Nothing was changed.\n")
      return false
    }
    return true
  }
}
