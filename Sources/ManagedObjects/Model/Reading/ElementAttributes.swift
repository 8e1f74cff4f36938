/// The XML attributes of one element. It records which ones are read; the rest, `unread`, are unknown, so there is no second
/// list of known names to maintain.
struct ElementAttributes {
  let element: ModelElement
  let file: String
  private var asked: Set<String> = []
  /// What is wrong with the values that were read.
  private(set) var mistakes: [ModelMistake] = []

  init(_ element: ModelElement, file: String) {
    self.element = element
    self.file = file
  }

  /// The names of attributes that weren't read, in alphabetical order.
  var unread: [String] { element.attributes.keys.filter { !asked.contains($0) }.sorted() }

  /// The attribute's text, nil if it is missing.
  mutating func text(_ name: String) -> String? {
    asked.insert(name)
    return element.attributes[name]
  }

  /// The attribute's text, nil if it is missing or empty.
  mutating func nonEmpty(_ name: String) -> String? {
    guard let text = text(name), !text.isEmpty else { return nil }
    return text
  }

  /// The text of an attribute without which the element can't be read.
  mutating func required(_ name: String) throws(ModelMistake) -> String {
    guard let text = nonEmpty(name) else { throw mistake("<\(element.name)> has no \(name)") }
    return text
  }

  /// A flag: `YES` or `NO`, false if it is missing.
  mutating func flag(_ name: String) -> Bool { flag(name, default: false) }

  /// A flag: `YES` or `NO`. Anything else is noted as a mistake.
  mutating func flag(_ name: String, default value: Bool) -> Bool {
    guard let text = text(name) else { return value }
    switch text {
    case "YES": return true
    case "NO": return false
    default:
      note("\(describe(name)) is “\(text)”; it can be YES or NO")
      return value
    }
  }

  /// A count: a whole number from 0. Anything else is noted as a mistake.
  mutating func count(_ name: String) -> Int? {
    guard let text = text(name) else { return nil }
    guard let count = Int(text), count >= 0 else {
      note("\(describe(name)) is “\(text)”; it has to be a whole number from 0")
      return nil
    }
    return count
  }

  /// Marks attributes as read that have no meaning outside Xcode or Apple's systems.
  mutating func ignore(_ names: String...) { asked.formUnion(names) }

  /// Remembers a mistake on this element's line. The rest of the element can still be read.
  mutating func note(_ reason: String) { mistakes.append(mistake(reason)) }

  /// A mistake on this element's line.
  func mistake(_ reason: String) -> ModelMistake { ModelMistake(file: file, line: element.line, reason: reason) }

  /// The element and attribute, for messages.
  func describe(_ name: String) -> String {
    guard let own = element.attributes["name"] else { return "<\(element.name)>'s \(name)" }
    return "\(own)'s \(name)"
  }
}
