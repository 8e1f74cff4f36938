import StrictYAML

/// A value with the keys that lead to it. What is asked of it is there, or its absence has been reported.
///
/// Where several layers say something under the same keys, the last wins. Mappings are put together key by key, as far as
/// nothing else stands between them; what is replaced isn't looked at. A `null` removes what earlier layers say under its
/// key.
struct YAMLValue {
  /// What one layer says.
  struct Layer {
    let node: YAMLNode
    let reader: YAMLReader
  }

  /// The keys, with dots between them; empty for the whole.
  let key: String
  let node: YAMLNode
  let reader: YAMLReader
  /// What later layers add to it: mappings, if it is one itself, and else nothing.
  private var additions: [Layer] = []

  init(key: String, node: YAMLNode, reader: YAMLReader) {
    self.key = key
    self.node = node.under(key)
    self.reader = reader
  }

  /// What layers say together; nil if there is none.
  init?(key: String, layers: [Layer]) {
    var counting = layers[...]
    if let last = layers.lastIndex(where: { !$0.node.isMapping }) {
      counting = last == layers.indices.last ? layers[last...] : layers[(last + 1)...]
    }
    guard let first = counting.first else { return nil }
    self.init(key: key, node: first.node, reader: first.reader)
    additions = Array(counting.dropFirst())
  }

  private var layers: [Layer] { [Layer(node: node, reader: reader)] + additions }

  /// An entry of a mapping: its name, where that stands, and its value.
  struct Entry {
    let name: String
    /// In each layer that has it.
    let places: [(reader: YAMLReader, place: YAMLPlace?)]
    let value: YAMLValue

    /// Reports a problem with its name, wherever the name stands.
    func report(_ problem: YAMLProblem) {
      for (reader, place) in places { reader.report(.yaml(problem), at: place) }
    }
  }

  /// The entries of a mapping in the order of the file, and after them those that later layers add.
  func entries(of meaning: String) -> [Entry]? {
    let tagged = layers.filter { $0.node.hasTag }
    for layer in tagged { layer.reader.report(layer.node.tagError) }
    guard tagged.isEmpty else { return nil }
    guard node.isMapping else {
      wrongType(meaning)
      return nil
    }
    for layer in layers { reportKeys(of: layer) }
    return knownEntries()
  }

  /// Notes the place of each key of a mapping, and reports keys that are no words or that are there twice.
  private func reportKeys(of layer: Layer) {
    let reader = layer.reader
    var lines: [String: Int] = [:]
    for (key, _) in layer.node.pairs {
      if let name = reader.duplicateKey(at: key.place) {
        if lines[name] == nil { lines[name] = key.place?.line }
        continue
      }
      do throws(YAMLError) {
        reader.note(path(try key.asName()), at: key.place)
      } catch {
        reader.report(error)
      }
    }
    for (key, _) in layer.node.pairs where reader.duplicateKey(at: key.place) == nil {
      guard let name = key.string, let first = lines[name] else { continue }
      reader.report(.yaml(.duplicateKey(path(name), firstLine: first)), at: key.place)
    }
  }

  /// The entries of a mapping that has been looked at: nothing is reported twice.
  func knownEntries() -> [Entry] {
    var names: [String] = []
    var found: [String: [(layer: Layer, place: YAMLPlace?)]] = [:]
    for layer in layers {
      for (key, value) in layer.node.pairs {
        guard layer.reader.duplicateKey(at: key.place) == nil, let name = key.string else { continue }
        if found[name] == nil { names.append(name) }
        if value.isWrittenNull, found[name]?.isEmpty == false {
          found[name] = []
          continue
        }
        found[name, default: []].append((Layer(node: value, reader: layer.reader), key.place))
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
    read { node throws(YAMLError) in try node.elements(of: meaning) }?
      .map { YAMLValue(key: $0.key, node: $0, reader: reader) }
  }

  func path(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }

  /// What is read of the node; nil with a problem reported.
  func read<Value>(_ body: (YAMLNode) throws(YAMLError) -> Value) -> Value? {
    do throws(YAMLError) {
      return try body(node)
    } catch {
      report(error)
      return nil
    }
  }

  private func report(_ error: YAMLError) { reader.report(error) }

  func report(_ problem: YAMLProblem) { report(node.error(problem)) }

  func conflict(_ problem: String) { report(.conflict(key: key, problem: problem)) }

  func wrong(_ problem: String) { report(node.wrong(problem)) }

  /// Reports what is wrong at a character of the text: there, where the text stands in the file as it is.
  func wrong(_ problem: String, atColumn column: Int) {
    guard let place = node.place(ofColumn: column) else {
      wrong("column \(column): \(problem)")
      return
    }
    report(YAMLError(.wrongValue(key: key, value: node.shown, problem: problem), at: place))
  }

  func wrongType(_ expected: String) { report(node.wrongType(expected)) }
}
