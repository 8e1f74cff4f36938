/// Text in the language of manual pages (man(7)).
enum Roff {
  /// Text as it is, on lines of its own: nothing in it is a command.
  static func text(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  static func bold(_ text: String) -> String { "\\fB\(Self.text(text))\\fR" }
  static func italic(_ text: String) -> String { "\\fI\(Self.text(text))\\fR" }

  /// Paragraphs, with blank lines between; lines that begin with spaces stay as they are, as a table or an example.
  static func paragraphs(_ words: String) -> String {
    var result = ""
    var isVerbatim = false
    func verbatim(_ begins: Bool) {
      guard begins != isVerbatim else { return }
      result += begins ? ".PP\n.nf\n" : ".fi\n.PP\n"
      isVerbatim = begins
    }
    for line in words.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  ") {
        verbatim(true)
        result += "    " + text(String(line.drop { $0 == " " })) + "\n"
      } else if line.isEmpty {
        if isVerbatim { verbatim(false) } else { result += ".PP\n" }
      } else {
        verbatim(false)
        result += text(String(line)) + "\n"
      }
    }
    verbatim(false)
    while result.hasSuffix(".PP\n") { result.removeLast(4) }
    return result.replacing(".PP\n.PP\n", with: ".PP\n")
  }
}
