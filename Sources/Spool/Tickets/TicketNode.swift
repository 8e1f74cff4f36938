import Foundation
import LadeTypes
import Yams

/// Where a node starts. Line and column count from 1.
struct TicketMark {
  let line: Int
  let column: Int

  init(_ node: Node) {
    line = node.mark?.line ?? 1
    column = node.mark?.column ?? 1
  }
}

/// A value of a ticket with the key it stands under, so that whatever is wrong with it can be said with its place.
struct TicketNode {
  let key: String
  let node: Node

  /// Throws at the first anchor, and at the first tag of the writer's own, anywhere in the tree.
  static func refuseAnchors(_ node: Node) throws(TicketError) {
    let mark = TicketMark(node)
    if node.anchor != nil {
      throw .notAllowed(what: "anchors and aliases (`&name`, `*name`)", line: mark.line, column: mark.column)
    }
    switch node {
    case .scalar:
      if node.tag != Tag(.str) { throw .notAllowed(what: "tags (`!name`)", line: mark.line, column: mark.column) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        try refuseAnchors(key)
        try refuseAnchors(value)
      }
    case .sequence(let sequence):
      for element in sequence { try refuseAnchors(element) }
    case .alias:
      throw .notAllowed(what: "aliases (`*name`)", line: mark.line, column: mark.column)
    }
  }

  /// Text: quoted, or plain and neither a number nor true, false or null.
  func text() throws(TicketError) -> String {
    guard case .string(let text) = try scalar() else { throw wrongType("text") }
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }) {
      throw wrong("it holds a control character")
    }
    if text.isEmpty { throw wrong("it is empty; leave `\(key)` out, or name something") }
    return text
  }

  func integer(_ allowed: ClosedRange<Int>) throws(TicketError) -> Int {
    guard case .int(let number) = try scalar() else { throw wrongType("a whole number") }
    guard allowed.contains(number) else {
      throw wrong("it must be from \(allowed.lowerBound) to \(allowed.upperBound)")
    }
    return number
  }

  /// A point in time of ISO 8601, with the offset from UTC: without one it would depend on where the daemon runs.
  func date() throws(TicketError) -> Date {
    let text = try self.text()
    for style in [Date.ISO8601FormatStyle.iso8601, .iso8601.time(includingFractionalSeconds: true)] {
      do { return try style.parse(text) } catch { continue }
    }
    throw wrong("write it as 2026-03-01T04:00:00Z or 2026-03-01T04:00:00+01:00")
  }

  /// An option's value: a scalar, a list, or a mapping. In a list, numbers and truth values are taken as written.
  func option() throws(TicketError) -> OptionValue {
    switch node {
    case .sequence(let sequence):
      var values: [OptionValue] = []
      for element in sequence {
        if case .scalar(let scalar) = element {
          values.append(.string(scalar.string))
        } else {
          values.append(try TicketNode(key: key, node: element).option())
        }
      }
      return .list(values)
    case .mapping: return .map(try options())
    case .scalar, .alias: return try scalar()
    }
  }

  func scalar() throws(TicketError) -> OptionValue {
    guard case .scalar(let scalar) = node else {
      throw wrongType("a single value")
    }
    guard scalar.style == .plain else { return .string(scalar.string) }
    switch scalar.string {
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    case "", "~", "null", "Null", "NULL":
      throw wrongType("a value (for an empty text write \"\")")
    default: return Int(scalar.string).map { .int($0) } ?? .string(scalar.string)
    }
  }

  /// The elements of a list; anything else is a list of one.
  func elements() -> [TicketNode] {
    guard case .sequence(let sequence) = node else { return [self] }
    return sequence.map { TicketNode(key: key, node: $0) }
  }

  /// The entries of a mapping, with the line of each key.
  func entries(of what: String = "keys to values") throws(TicketError) -> [(name: String, line: Int, value: TicketNode)]
  {
    guard case .mapping(let mapping) = node else { throw wrongType("a mapping of \(what)") }
    var entries: [(name: String, line: Int, value: TicketNode)] = []
    for (name, value) in mapping {
      let line = TicketMark(name).line
      guard case .scalar(let scalar) = name else {
        throw .wrongType(key: "the key", expected: "a word", found: "a list or a mapping", line: line, column: 1)
      }
      let path = key.isEmpty ? scalar.string : "\(key).\(scalar.string)"
      entries.append((scalar.string, line, TicketNode(key: path, node: value)))
    }
    return entries
  }

  /// The options: a mapping of any keys to values.
  func options() throws(TicketError) -> [String: OptionValue] {
    var options: [String: OptionValue] = [:]
    for entry in try entries(of: "names to values") { options[entry.name] = try entry.value.option() }
    return options
  }

  /// One of an enumeration's words.
  func word<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) throws(TicketError) -> Word {
    let text = try self.text()
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    let nearest = NearestName.of(text, among: words).map { "did you mean `\($0)`?" }
    throw wrong(nearest ?? "it is one of \(words.joined(separator: ", "))")
  }

  func flag() throws(TicketError) -> Bool {
    guard case .bool(let flag) = try scalar() else { throw wrongType("true or false") }
    return flag
  }

  /// A length of time in seconds: a number of them, or one with its unit.
  func duration() throws(TicketError) -> TimeInterval {
    guard case .scalar(let scalar) = node else { throw wrongType("a length of time such as 30s or 2h") }
    guard let duration = Duration(parsing: scalar.string, allowsBareSeconds: true), duration > .zero
    else { throw wrong("write a number and its unit (ms, s, m, h, d), such as 30s or 2h") }
    return duration.seconds
  }

  func wrongType(_ expected: String) -> TicketError {
    .wrongType(key: key, expected: expected, found: found, line: mark.line, column: mark.column)
  }

  func wrong(_ problem: String) -> TicketError {
    let value = (node.scalar?.string ?? "").prefix(80).unicodeScalars.map {
      $0.value < 0x20 ? "\\u{\(String($0.value, radix: 16))}" : String($0)
    }
    return .wrongValue(
      key: key, value: value.joined(), problem: problem, line: mark.line, column: mark.column)
  }

  var mark: TicketMark { TicketMark(node) }

  private var found: String {
    switch node {
    case .mapping: return "a mapping"
    case .sequence: return "a list"
    case .alias: return "an alias"
    case .scalar(let scalar):
      guard scalar.style == .plain else { return "the text “\(scalar.string.prefix(40))”" }
      switch scalar.string {
      case "", "~", "null", "Null", "NULL": return "nothing"
      case "true", "True", "TRUE", "false", "False", "FALSE": return "true or false; as text, put it in quotes"
      case let text where Int(text) != nil: return "the number \(text.prefix(40)); as text, put it in quotes"
      case let text: return "the text “\(text.prefix(40))”"
      }
    }
  }
}
