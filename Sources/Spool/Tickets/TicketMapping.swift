import Yams

/// The keys of a ticket, each with its value, and each known.
struct TicketMapping {
  private var values: [Key: TicketNode] = [:]

  enum Key: String, CaseIterable {
    case kind, store, entity, source, mode, lane, priority, options
    case after, timeout, deadline, tags, batch, held
    case notBefore = "not_before"
    case uniqueKey = "unique_key"
    case uniquePeriod = "unique_period"
    case uniqueStates = "unique_states"
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

  static func word(_ key: Node, line: Int) throws(TicketError) -> String {
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
    if let node = mapping[.mode] { mode = try node.word(of: Mode.self) }
    if let node = mapping[.lane] { lane = try node.text() }
    if let node = mapping[.priority] { priority = try node.integer(-1_000_000...1_000_000) }
    if let node = mapping[.notBefore] { notBefore = try node.date() }
    if let node = mapping[.uniqueKey] { uniqueKey = try node.text() }
    if let node = mapping[.maxAttempts] { maxAttempts = try node.integer(1...1000) }
    if let node = mapping[.after] { after = try Ticket.dependencies(node) }
    if let node = mapping[.timeout] { timeout = try node.duration() }
    if let node = mapping[.deadline] { deadline = try node.date() }
    if let node = mapping[.tags] { tags = try Ticket.tags(node) }
    if let node = mapping[.batch] { batch = Int64(try node.integer(1...Int.max)) }
    if let node = mapping[.held] { isHeld = try node.flag() }
    if let node = mapping[.uniquePeriod] { uniquePeriod = try node.duration() }
    if let node = mapping[.uniqueStates] {
      uniqueStates = try Ticket.states(node)
    }
    if uniqueKey == nil, let node = mapping[.uniquePeriod] ?? mapping[.uniqueStates] {
      throw node.wrong("it says something of a `unique_key`, and there is none")
    }
    options = try mapping.options()
  }
}

extension Ticket {
  /// So many jobs may be waited for, and so many tags may be given.
  private static let mostListed = 100

  private static func dependencies(_ node: TicketNode) throws(TicketError) -> [TicketDependency] {
    if case .mapping = node.node { return [try TicketDependency(node)] }
    var dependencies = [TicketDependency]()
    for element in try node.elements() { dependencies.append(try TicketDependency(element)) }
    guard dependencies.count <= mostListed else { throw node.wrongType("a list of at most \(mostListed) jobs") }
    return dependencies
  }

  private static func states(_ node: TicketNode) throws(TicketError) -> Set<State> {
    var states = Set<State>()
    for element in try node.elements() { states.insert(try element.word(of: State.self)) }
    if states.isEmpty { throw node.wrongType("a list of at least one state") }
    return states
  }

  private static func tags(_ node: TicketNode) throws(TicketError) -> [String] {
    var tags = [String]()
    for element in try node.elements() {
      let tag = try element.text()
      if tag.contains("|") { throw element.wrong("a tag has no “|”") }
      if !tags.contains(tag) { tags.append(tag) }
    }
    guard tags.count <= mostListed else { throw node.wrongType("a list of at most \(mostListed) tags") }
    return tags
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
      if PartialNames.usual.match(name) {
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
