/// Formats names, strings and lists as Swift source.
enum SwiftText {
  /// Words that need backticks as names of properties.
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

  /// A name, in backticks if it is a keyword.
  static func name(_ text: String) -> String { keywords.contains(text) ? "`\(text)`" : text }

  /// The name with its first letter in upper case.
  static func capitalised(_ text: some StringProtocol) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// A name made of the characters of a text that a name may contain.
  static func name(from text: String) -> String {
    let parts = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    let name = parts.map { capitalised($0) }.joined()
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

  /// A list in lines of at most 120 characters, unless a single item is longer.
  /// - Parameter isCall: whether to omit the comma after the last item.
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

  /// The lines of a multi-line string literal that contains the text unchanged.
  static func block(_ text: String) -> [String] {
    var hashes = "#"
    while text.contains("\"\"\"" + hashes) || text.contains("\\" + hashes) { hashes += "#" }
    return [hashes + "\"\"\"", text, "\"\"\"" + hashes]
  }
}

/// Names that a property of a class can't have, because ``ManagedObject`` uses them.
enum ReservedNames {
  /// Its own properties, and others that Swift or readers of the code expect of every object.
  static let properties: Set<String> = [
    "changedValues", "committedValues", "debugDescription", "description", "entity", "faultingState", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
    "keyPathNames", "managedObjectContext", "objectID", "propertyNames", "propertyTypes", "self", "validatesValues",
  ]

  /// What to do about a property with this name; nil if the name is allowed.
  static func advice(on name: String, of entity: String) -> String? {
    if !SwiftText.isName(name) {
      return "\(entity).\(name) isn't a name in Swift and gets no accessor: rename it, or use value(forKey:)"
    }
    guard properties.contains(name) else { return nil }
    return "\(entity).\(name) has the name of a member of ManagedObject and gets no accessor: rename it (its renaming "
      + "identifier keeps stores readable), or use value(forKey: \"\(name)\") and setValue(_:forKey:)"
  }
}
