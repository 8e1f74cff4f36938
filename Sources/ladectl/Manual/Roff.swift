/// Text in roff with the man(7) macros.
enum Roff {
  /// Literal text on lines of its own, with roff requests escaped.
  static func text(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  static func bold(_ text: String) -> String { "\\fB\(Self.text(text))\\fR" }
  static func italic(_ text: String) -> String { "\\fI\(Self.text(text))\\fR" }

  /// Paragraphs separated by blank lines; indented lines are preformatted, for tables and examples.
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
