import LadeTypes
import StrictYAML

extension FileSet {
  enum Key: String, CaseIterable {
    case of, trigger, control, timeout
    case afterTimeout = "after_timeout"
  }

  enum ControlKey: String, CaseIterable { case count, sha256, trailer, file }

  private enum AfterTimeout: String, CaseIterable { case wait, refuse }

  private static let waits = Duration.seconds(1) ... .seconds(366 * 86_400)

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    members = section[.of]?.members() ?? []
    trigger = section[.trigger]?.pattern()
    if let control = section[.control], let section = YAMLSection<ControlKey>(control) {
      self.control.count = section[.count]?.word(of: Count.self)
      self.control.sha256 = section[.sha256]?.word(of: Checksums.self)
      self.control.trailer = section[.trailer]?.flag() ?? false
      self.control.file = section[.file]?.pattern()
      if needsControlFile, self.control.file == nil, trigger == nil, section.isWithoutProblems {
        control.conflict("there is neither a `trigger` nor a `file` that says it")
      }
      if let file = section[.file], !needsControlFile, section.isWithoutProblems {
        file.conflict("neither `count` nor `sha256: list` reads it")
      }
    }
    timeout = section[.timeout]?.duration(Self.waits)?.seconds
    if let value = section[.afterTimeout] {
      refusesLate = value.word(of: AfterTimeout.self) == .refuse
      if timeout == nil, section[.timeout] == nil { value.conflict("there is no `timeout` that it could come after") }
    }
    let patterns = members.map(\.pattern) + [trigger, control.file].compactMap { $0 }
    if Set(patterns).count < patterns.count, control.file == nil || control.file != trigger {
      section.report("two of its patterns are the same")
    }
    guard section.isWithoutProblems else { return nil }
  }
}

extension YAMLValue {
  fileprivate func pattern() -> FilePattern? {
    guard let text = text() else { return nil }
    if let pattern = FilePattern(text) { return pattern }
    wrong("it is a file's name with at most one *, without “/”, and without a dot at its beginning")
    return nil
  }

  /// A list of patterns, or a mapping of entities to one or several.
  fileprivate func members() -> [FileSet.Member]? {
    var members: [FileSet.Member] = []
    let problems = reader.reading.problems.count
    if node.isMapping {
      guard let entries = entries(of: "a mapping of entities to patterns") else { return nil }
      for entry in entries { members += entry.value.patterns().map { FileSet.Member($0, entity: entry.name) } }
    } else {
      members = patterns().map { FileSet.Member($0) }
    }
    if reader.reading.problems.count > problems { return nil }
    if members.isEmpty || members.count > FileSet.mostFiles / 4 {
      wrongType("from 1 to \(FileSet.mostFiles / 4) patterns of files, such as stops-*.csv")
    }
    return members
  }

  private func patterns() -> [FilePattern] {
    if node.string != nil { return pattern().map { [$0] } ?? [] }
    return elements(of: "patterns such as stops-*.csv")?.compactMap { $0.pattern() } ?? []
  }
}
