package import LadeTypes
import Yams

/// A node of a document, with the keys that lead to it.
package struct YAMLNode {
  /// The keys, with dots between them; empty for the whole.
  package let key: String
  /// Whether a text counts as the number or truth that it says, and the other way round: where what is read was written
  /// on a command line.
  package let takesTextsForNumbers: Bool
  private let node: Node

  init(_ node: Node, key: String = "", takesTextsForNumbers: Bool = false) {
    self.node = node
    self.key = key
    self.takesTextsForNumbers = takesTextsForNumbers
  }

  /// A text in quotes.
  package init(text: String) { self.init(Node(text, Tag(.str), .doubleQuoted)) }

  /// A mapping of texts to nodes.
  package init(mapping: [(key: String, value: YAMLNode)]) {
    self.init(Node(mapping.map { (Node($0.key, Tag(.str), .doubleQuoted), $0.value.node) }, Tag(.map)))
  }

  /// An option as a text would have it, so that the same code reads both.
  package init(_ option: OptionValue) {
    switch option {
    case .string(let text): self.init(text: text)
    case .int(let number): self.init(Node(String(number), Tag(.str), .plain))
    case .double(let number): self.init(Node(String(number), Tag(.str), .plain))
    case .bool(let flag): self.init(Node(flag ? "true" : "false", Tag(.str), .plain))
    case .list(let values): self.init(Node(values.map { YAMLNode($0).node }, Tag(.seq)))
    case .map(let values):
      self.init(mapping: values.sorted { $0.key < $1.key }.map { ($0.key, YAMLNode($0.value)) })
    }
  }

  /// The node under other keys.
  package func under(_ key: String, takesTextsForNumbers: Bool? = nil) -> YAMLNode {
    YAMLNode(node, key: key, takesTextsForNumbers: takesTextsForNumbers ?? self.takesTextsForNumbers)
  }

  package var place: YAMLPlace? { node.mark.map { YAMLPlace($0) } }

  /// The keys of a member: these, and its own.
  package func path(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }

  /// The text of a single value as it was written, whatever it looks like; nil for lists and mappings.
  package var string: String? { node.scalar?.string }

  /// Whether it is a single value without quotes.
  package var isPlain: Bool { node.scalar?.style == .plain }

  package var isList: Bool { node.sequence != nil }
  package var isMapping: Bool { node.mapping != nil }

  /// Whether it is a single value that says nothing, as `~` does. An empty text in quotes says something.
  var isNull: Bool { isPlain && ["", "~", "null", "Null", "NULL"].contains(node.scalar?.string) }

  /// Whether it is a `null` that somebody wrote. An empty value may only be unfinished.
  package var isWrittenNull: Bool { isNull && node.scalar?.string != "" }

  /// The keys and values of a mapping, as they stand there; empty for all else.
  package var pairs: [(key: YAMLNode, value: YAMLNode)] {
    guard let mapping = node.mapping else { return [] }
    return mapping.map { name, value in
      let key = path(name.scalar?.string ?? "?")
      return (member(name, key: key), member(value, key: key))
    }
  }

  /// The elements of a list; nil for all else.
  package var elements: [YAMLNode]? {
    node.sequence?.enumerated().map { member($1, key: "\(key)[\($0 + 1)]") }
  }

  private func member(_ node: Node, key: String) -> YAMLNode {
    YAMLNode(node, key: key, takesTextsForNumbers: takesTextsForNumbers)
  }

  /// Whether it has a tag of the writer's own, such as `!include`.
  package var hasTag: Bool {
    let usual: Tag.Name =
      switch node {
      case .mapping: .map
      case .sequence: .seq
      case .scalar, .alias: .str
      }
    return node.tag != Tag(usual)
  }

  /// The place of a character of the text; nil where the text doesn't stand in the file as it is.
  /// - Parameter column: from 1.
  package func place(ofColumn column: Int) -> YAMLPlace? {
    guard let scalar = node.scalar, let place, [.plain, .singleQuoted, .doubleQuoted].contains(scalar.style) else {
      return nil
    }
    return YAMLPlace(line: place.line, column: place.column + (scalar.style == .plain ? 0 : 1) + column - 1)
  }

  package func error(_ problem: YAMLProblem) -> YAMLError { YAMLError(problem, at: place) }

  package var tagError: YAMLError { error(.tags) }

  package func wrongType(_ expected: String) -> YAMLError {
    error(.wrongType(key: key.isEmpty ? "the file" : key, expected: expected, found: found))
  }

  package func wrong(_ problem: String) -> YAMLError {
    error(.wrongValue(key: key, value: shown, problem: problem))
  }

  /// The value for a message.
  package var shown: String { Self.shown(string ?? "") }

  /// A text for a message: short, and without control characters.
  package static func shown(_ text: String) -> String {
    text.unicodeScalars.prefix(80).map {
      $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "\\u{\(String($0.value, radix: 16))}" : String($0)
    }.joined()
  }

  /// What it is, for a message.
  var found: String {
    switch node {
    case .mapping(let mapping): return mapping.isEmpty ? "an empty mapping" : "a mapping"
    case .sequence(let sequence): return sequence.isEmpty ? "an empty list" : "a list"
    case .alias: return "an alias"
    case .scalar(let scalar):
      if isNull { return "nothing; write a value, or remove the key" }
      guard isPlain else { return "the text “\(shown)”" }
      if Int(scalar.string) != nil { return "the number \(shown)" }
      return Self.truth[scalar.string] == nil ? "the text “\(shown)”" : shown
    }
  }

  /// How YAML 1.2 writes truth.
  static let truth = ["true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false]
}
