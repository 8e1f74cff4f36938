extension Session {
  /// Whether a verb that destroys something may go on: it was said beforehand, or whoever is asked says so.
  /// - Throws: ``LocalFailure/nobodyToAsk(question:)`` where nobody can be asked.
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
