/// Files that belong together, and are imported together or not at all: `set` of a recipe, or of a job's options.
package struct FileSet: Codable, Sendable, Hashable {
  /// A set has at most this many files.
  package static let mostFiles = 200

  /// A file that each set has.
  package struct Member: Codable, Sendable, Hashable {
    package var pattern: FilePattern
    /// Whose records it holds; nil: the entity that its name says.
    package var entity: String?

    package init(_ pattern: FilePattern, entity: String? = nil) {
      self.pattern = pattern
      self.entity = entity
    }
  }

  /// What the control file counts.
  package enum Count: String, Codable, Sendable, CaseIterable { case records, files }

  /// Where checksums are.
  package enum Checksums: String, Codable, Sendable, CaseIterable {
    /// In the control file.
    case list
    /// Each in a file beside its own: `stops.csv.sha256`.
    case sidecar
  }

  /// What is checked before anything of a set is imported.
  package struct Control: Codable, Sendable, Hashable {
    package var count: Count?
    package var sha256: Checksums?
    /// Whether the last line of each file isn't a record, but holds their number.
    package var trailer = false
    /// The control file; nil: the trigger.
    package var file: FilePattern?

    package init() {}
  }

  /// Its files; none: any, each of the entity that its name says.
  package var members: [Member] = []
  /// A file that says that the set is there.
  package var trigger: FilePattern?
  package var control = Control()
  /// Seconds that an incomplete set may wait in a hot folder before it is reported; nil for ever.
  package var timeout: Double?
  /// Whether it is refused then.
  package var refusesLate = false

  package init() {}
}

/// What a file is in a set.
package enum FileRole: Sendable, Hashable {
  /// One of the files with records, by its place in ``FileSet/members``.
  case member(Int)
  case trigger
  case control
  /// The checksum of such a file.
  case checksum(Int)
}

extension FileSet {
  static let checksumEnding = ".sha256"

  /// Whether a control file must say something.
  package var needsControlFile: Bool { control.count != nil || control.sha256 == .list }

  /// Whether the control file is a file of its own.
  private var hasOwnControlFile: Bool { control.file != nil && control.file != trigger }

  /// What a file is by its name, and what tells its set from others; nil if it belongs to none.
  package func role(of name: String) -> (role: FileRole, key: String)? {
    if control.sha256 == .sidecar, name.hasSuffix(Self.checksumEnding),
      let (role, key) = plainRole(of: String(name.dropLast(Self.checksumEnding.count))), case .member(let place) = role
    {
      return (.checksum(place), key)
    }
    return plainRole(of: name)
  }

  private func plainRole(of name: String) -> (role: FileRole, key: String)? {
    var patterns: [(role: FileRole, pattern: FilePattern)] = []
    if let trigger { patterns.append((.trigger, trigger)) }
    if let file = control.file, hasOwnControlFile { patterns.append((.control, file)) }
    patterns += members.enumerated().map { (.member($0), $1.pattern) }
    var best: (role: FileRole, key: String, weight: Int)?
    for (role, pattern) in patterns where pattern.weight > best?.weight ?? -1 {
      if let key = pattern.key(of: name) { best = (role, key, pattern.weight) }
    }
    return best.map { ($0.role, $0.key) }
  }

  /// What every set has, with the words for it.
  fileprivate var wanted: [(role: FileRole, words: String)] {
    var wanted = members.enumerated().map { (FileRole.member($0), $1.pattern.description) }
    if control.sha256 == .sidecar {
      wanted += members.enumerated().map { (.checksum($0), $1.pattern.description + Self.checksumEnding) }
    }
    if let file = control.file, hasOwnControlFile { wanted.append((.control, file.description)) }
    if let trigger { wanted.append((.trigger, trigger.description)) }
    return wanted
  }

  /// The patterns of all files, for messages.
  package var patterns: [String] { wanted.map(\.words) }
}

/// The files of one set that are there.
package struct FileGroup: Sendable, Hashable {
  /// What their names have in common; empty if they have nothing but the pattern.
  package let key: String
  package fileprivate(set) var names: [FileRole: [String]] = [:]

  /// All of them, in order.
  package var all: [String] { names.values.flatMap { $0 }.sorted() }

  fileprivate var hasMember: Bool {
    names.keys.contains { role in if case .member = role { true } else { false } }
  }

  /// What the set still lacks, in words; nothing if it is complete.
  package func missing(of set: FileSet) -> [String] {
    set.wanted.compactMap { role, words in
      let found = names[role] ?? []
      if found.isEmpty { return words }
      return found.count == 1 ? nil : "one instead of \(found.count) for \(words) (\(found.joined(separator: ", ")))"
    }
  }
}

extension FileSet {
  /// The sets that files belong to, in the order of their keys, and the files that belong to none.
  ///
  /// Members whose names have nothing but the pattern, such as `stops.csv`, take any trigger, unless members of another set
  /// are there: it could be that one's.
  package func groups(of names: [String]) -> (groups: [FileGroup], strangers: [String]) {
    var found: [String: FileGroup] = [:]
    var strangers: [String] = []
    for name in names.sorted() {
      guard let (role, key) = role(of: name) else {
        strangers.append(name)
        continue
      }
      found[key, default: FileGroup(key: key)].names[role, default: []].append(name)
    }
    if found[""]?.hasMember == true, !found.contains(where: { !$0.key.isEmpty && $0.value.hasMember }) {
      for role in [FileRole.trigger, .control] where found[""]?.names[role] == nil {
        guard let other = found.values.filter({ $0.names[role] != nil }).min(by: { $0.key < $1.key }) else { continue }
        found[""]?.names[role] = other.names[role]
        found[other.key]?.names[role] = nil
      }
    }
    return (found.values.filter { !$0.names.isEmpty }.sorted { $0.key < $1.key }, strangers)
  }
}
