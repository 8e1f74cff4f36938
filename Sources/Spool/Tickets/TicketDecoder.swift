// A ticket is decoded into a `JobSubmission` by the submission's own Codable code, so a new key of submissions is a key of
// tickets, too. What is kept here is what people write differently: durations such as `2h` in place of seconds, one value
// in place of a list of one, a job's number in place of a dependency. Every error names its line.

import Foundation
import LadeTypes
import StrictYAML

extension Ticket {
  /// The most jobs that may be waited for.
  private static let mostDependencies = 100

  /// Reads a ticket from the bytes of a `.job` file. They are an unprivileged user's: see rule 8 (ARCHITECTURE.md).
  package init(parsing bytes: [UInt8]) throws(TicketError) {
    self.init()
    let root: YAMLNode
    do throws(YAMLError) {
      root = try YAMLDocument(parsing: bytes, limits: .untrusted(bytes: Ticket.longest)).root
    } catch {
      throw TicketError(error, bytes: bytes.count)
    }
    if root.string?.isEmpty == true { throw .empty }
    do throws(YAMLError) {
      try read(root)
    } catch {
      throw .wrong(error)
    }
  }

  private mutating func read(_ root: YAMLNode) throws(YAMLError) {
    typealias Key = JobSubmission.CodingKeys
    let values = Dictionary(
      try root.entries(of: "a mapping of keys to values, such as `store: shop`").map { ($0.name, $0.value) }
    ) { first, _ in first }
    do {
      submission = try JobSubmission(from: TicketDecoder(node: root))
    } catch let error as YAMLError {
      throw error
    } catch {
      throw YAMLError(.notYAML(String(describing: error)), at: nil)
    }
    if let node = values[Key.source.rawValue] { source = try Source(node) }
    submission.source = nil
    if let node = values[Key.files.rawValue] { try readFiles(node, hasSource: source != nil) }
    submission.files = []
    if let node = values[Key.recipe.rawValue], source != nil || !files.isEmpty {
      throw node.wrong("a recipe's files belong into its hot folder, without a ticket")
    }
    let ranges: [(Key, ClosedRange<Int>)] = [
      (.priority, JobSubmission.priorityRange), (.maxAttempts, JobSubmission.attemptsRange), (.batch, 1...Int.max),
    ]
    for (key, range) in ranges {
      if let node = values[key.rawValue] { _ = try node.integer(range) }
    }
    if let node = values[Key.after.rawValue], node.listed.count > Self.mostDependencies {
      throw node.wrongType("a list of at most \(Self.mostDependencies) jobs")
    }
    if let problem = submission.problem, let node = values[problem.key.rawValue] {
      for element in node.listed {
        let text = try element.text()
        if text == problem.value { throw element.wrong(problem.reason) }
      }
      throw node.wrong(problem.reason)
    }
    if let node = values[Key.uniqueStates.rawValue], submission.uniqueStates?.isEmpty == true {
      throw node.wrongType("a list of at least one state")
    }
    if submission.uniqueKey == nil,
      let node = values[Key.uniquePeriod.rawValue] ?? values[Key.uniqueStates.rawValue]
    {
      throw node.wrong("it says something of a `unique_key`, and there is none")
    }
  }
}

extension Ticket {
  private mutating func readFiles(_ node: YAMLNode, hasSource: Bool) throws(YAMLError) {
    if hasSource { throw node.wrong("there is a `source`, too: name either one file or several") }
    guard (1...FileSet.mostFiles).contains(node.listed.count) else {
      throw node.wrongType("a list of 1 to \(FileSet.mostFiles) files beside the ticket")
    }
    for element in node.listed {
      guard case .beside(let name) = try Source(element), !FileName(name).isTicket else {
        throw element.wrong("the files of a set are beside the ticket")
      }
      if files.contains(name) { throw element.wrong("it is named twice") }
      files.append(name)
    }
  }
}

/// Decodes a node of a ticket.
private struct TicketDecoder: KeyCheckingDecoder {
  let node: YAMLNode
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(node: YAMLNode) { self.node = node }

