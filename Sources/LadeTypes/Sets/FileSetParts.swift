/// The files of a complete set.
package struct FileSetParts: Sendable, Hashable {
  /// A file with records.
  package struct Part: Sendable, Hashable {
    package let name: String
    /// The name by which its entity is found, if none is given.
    package let plainName: String
    package let entity: String?
    /// The file with its checksum.
    package let checksumFile: String?

    package init(name: String, plainName: String, entity: String?, checksumFile: String?) {
      (self.name, self.plainName, self.entity, self.checksumFile) = (name, plainName, entity, checksumFile)
    }
  }

  package let parts: [Part]
  /// The file that says counts and checksums.
  package let controlFile: String?
}

/// Why files are no set.
package enum FileSetProblem: Error, Sendable, Hashable, CustomStringConvertible {
  case noFiles
  case tooMany(Int)
  /// Several have one name.
  case sameName(String)
  case missing([String])
  case strangers([String], patterns: [String])
  case severalSets([String])

  package var description: String {
    switch self {
    case .noFiles: "there are no files with records"
    case .tooMany(let count): "there are \(count) files, and a set has at most \(FileSet.mostFiles)"
    case .sameName(let name): "two of the files are called “\(name)”"
    case .missing(let words): "the set isn't complete: there is no \(words.joined(separator: ", no "))"
    case .strangers(let names, let patterns):
      "\(names.prefix(5).joined(separator: ", ")) \(names.count == 1 ? "is" : "are") none of the set's files "
        + "(\(patterns.joined(separator: ", ")))"
    case .severalSets(let keys):
      "the files are of several sets: \(keys.prefix(5).map { $0.isEmpty ? "one without a mark" : $0 }.joined(separator: ", "))"
    }
  }
}

extension FileSet {
  /// The parts of a set of exactly these files.
  package func parts(of names: [String]) throws(FileSetProblem) -> FileSetParts {
    guard names.count <= Self.mostFiles else { throw .tooMany(names.count) }
    var seen = Set<String>()
    if let twice = names.first(where: { !seen.insert($0).inserted }) { throw .sameName(twice) }
    return members.isEmpty ? try partsByName(names) : try partsByPattern(names)
  }

  private func partsByPattern(_ names: [String]) throws(FileSetProblem) -> FileSetParts {
    let (groups, strangers) = groups(of: names)
    guard strangers.isEmpty else { throw .strangers(strangers, patterns: patterns) }
    guard let group = groups.first else { throw .noFiles }
    guard groups.count == 1 else { throw .severalSets(groups.map(\.key)) }
    let missing = group.missing(of: self)
    guard missing.isEmpty else { throw .missing(missing) }
    let parts = members.enumerated().compactMap { place, member in
      group.names[.member(place)]?.first.map { name in
        FileSetParts.Part(
          name: name, plainName: member.pattern.plainName, entity: member.entity,
          checksumFile: group.names[.checksum(place)]?.first)
      }
    }
    return FileSetParts(
      parts: parts, controlFile: needsControlFile ? (group.names[.control] ?? group.names[.trigger])?.first : nil)
  }

  /// Without patterns, every file is one with records that isn't the trigger, the control file or a checksum.
  private func partsByName(_ names: [String]) throws(FileSetProblem) -> FileSetParts {
    var parts: [FileSetParts.Part] = []
    var (control, trigger): (String?, String?)
    for name in names {
      if self.control.sha256 == .sidecar, name.hasSuffix(FileSet.checksumEnding),
        names.contains(String(name.dropLast(FileSet.checksumEnding.count)))
      {
        continue
      }
      if let file = self.control.file, file.key(of: name) != nil {
        control = name
      } else if let pattern = self.trigger, pattern.key(of: name) != nil {
        trigger = name
      } else {
        let checksum = name + FileSet.checksumEnding
        parts.append(
          .init(
            name: name, plainName: name, entity: nil,
            checksumFile: self.control.sha256 == .sidecar && names.contains(checksum) ? checksum : nil))
      }
    }
    guard !parts.isEmpty else { throw .noFiles }
    var missing: [String] = []
    if let pattern = self.trigger, trigger == nil, self.control.file != pattern { missing.append(pattern.description) }
    if let file = self.control.file, control == nil { missing.append(file.description) }
    if self.control.sha256 == .sidecar {
      missing += parts.filter { $0.checksumFile == nil }.map { $0.name + FileSet.checksumEnding }
    }
    guard missing.isEmpty else { throw .missing(missing) }
    return FileSetParts(parts: parts, controlFile: needsControlFile ? control ?? trigger : nil)
  }
}
