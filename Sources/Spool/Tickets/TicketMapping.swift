import LadeTypes
import Yams

/// The keys of a ticket, each with its value, and each known.
struct TicketMapping {
  private var values: [Key: TicketNode] = [:]

  typealias Key = JobSubmission.CodingKeys

  /// A recipe belongs to a hot folder; a ticket says everything itself.
  private static let keys = Key.allCases.filter { $0 != .recipe }

  init(root: Node) throws(TicketError) {
    let mark = TicketMark(root)
    guard case .mapping(let mapping) = root else {
      if case .scalar(let scalar) = root, scalar.string.isEmpty { throw .empty }
      throw .notAMapping(line: mark.line, column: mark.column)
    }
    for (key, value) in mapping {
      let line = TicketMark(key).line
      let word = try TicketMapping.word(key, line: line)
      guard let known = Key(rawValue: word), Self.keys.contains(known) else {
        let words = Self.keys.map(\.rawValue).sorted()
        let shown = FileName(String(word.prefix(80))).shown
        throw .unknownKey(shown, line: line, nearest: NearestName.of(word, among: words), known: words)
      }
      values[known] = TicketNode(key: word, node: value)
    }
  }

  /// The options: a mapping of any keys to values.
  func options() throws(TicketError) -> [String: OptionValue] {
    guard let node = values[.options] else { return [:] }
    guard case .mapping(let mapping) = node.node else { throw node.wrongType("a mapping of names to values") }
    return try Self.options(mapping, key: "options")
  }

  /// The entries of a mapping whose key is given.
  static func options(_ mapping: Node.Mapping, key: String) throws(TicketError) -> [String: OptionValue] {
    var options: [String: OptionValue] = [:]
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
    if let node = mapping[.kind] { submission.kind = try node.text() }
    if let node = mapping[.store] { submission.store = try node.text() }
    if let node = mapping[.entity] { submission.entity = try node.text() }
    if let node = mapping[.source] { source = try Source(node) }
    if let node = mapping[.mode] { submission.mode = try node.word(of: ImportMode.self) }
    if let node = mapping[.lane] { submission.lane = try node.text() }
    if let node = mapping[.priority] { submission.priority = try node.integer(JobSubmission.priorityRange) }
    if let node = mapping[.notBefore] { submission.notBefore = try node.date() }
    if let node = mapping[.uniqueKey] { submission.uniqueKey = try node.text() }
    if let node = mapping[.maxAttempts] { submission.maxAttempts = try node.integer(JobSubmission.attemptsRange) }
    if let node = mapping[.after] { submission.after = try Ticket.dependencies(node) }
    if let node = mapping[.timeout] { submission.timeout = try node.duration() }
    if let node = mapping[.deadline] { submission.deadline = try node.date() }
    if let node = mapping[.tags] { submission.tags = try Ticket.tags(node) }
    if let node = mapping[.batch] { submission.batch = Int64(try node.integer(1...Int.max)) }
    if let node = mapping[.isHeld] { submission.isHeld = try node.flag() }
    if let node = mapping[.uniquePeriod] { submission.uniquePeriod = try node.duration() }
    if let node = mapping[.uniqueStates] {
      submission.uniqueStates = try Ticket.states(node)
    }
    if submission.uniqueKey == nil, let node = mapping[.uniquePeriod] ?? mapping[.uniqueStates] {
      throw node.wrong("it says something of a `unique_key`, and there is none")
    }
    submission.options = try mapping.options()
  }
}

extension Ticket {
  /// So many jobs may be waited for, and so many tags may be given.
  private static let mostListed = 100

  private static func dependencies(_ node: TicketNode) throws(TicketError) -> [JobDependency] {
    if case .mapping = node.node { return [try JobDependency(node)] }
    var dependencies = [JobDependency]()
    for element in try node.elements() { dependencies.append(try JobDependency(element)) }
    guard dependencies.count <= mostListed else { throw node.wrongType("a list of at most \(mostListed) jobs") }
    return dependencies
  }

  private static func states(_ node: TicketNode) throws(TicketError) -> Set<JobState> {
    var states = Set<JobState>()
    for element in try node.elements() { states.insert(try element.word(of: JobState.self)) }
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

extension JobDependency {
  /// A job's number, or a mapping of `job` and `condition`.
  fileprivate init(_ node: TicketNode) throws(TicketError) {
    guard case .mapping = node.node else {
      self.init(job: Int64(try node.integer(1...Int.max)))
      return
    }
    let values = try node.mapping(of: CodingKeys.self)
    guard let number = values[.job] else { throw node.wrongType("a job's number, or {job: 12, condition: ended}") }
    self.init(job: Int64(try number.integer(1...Int.max)))
    if let word = values[.condition] { condition = try word.word(of: Condition.self) }
  }
}