  func rejectKeys(otherThan known: [String]) throws {
    let path = node.key.isEmpty ? "" : node.key + "."
    for entry in try node.members() where !known.contains(entry.name) {
      throw YAMLError(.unknownKey(entry.name, under: path, among: known), at: entry.place)
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let values = Dictionary(try node.members().map { ($0.name, $0.value) }) { first, _ in first }
    return KeyedDecodingContainer(Members<Key>(node: node, values: values))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(node: node) }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(node: node) }

  struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: YAMLNode
    let values: [String: YAMLNode]
    let codingPath: [any CodingKey] = []

    init(node: YAMLNode, values: [String: YAMLNode]) {
      self.node = node
      self.values = values
    }

    var allKeys: [Key] { values.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

    /// A key without a value is an error of the value's type, not a key that isn't there.
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try value(key).decode(type) }

    func nestedContainer<Other: CodingKey>(
      keyedBy type: Other.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Other> {
      try TicketDecoder(node: value(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      TicketDecoder(node: try value(key)).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { TicketDecoder(node: node) }

    func superDecoder(forKey key: Key) throws -> any Decoder { TicketDecoder(node: try value(key)) }

    private func value(_ key: Key) throws -> YAMLNode {
      if let value = values[key.stringValue] { return value }
      throw node.wrongType("a mapping with `\(key.stringValue)`")
    }
  }

  struct Elements: UnkeyedDecodingContainer {
    private let node: YAMLNode
    private let elements: [YAMLNode]
    private(set) var currentIndex = 0
    let codingPath: [any CodingKey] = []

    init(node: YAMLNode) {
      self.node = node
      elements = node.listed
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      try TicketDecoder(node: next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      TicketDecoder(node: try next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { TicketDecoder(node: try next()) }

    private mutating func next() throws -> YAMLNode {
      guard !isAtEnd else { throw node.wrongType("a longer list") }
      defer { currentIndex += 1 }
      return elements[currentIndex]
    }
  }

  struct Single: SingleValueDecodingContainer {
    let node: YAMLNode
    let codingPath: [any CodingKey] = []

    init(node: YAMLNode) { self.node = node }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try node.decode(type) }
  }
}

extension YAMLNode {
  /// The elements of a list; anything else is a list of one.
  fileprivate var listed: [YAMLNode] { elements ?? [self] }

  /// The entries of a mapping.
  fileprivate func members() throws(YAMLError) -> [(name: String, place: YAMLPlace?, value: YAMLNode)] {
    try entries(of: "a mapping of keys to values")
  }

  /// The value of a type that submissions have. All other types decode themselves.
  fileprivate func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value: Any? =
      switch ObjectIdentifier(type) {
      case ObjectIdentifier(String.self): try text()
      case ObjectIdentifier(Bool.self): try flag()
      case ObjectIdentifier(Int.self): try integer(Int.min...Int.max)
      case ObjectIdentifier(Int64.self): Int64(try integer(Int.min...Int.max))
      // The only numbers with a fraction are durations.
      case ObjectIdentifier(Double.self): try duration(allowsBareSeconds: true).seconds
      case ObjectIdentifier(Date.self): try date()
      case ObjectIdentifier(ImportMode.self): try word(of: ImportMode.self)
      case ObjectIdentifier(JobState.self): try word(of: JobState.self)
      case ObjectIdentifier(JobDependency.Condition.self): try word(of: JobDependency.Condition.self)
      case ObjectIdentifier([String: OptionValue].self): try options()
      case ObjectIdentifier(JobDependency.self): try dependency()
      default: nil
      }
    if let value = value as? T { return value }
    return try T(from: TicketDecoder(node: self))
  }

  /// A job's number, or a mapping of `job` and `condition`.
  private func dependency() throws -> JobDependency {
    guard isMapping else { return JobDependency(job: Int64(try integer(1...Int.max))) }
    let number = try members().first { $0.name == JobDependency.CodingKeys.job.rawValue }?.value
    guard let number else { throw wrongType("a job's number, or {job: 12, condition: ended}") }
    _ = try number.integer(1...Int.max)
    return try JobDependency(from: TicketDecoder(node: self))
  }
}

extension Ticket.Source {
  fileprivate init(_ node: YAMLNode) throws(YAMLError) {
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
