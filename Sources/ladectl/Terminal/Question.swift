/// A question to whoever sits at the terminal. It goes to standard error, for the output may go somewhere else.
enum Question {
  /// Whether the answer is yes; anything else, and no answer at all, is no.
  static func ask(_ question: String) -> Bool {
    StandardError.write("\(question) [y/N] ")
    guard let answer = readLine(strippingNewline: true) else {
      StandardError.write("\n")
      return false
    }
    return ["y", "yes"].contains(answer.lowercased())
  }
}
