import Yams

/// The keys of a ticket, each with its value, and each known.
struct TicketMapping {
  private var values: [Key: TicketNode] = [:]

  enum Key: String, CaseIterable {
    case kind, store, entity, source, mode, lane, priority, options
    case notBefore = "not_before"
    case uniqueKey = "unique_key"
    case maxAttempts = "max_attempts"
  }

  init(root: Node) throws(TicketError) {
    let mark = TicketMark(root)
    guard case .mapping(let mapping) = root else {
      if case .scalar(let scalar) = root, scalar.string.isEmpty { throw .empty }
      throw .notAMapping(line: mark.line, column: mark.column)
    }
    for (key, value) in mapping {
      let line = TicketMark(key).line
      let word = try TicketMapping.word(key, line: line)
      guard let known = Key(rawValue: word) else {
        let words = Key.allCases.map(\.rawValue).sorted()
        let shown = FileName(String(word.prefix(80))).shown
        throw .unknownKey(shown, line: line, nearest: NearestWord.to(word, among: words), known: words)
      }
      values[known] = TicketNode(key: word, node: value)
    }
  }

  /// The options: a mapping of any keys to values.
  func options() throws(TicketError) -> [String: TicketValue] {
    guard let node = values[.options] else { return [:] }
    guard case .mapping(let mapping) = node.node else { throw node.wrongType("a mapping of names to values") }
    return try Self.options(mapping, key: "options")
  }

  /// The entries of a mapping whose key is given.
  static func options(_ mapping: Node.Mapping, key: String) throws(TicketError) -> [String: TicketValue] {
    var options: [String: TicketValue] = [:]
    for (name, value) in mapping {
      let word = try word(name, line: TicketMark(name).line)
      options[word] = try TicketNode(key: "\(key).\(word)", node: value).option()
    }
    return options
  }

  subscript(key: Key) -> TicketNode? { values[key] }

  private static func word(_ key: Node, line: Int) throws(TicketError) -> String {
    guard case .scalar(let scalar) = key else {
      throw .wrongType(key: "the key", expected: "a word", found: "a list or a mapping", line: line, column: 1)
    }
    return scalar.string
  }
}

extension Ticket {
  init(_ mapping: TicketMapping) throws(TicketError) {
    self.init()
    if let node = mapping[.kind] { kind = try node.text() }
    if let node = mapping[.store] { store = try node.text() }
    if let node = mapping[.entity] { entity = try node.text() }
    if let node = mapping[.source] { source = try Source(node) }
    if let node = mapping[.mode] { mode = try Mode(node) }
    if let node = mapping[.lane] { lane = try node.text() }
    if let node = mapping[.priority] { priority = try node.integer(-1_000_000...1_000_000) }
    if let node = mapping[.notBefore] { notBefore = try node.date() }
    if let node = mapping[.uniqueKey] { uniqueKey = try node.text() }
    if let node = mapping[.maxAttempts] { maxAttempts = try node.integer(1...1000) }
    options = try mapping.options()
  }
}

extension Ticket.Mode {
  init(_ node: TicketNode) throws(TicketError) {
    let word = try node.text()
    guard let mode = Ticket.Mode(rawValue: word) else {
      let words = Ticket.Mode.allCases.map(\.rawValue)
      let nearest = NearestWord.to(word, among: words).map { "did you mean `\($0)`?" }
      throw node.wrong(nearest ?? "it is one of \(words.joined(separator: ", "))")
    }
    self = mode
  }
}

extension Ticket.Source {
  init(_ node: TicketNode) throws(TicketError) {
    let text = try node.text()
    guard text.hasPrefix("/") else {
      if text.contains("/") {
        throw node.wrong("it names a file beside the ticket, without “/”, or is an absolute path")
      }
      let name = FileName(text)
      if name.isBeingWritten {
        throw node.wrong("names with a dot at the start, or ending as this one does, are for files not yet finished")
      }
      if let refusal = name.refusal { throw node.wrong(refusal.what) }
      self = .beside(text)
      return
    }
    let components = text.split(separator: "/")
    if components.contains("..") || components.contains(".") {
      throw node.wrong("write the path out, without “.” and “..”")
    }
    guard text.utf8.count < 4096, !components.isEmpty, !text.hasSuffix("/") else {
      throw node.wrong("it is not the path of a file")
    }
    self = .absolute("/" + components.joined(separator: "/"))
  }
}
