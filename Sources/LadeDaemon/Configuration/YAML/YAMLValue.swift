import Yams

/// A value with the keys that lead to it. What is asked of it is there, or its absence has been reported.
///
/// Where several layers say something under the same keys, the last wins. Mappings are put together key by key, as far as
/// nothing else stands between them; what is replaced isn't looked at.
struct YAMLValue {
  /// What one layer says.
  struct Layer {
    let node: Node
    let reader: YAMLReader
  }

  /// The keys, with dots between them; empty for the whole.
  let key: String
  let node: Node
  let reader: YAMLReader
  /// What later layers add to it: mappings, if it is one itself, and else nothing.
  private var additions: [Layer] = []

  init(key: String, node: Node, reader: YAMLReader) {
    self.key = key
    self.node = node
    self.reader = reader
  }

  /// What layers say together; nil if there is none.
  init?(key: String, layers: [Layer]) {
    var counting = layers[...]
    if let last = layers.lastIndex(where: { $0.node.mapping == nil }) {
      counting = last == layers.indices.last ? layers[last...] : layers[(last + 1)...]
    }
    guard let first = counting.first else { return nil }
    self.init(key: key, node: first.node, reader: first.reader)
    additions = Array(counting.dropFirst())
  }

  var place: Place? { node.mark.map(Place.init) }

  private var layers: [Layer] { [Layer(node: node, reader: reader)] + additions }

  /// An entry of a mapping: its name, where that stands, and its value.
  struct Entry {
    let name: String
    /// In each layer that has it.
    let places: [(reader: YAMLReader, place: Place?)]
    let value: YAMLValue

    /// Reports a problem with its name, wherever the name stands.
    func report(_ kind: ConfigurationProblem.Kind) {
      for (reader, place) in places { reader.report(kind, at: place) }
    }
  }

  /// The entries of a mapping in the order of the file, and after them those that later layers add.
  func entries(of meaning: String) -> [Entry]? {
    guard isWithoutTag() else { return nil }
    guard node.mapping != nil else {
      report(.wrongType(key: key.isEmpty ? "the file" : key, expected: meaning, found: found))
      return nil
    }
    return entries { layer, mapping in
      var lines: [String: Int] = [:]
      for (keyNode, _) in mapping {
        let place = keyNode.mark.map(Place.init)
        if let name = layer.reader.keySetAside(at: place) {
          if lines[name] == nil { lines[name] = place?.line }
        } else if let name = keyNode.scalar?.string {
          layer.reader.note(path(name), at: place)
        } else {
          layer.reader.report(.wrongType(key: path("?"), expected: "a word", found: "a list or a mapping"), at: place)
        }
      }
      for (keyNode, _) in mapping {
        let place = keyNode.mark.map(Place.init)
        guard layer.reader.keySetAside(at: place) == nil, let name = keyNode.scalar?.string, let first = lines[name]
        else {
          continue
        }
        layer.reader.report(.duplicateKey(path(name), firstLine: first), at: place)
      }
    }
  }

  /// The entries of a mapping that has been looked at: nothing is reported twice.
  func knownEntries() -> [Entry] { entries { _, _ in } }

  private func entries(_ look: (Layer, Node.Mapping) -> Void) -> [Entry] {
    var names: [String] = []
    var found: [String: [(layer: Layer, place: Place?)]] = [:]
    for layer in layers {
      guard let mapping = layer.node.mapping else { continue }
      look(layer, mapping)
      for (keyNode, value) in mapping {
        let place = keyNode.mark.map(Place.init)
        guard layer.reader.keySetAside(at: place) == nil, let name = keyNode.scalar?.string else { continue }
        if found[name] == nil { names.append(name) }
        found[name, default: []].append((Layer(node: value, reader: layer.reader), place))
      }
    }
    return names.compactMap { name in
      guard let places = found[name], let value = YAMLValue(key: path(name), layers: places.map(\.layer)) else {
        return nil
      }
      return Entry(name: name, places: places.map { ($0.layer.reader, $0.place) }, value: value)
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

  private func isWithoutTag() -> Bool {
    var areWithout = true
    for layer in layers {
      let plain: Tag.Name =
        switch layer.node {
        case .mapping: .map
        case .sequence: .seq
        case .scalar, .alias: .str
        }
      if layer.node.tag == Tag(plain) { continue }
      layer.reader.report(.tag, at: layer.node.mark.map(Place.init))
      areWithout = false
    }
    return areWithout
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
