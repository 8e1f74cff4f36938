import Yams

/// A value with the keys that lead to it. What is asked of it is there, or its absence has been reported.
struct YAMLValue {
  /// The keys, with dots between them; empty for the file itself.
  let key: String
  let node: Node
  let reader: YAMLReader

  var place: Place? { node.mark.map(Place.init) }

  /// An entry of a mapping: its name, where that stands, and its value.
  struct Entry {
    let name: String
    let place: Place?
    let value: YAMLValue
  }

  /// The entries of a mapping in the order of the file.
  func entries(of meaning: String) -> [Entry]? {
    guard isWithoutTag() else { return nil }
    guard case .mapping(let mapping) = node else {
      report(.wrongType(key: key.isEmpty ? "the file" : key, expected: meaning, found: found))
      return nil
    }
    var entries: [Entry] = []
    var lines: [String: Int] = [:]
    for (keyNode, value) in mapping {
      let place = keyNode.mark.map(Place.init)
      if let name = reader.keySetAside(at: place) {
        if lines[name] == nil { lines[name] = place?.line }
        continue
      }
      guard case .scalar(let scalar) = keyNode else {
        reader.report(.wrongType(key: path("?"), expected: "a word", found: "a list or a mapping"), at: place)
        continue
      }
      entries.append(Entry(name: scalar.string, place: place, value: child(scalar.string, value)))
    }
    for entry in entries {
      guard let first = lines[entry.name] else { continue }
      reader.report(.duplicateKey(path(entry.name), firstLine: first), at: entry.place)
    }
    return entries
  }

  /// The entries of a mapping that has been looked at: nothing is reported twice.
  func knownEntries() -> [Entry] {
    guard case .mapping(let mapping) = node else { return [] }
    return mapping.compactMap { keyNode, value in
      let place = keyNode.mark.map(Place.init)
      guard reader.keySetAside(at: place) == nil, case .scalar(let scalar) = keyNode else { return nil }
      return Entry(name: scalar.string, place: place, value: child(scalar.string, value))
    }
  }

  /// The values of a list.
  func elements(of meaning: String) -> [YAMLValue]? {
    guard isWithoutTag() else { return nil }
    guard case .sequence(let sequence) = node else {
      report(.wrongType(key: key, expected: "a list of \(meaning), such as [a, b]", found: found))
      return nil
    }
    return sequence.enumerated().map { YAMLValue(key: "\(key)[\($0 + 1)]", node: $1, reader: reader) }
  }

  /// A single value, as it was written.
  func scalar(_ expected: String) -> Node.Scalar? {
    guard isWithoutTag() else { return nil }
    guard case .scalar(let scalar) = node, !isNull(scalar) else {
      report(.wrongType(key: key, expected: expected, found: found))
      return nil
    }
    return scalar
  }

  func path(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }

  func report(_ kind: ConfigurationProblem.Kind) { reader.report(kind, at: place) }

  func conflict(_ problem: String) { report(.conflict(key: key, problem: problem)) }

  func wrong(_ problem: String) { report(.wrongValue(key: key, value: shown, problem: problem)) }

  /// Reports what is wrong at a character of the text: there, where the text stands in the file as it is.
  func wrong(_ problem: String, atColumn column: Int) {
    guard let scalar = node.scalar, let place, [.plain, .singleQuoted, .doubleQuoted].contains(scalar.style) else {
      wrong("column \(column): \(problem)")
      return
    }
    let quote = scalar.style == .plain ? 0 : 1
    reader.report(
      .wrongValue(key: key, value: shown, problem: problem),
      at: Place(line: place.line, column: place.column + quote + column - 1))
  }

  func wrongType(_ expected: String) { report(.wrongType(key: key, expected: expected, found: found)) }

  /// The value for a message: short, and without control characters.
  var shown: String {
    String(
      (node.scalar?.string ?? "").unicodeScalars.prefix(80).map {
        $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "\\u{\(String($0.value, radix: 16))}" : String($0)
      }.joined())
  }

  private func child(_ name: String, _ node: Node) -> YAMLValue {
    YAMLValue(key: path(name), node: node, reader: reader)
  }

  private func isWithoutTag() -> Bool {
    let plain: Tag.Name =
      switch node {
      case .mapping: .map
      case .sequence: .seq
      case .scalar, .alias: .str
      }
    if node.tag == Tag(plain) { return true }
    report(.tag)
    return false
  }

  private func isNull(_ scalar: Node.Scalar) -> Bool {
    scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// What it is, for a message.
  var found: String {
    switch node {
    case .mapping(let mapping): return mapping.isEmpty ? "an empty mapping" : "a mapping"
    case .sequence(let sequence): return sequence.isEmpty ? "an empty list" : "a list"
    case .alias: return "an alias"
    case .scalar(let scalar):
      if isNull(scalar) { return "nothing; write a value, or remove the key" }
      guard scalar.style == .plain else { return "the text “\(shown)”" }
      if Int(scalar.string) != nil { return "the number \(shown)" }
      return YAMLValue.truth[scalar.string] == nil ? "the text “\(shown)”" : shown
    }
  }

  /// How YAML 1.2 writes truth.
  static let truth = ["true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false]
}
