/// How Swift writes names and strings.
enum SwiftText {
  /// Words that have to stand in backticks to be names of properties.
  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
    "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
    "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Whether the text can be a name: letters, digits and underscores, no digit first.
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.first, first == "_" || first.isLetter else { return false }
    return text != "_" && text.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
  }

  /// A name, in backticks when it is a keyword.
  static func name(_ text: String) -> String { keywords.contains(text) ? "`\(text)`" : text }

  /// The name with its first letter in upper case.
  static func capitalized(_ text: some StringProtocol) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// What is left of a text when only what may stand in a name is kept.
  static func name(from text: String) -> String {
    let parts = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    let name = parts.map { capitalized($0) }.joined()
    return isName(name) ? name : "_" + name
  }

  /// A string literal.
  static func literal(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case "\0": escaped += "\\0"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return "\"\(escaped)\""
  }

  /// A list in lines of at most 120 characters, where its items aren't longer themselves.
  /// - Parameter isCall: whether a comma after the last one would be amiss.
  static func list(_ items: [String], before: String, after: String, isCall: Bool = false) -> [String] {
    let whole = before + items.joined(separator: ", ") + after
    if whole.count <= 120 { return [whole] }
    let margin = String(repeating: " ", count: before.prefix { $0 == " " }.count)
    var lines = [before]
    var line = ""
    for (index, item) in items.enumerated() {
      if !line.isEmpty, margin.count + line.count + item.count > 115 {
        lines.append(margin + "  " + line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + item + (isCall && index == items.count - 1 ? "" : ",")
    }
    return lines + [margin + "  " + line, margin + after]
  }

  /// The lines of a string literal that holds the text as it is, over many lines.
  static func block(_ text: String) -> [String] {
    var hashes = "#"
    while text.contains("\"\"\"" + hashes) || text.contains("\\" + hashes) { hashes += "#" }
    return [hashes + "\"\"\"", text, "\"\"\"" + hashes]
  }
}
