import ControlAPI
import FoundationEssentials
import LadeTypes

/// The words that a field completes, for any page: names such as `state:` with their values, or words that stand by themselves.
///
/// A page has the field with ``Attribute/completion(_:)``, then ``datalist(for:id:)``, and ``Asset/completion`` as its script. Without the
/// script the browser offers the list. With it, the field is a combobox whose suggestions come from an address of the page's own,
/// which answers ``json(for:)`` of its parameter `q`.
struct Completion: Sendable {
  /// The most suggestions at a time.
  static let most = 12
  /// More text isn't completed.
  private static let longest = 2_000

  /// A word that can be written.
  struct Word: Sendable, Hashable {
    /// Such as `state`.
    let name: String
    /// What it is about.
    let note: String
    /// What can stand behind it; nil for a word that stands by itself.
    let values: [String]?
    /// Whether several values can, with commas between.
    let isList: Bool

    init(_ name: String, _ note: String = "", values: [String]? = nil, isList: Bool = false) {
      self.name = name
      self.note = note
      self.values = values
      self.isList = isList
    }
  }

  /// One way to go on.
  struct Suggestion: Sendable, Hashable, Encodable {
    /// The whole text of the field with it.
    let text: String
    /// The word alone.
    let label: String
    let note: String
  }

  /// What an address of a page answers.
  private struct Answer: Encodable { let suggestions: [Suggestion] }

  /// Such as the colon of `state:`; nil where words have no values.
  let separator: Character?
  let words: [Word]

  init(separator: Character?, words: [Word]) {
    self.separator = separator
    self.words = words
  }

  /// Ways to complete the last word of a text, or to begin another one.
  func suggestions(for text: String) -> [Suggestion] {
    guard text.utf8.count <= Self.longest else { return [] }
    let start = Self.lastWord(of: text)
    let before = String(text[..<start])
    let typed = text[start...]
    guard let separator, let place = typed.firstIndex(of: separator) else { return names(beginning: typed, before) }
    guard let word = words.first(where: { $0.name == typed[..<place] }), let values = word.values else { return [] }
    let written = typed[typed.index(after: place)...]
    let parts = word.isList ? written.split(separator: ",", omittingEmptySubsequences: false) : [written]
    let last = Self.unquoted(parts.last ?? "")
    let others = parts.dropLast().map(String.init)
    return values.filter { $0.hasPrefix(ignoringCase: last) && !others.contains($0) }.prefix(Self.most).map { value in
      let all = (others + [Self.quoted(value)]).joined(separator: ",")
      return Suggestion(text: before + word.name + String(separator) + all, label: value, note: word.name)
    }
  }

  private func names(beginning typed: Substring, _ before: String) -> [Suggestion] {
    let end = separator.map(String.init) ?? ""
    return words.filter { $0.name.hasPrefix(ignoringCase: String(typed)) && $0.name != typed }.prefix(Self.most)
      .map { Suggestion(text: before + $0.name + end, label: $0.name + end, note: $0.note) }
  }

  /// Where the last word begins. A value in open quotes is completed, too, from its name on.
  private static func lastWord(of text: String) -> String.Index {
    var start = text.startIndex
    var (isQuoted, isEscaped) = (false, false)
    for index in text.indices {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, text[index] == "\\" {
        isEscaped = true
      } else if text[index] == "\"" {
        isQuoted.toggle()
      } else if text[index].isWhitespace, !isQuoted {
        start = text.index(after: index)
      }
    }
    return start
  }

  private static func unquoted(_ text: Substring) -> String { String(text.filter { $0 != "\"" }) }

  private static func quoted(_ value: String) -> String {
    let isPlain = !value.contains { $0.isWhitespace || $0 == "\"" || $0 == "\\" || $0 == "," }
    return isPlain ? value : "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

extension Completion {
  /// The suggestions for the script, as JSON.
  func json(for text: String) throws -> String {
    String(decoding: try WireFormat.encode(Answer(suggestions: suggestions(for: text))), as: UTF8.self)
  }

  /// For browsers without the script: what may follow the text that the page was made for.
  func datalist(for text: String, id: String) -> HTML {
    HTML.element("datalist", .id(id)) {
      for suggestion in suggestions(for: text) + suggestions(for: text.isEmpty ? "" : text + " ") {
        HTML.void("option", .value(suggestion.text))
      }
    }
  }

  /// The same as links that narrow what is shown.
  /// - Parameter link: where a text leads.
  func links(for text: String, _ title: String, _ link: (String) -> PageLink) -> HTML {
    let going = suggestions(for: text.isEmpty || text.hasSuffix(" ") || text.hasSuffix(":") ? text : text + " ")
    if going.isEmpty { return .empty }
    return HTML.element("details", .style("narrow")) {
      HTML.element("summary") { title }
      HTML.element("ul", .style("states")) {
        for suggestion in going {
          HTML.element("li") {
            HTML.element("a", .link(link(suggestion.text))) { HTML.name(suggestion.label) }
            if !suggestion.note.isEmpty { HTML.element("span", .style("note")) { " \(suggestion.note)" } }
          }
        }
      }
    }
  }
}

extension String {
  fileprivate func hasPrefix(ignoringCase prefix: String) -> Bool { lowercased().hasPrefix(prefix.lowercased()) }
}
