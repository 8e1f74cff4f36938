/// A question to the user at the terminal. It goes to standard error, since the output may be redirected.
enum Question {
  /// Whether the answer is yes; anything else, including no answer, is no.
  static func ask(_ question: String) -> Bool {
    StandardError.write("\(question) [y/N] ")
    guard let answer = readLine(strippingNewline: true) else {
      StandardError.write("\n")
      return false
    }
    return ["y", "yes"].contains(answer.lowercased())
  }
}
