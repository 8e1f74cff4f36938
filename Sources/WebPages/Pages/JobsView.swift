import ControlAPI
import LadeTypes

/// What the list of jobs shows. All of it is in the address.
struct JobsView: Sendable, Hashable {
  /// How many jobs a page has.
  static let pageSize = 50

  /// What was searched for, as it was typed.
  var search = ""
  var order = JobQuery.Order.newest
  /// Where the page begins: `before` of the interface, or `after` where the oldest come first.
  var start: Int64?

  init(states: [JobState] = [], lane: String? = nil, store: String? = nil, recipe: String? = nil) {
    search = JobSearch.text(of: JobSelection(states: states, lane: lane, store: store, recipe: recipe))
  }

  /// Reads `q`, `order` and `start`.
  /// - Throws: ``QueryError``.
  init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["q", "order", "start"])
    search = query["q"] ?? ""
    start = try query.integer("start", in: 0...Int64.max)
    if let word = query["order"] {
      guard let order = JobQuery.Order(rawValue: word) else {
        throw QueryError.invalid(name: "order", value: word, expected: "newest or oldest")
      }
      self.order = order
    }
  }

  var query: QueryString {
    var query = QueryString()
    query["q"] = search.isEmpty ? nil : search
    query["order"] = order == .newest ? nil : order.rawValue
    query["start"] = start.map { String($0) }
    return query
  }

  /// The same view with a change, from its first page.
  func with(_ change: (inout JobsView) -> Void) -> JobsView {
    var view = self
    view.start = nil
    change(&view)
    return view
  }
}

/// A search for jobs: words such as `state:retryable,running recipe:orders`, by the names that the interface's query
/// has. A value with spaces stands in quotes.
struct JobSearch: Sendable, Hashable {
  /// The words before the colons.
  static let names = JobQuery.parameters.filter { !["limit", "before", "after", "order"].contains($0) }

  var selection = JobSelection()
  /// A number alone is a job's.
  var job: Int64?

  /// - Throws: ``QueryError``, or ``JobSearchError``.
  init(_ text: String) throws {
    let words = Self.words(of: text)
    if words.count == 1, let number = Int64(words[0]), number >= 0 {
      job = number
      return
    }
    var query = QueryString()
    for word in words {
      guard let colon = word.firstIndex(of: ":") else { throw JobSearchError.noName(word) }
      let name = String(word[..<colon])
      guard Self.names.contains(name) else { throw JobSearchError.unknown(name) }
      guard query[name] == nil else { throw QueryError.repeated(name: name) }
      query[name] = String(word[word.index(after: colon)...])
    }
    selection = try JobQuery(query).selection
  }

  /// The same search for jobs in these states, with its other words as they are.
  static func text(_ search: String, in states: [JobState]) -> String {
    let others = words(of: search).filter { !$0.hasPrefix("state:") }.map { word in
      guard let colon = word.firstIndex(of: ":") else { return quoted(word) }
      return word[...colon] + quoted(String(word[word.index(after: colon)...]))
    }
    return (states.isEmpty ? others : ["state:" + states.map(\.rawValue).joined(separator: ",")] + others)
      .joined(separator: " ")
  }

  /// A value as a search has it.
  private static func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && !value.contains { $0.isWhitespace || $0 == "\"" || $0 == "\\" }
    return isPlain ? value : "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// A search that finds a selection.
  static func text(of selection: JobSelection) -> String {
    let query = JobQuery(selection).queryString
    return query.names.filter { names.contains($0) }.map { $0 + ":" + quoted(query[$0] ?? "") }.joined(separator: " ")
  }

  /// The words, without their quotes. A backslash in quotes takes the next character as it is.
  private static func words(of text: String) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
        word = word ?? ""
      } else if character.isWhitespace, !isQuoted {
        if let ended = word { words.append(ended) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}

/// What is wrong with a search.
enum JobSearchError: Error, Hashable, CustomStringConvertible {
  case noName(String)
  case unknown(String)

  var description: String {
    let names = JobSearch.names.map { "\($0):" }.joined(separator: ", ")
    return switch self {
    case .noName(let word):
      "“\(word)” says a value and not of what. Write a job's number, or words that begin with \(names)."
    case .unknown(let name): "There is no \(name): to search for. There are \(names)."
    }
  }
}
