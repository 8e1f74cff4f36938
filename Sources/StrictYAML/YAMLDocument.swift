// Composing a text. Two invariants are kept here.
//
// A text of an unprivileged user makes no more work than its length (rule 8, ARCHITECTURE.md). YAML's aliases would let
// a few lines stand for millions of nodes, so such a text may have neither anchors nor aliases. libyaml limits how deep
// a text is nested.
//
// Everything that is wrong with a text of the operator is found in one reading. A text that can't be parsed ends it.
// But Yams also stops at a key that is there twice, which must not hide other problems. So the first of such keys is set
// aside: a letter that no file has replaces its first letter (which moves nothing in the file), its place is noted, and
// the text is composed again.

import Yams

/// How much a text may ask for.
package struct YAMLLimits: Sendable {
  /// The most bytes that are read.
  package let bytes: Int
  /// Whether the text may have anchors and aliases, and is read on behind a key that is there twice.
  let isTrusted: Bool

  /// For a text of the operator.
  package static func trusted(bytes: Int) -> YAMLLimits { YAMLLimits(bytes: bytes, isTrusted: true) }

  /// For a text that any user may have written.
  package static func untrusted(bytes: Int) -> YAMLLimits { YAMLLimits(bytes: bytes, isTrusted: false) }
}

/// The tree of a text.
package struct YAMLDocument {
  /// An empty text where the document says nothing.
  package let root: YAMLNode
  /// The keys that stand again further down in the same mapping, by the place of the first. Their nodes have other names.
  package private(set) var duplicateKeys: [YAMLPlace: String] = [:]

  package init(parsing bytes: some RandomAccessCollection<UInt8>, limits: YAMLLimits) throws(YAMLError) {
    guard bytes.count <= limits.bytes else { throw YAMLError(.tooLarge(limit: limits.bytes), at: nil) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw YAMLError(.notText, at: nil) }
    if !limits.isTrusted { try Self.refuseAliases(in: bytes) }
    var scalars = Array(text.unicodeScalars)
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    // Private use: no file has this many keys twice, and one that has is read to there.
    for replacement in UInt32(0xE000)..<0xE100 {
      let tree: Result<Node, YAMLError>
      do throws(YamlError) {
        tree = try Self.tree(String(String.UnicodeScalarView(scalars)), limits)
      } catch .duplicatedKeysInMapping(let keys, let context) {
        let key = keys.first ?? ""
        let place = YAMLPlace(context.mark)
        guard limits.isTrusted else {
          throw YAMLError(.duplicateKey(YAMLNode.shown(key), firstLine: place.line), at: place)
        }
        guard let index = Self.index(of: key, at: place, in: scalars), let replacement = Unicode.Scalar(replacement)
        else { throw YAMLError(.notYAML("this key stands here and again further down; remove one"), at: place) }
        duplicateKeys[place] = key
        scalars[index] = replacement
        continue
      } catch {
        throw YAMLError(error)
      }
      root = YAMLNode(try tree.get())
      return
    }
    throw YAMLError(.notYAML("too many keys are there twice"), at: nil)
  }

  /// The tree, or the first thing in it that isn't allowed. Without rules a plain scalar stays what was written: `NO` is a
  /// country, and 12:30 isn't 750.
  private static func tree(_ text: String, _ limits: YAMLLimits) throws(YamlError) -> Result<Node, YAMLError> {
    do {
      let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
      // A node holds its anchor weakly: while the parser lives, it is there.
      return try withExtendedLifetime(parser) {
        let root = try parser.singleRoot() ?? Node("", Tag(.str), .plain)
        if !limits.isTrusted, let error = firstNotAllowed(in: root) { return .failure(error) }
        return .success(root)
      }
    } catch let error as YamlError {
      throw error
    } catch {
      throw .reader(problem: String(describing: error), offset: nil, value: -1, yaml: text)
    }
  }

  /// Where in the text the key's first letter is, behind a quote perhaps; nil if something else stands there.
  private static func index(of key: String, at place: YAMLPlace, in scalars: [Unicode.Scalar]) -> Int? {
    guard !key.isEmpty else { return nil }
    var line = 1
    var start = 0
    while line < place.line {
      guard let end = scalars[start...].firstIndex(of: "\n") else { return nil }
      start = end + 1
      line += 1
    }
    start += place.column - 1
    guard start >= 0, start < scalars.count else { return nil }
    if scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
    return scalars[start...].starts(with: key.unicodeScalars) ? start : nil
  }

  /// Aliases are refused where the nodes are known, by their anchors. But composing them hashes the keys of mappings,
  /// and a key of aliases of aliases takes time beyond all bounds. Quotes and comments aren't known here yet, so a few of
  /// what could be aliases may pass, too few to do harm.
  private static func refuseAliases(in bytes: some RandomAccessCollection<UInt8>) throws(YAMLError) {
    var seen = 0
    var line = 1
    var column = 0
    var isBehindAsterisk = false
    for byte in bytes {
      if isBehindAsterisk, isAnchorCharacter(byte) {
        seen += 1
        if seen > 16 { throw YAMLError(.notAllowed("aliases (`*name`)"), at: YAMLPlace(line: line, column: column)) }
      }
      column += 1
      isBehindAsterisk = byte == UInt8(ascii: "*")
      if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 0) }
    }
  }

  private static func isAnchorCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The first anchor, alias or tag of the writer's own, anywhere in the tree.
  private static func firstNotAllowed(in node: Node) -> YAMLError? {
    let place = node.mark.map { YAMLPlace($0) }
    if node.anchor != nil { return YAMLError(.notAllowed("anchors and aliases (`&name`, `*name`)"), at: place) }
    if YAMLNode(node).hasTag { return YAMLError(.tags, at: place) }
    switch node {
    case .scalar: return nil
    case .mapping(let mapping):
      for (key, value) in mapping {
        if let error = firstNotAllowed(in: key) ?? firstNotAllowed(in: value) { return error }
      }
      return nil
    case .sequence(let sequence):
      for element in sequence {
        if let error = firstNotAllowed(in: element) { return error }
      }
      return nil
    case .alias: return YAMLError(.notAllowed("aliases (`*name`)"), at: place)
    }
  }
}

extension YAMLPlace {
  init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}

extension YAMLError {
  fileprivate init(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self.init(.notYAML(problem), at: YAMLPlace(mark))
    case .reader(let problem, let offset, _, let text):
      let lines = offset.map { text.prefix($0).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }
      self.init(
        .notYAML(problem), at: lines.map { YAMLPlace(line: $0.count, column: ($0.last?.count ?? 0) + 1) })
    case .memory: self.init(.notYAML("it is nested too deeply"), at: nil)
    case .duplicatedKeysInMapping, .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(.notYAML(String(describing: error)), at: nil)
    }
  }
}
