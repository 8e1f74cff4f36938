// The layers of a configuration, of which later ones win: its file; the files of the folder beside it that has its name and
// `.d`, which end in `.yaml` and don't begin with a dot, in the order of their names' bytes; the variables of the
// environment, in that of theirs; and the recipes that clients have saved, if these say so, but for those of a name that
// they have themselves. Each is read by itself, so that all mistakes of all layers are reported at once, with the file
// and line or the variable.

import Foundation

/// Reads the layers of a configuration.
struct ConfigurationLayers {
  let path: String
  let reading: ConfigurationReading
  /// The trees of those that say something, the first first.
  private(set) var layers: [YAMLValue.Layer] = []
  /// Whether each could be read.
  private(set) var areWhole = true
  /// The layers that problems are reported for, in this order.
  private(set) var names: [String] = []
  /// The saved recipes among them: their names, by their files. What is wrong with one keeps nothing else from being read.
  private(set) var savedRecipes: [String: String] = [:]
  /// The files of saved recipes that may mask values. One with a mistake can't be left out: what it masks is unknown then, and
  /// would be imported in clear by other ways.
  private(set) var maskingFiles: Set<String> = []

  /// Blocks. What is wrong is reported to the reading.
  /// - Parameters:
  ///   - saved: the recipes that clients have saved; nil for those in the folder of the state that the layers name.
  ///   - change: what is to become of a saved recipe, as if it had been done.
  init(
    path: String, _ reading: ConfigurationReading, saved: SavedRecipes? = nil, with change: SavedRecipes.Change? = nil
  ) {
    self.path = path
    self.reading = reading
    add(path)
    for file in extraFiles() { add(file) }
    for variable in ConfigurationVariable.all(in: reading.environment) {
      names.append(variable.name)
      let reader = YAMLReader(file: variable.name, reading: reading, isVariable: true)
      guard let node = variable.tree(by: reader, over: layers) else {
        areWhole = false
        continue
      }
      layers.append(YAMLValue.Layer(node: node, reader: reader))
    }
    addSavedRecipes(saved, with: change)
  }

  private mutating func add(_ file: String) {
    names.append(file)
    let reader = YAMLReader(file: file, reading: reading)
    guard let bytes = Self.bytes(ofFile: file, reader), let node = reader.compose(bytes) else {
      areWhole = false
      return
    }
    // A file of comments says nothing, and is none the worse for it.
    if node.string?.isEmpty == true { return }
    if !node.isMapping {
      _ = YAMLSection<DaemonConfiguration.Key>(YAMLValue(key: "", node: node, reader: reader))
      areWhole = false
    } else {
      layers.append(YAMLValue.Layer(node: node, reader: reader))
    }
  }

  /// The files of the folder beside the file.
  private mutating func extraFiles() -> [String] {
    let folder = path + ".d"
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { folder + "/" + $0 }
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return []
    } catch {
      areWhole = false
      names.append(folder)
      YAMLReader(file: folder, reading: reading).report(.unreadable(SystemFailure(error).description))
      return []
    }
  }

  /// The saved recipes, if the other layers have them used.
  private mutating func addSavedRecipes(_ known: SavedRecipes?, with change: SavedRecipes.Change?) {
    let said = layers.flatMap { layer in layer.node.pairs.map { (key: $0.key.string, value: $0.value, layer.reader) } }
    // What is wrong with these values is reported when they are read for good.
    guard
      said.last(where: { $0.key == DaemonConfiguration.Key.saveRecipes.rawValue })?.value.string?.lowercased() == "true"
    else {
      return
    }
    let state = said.last { $0.key == DaemonConfiguration.Key.state.rawValue }.flatMap { said in
      said.value.string.map { (said.2.isVariable ? .working : ConfigurationFolder(of: path)).resolve($0) }
    }
    let taken = Set(
      said.filter { $0.key == DaemonConfiguration.Key.recipes.rawValue }.flatMap { $0.value.pairs.map(\.key.string) })
    let saved = known ?? SavedRecipes(state: state ?? DaemonConfiguration().state)
    do {
      let names = Set(try saved.names()).union([change].compactMap { $0?.text == nil ? nil : $0?.name })
      for name in names.sorted() where !taken.contains(name) {
        guard change?.name == name else {
          add(name, of: saved, text: nil)
          continue
        }
        if let text = change?.text { add(name, of: saved, text: text) }
      }
    } catch CocoaError.fileReadNoPermission where reading.isOnlyChecked {
      // A person who checks a configuration may not see the daemon's state.
    } catch {
      areWhole = false
      names.append(saved.folder)
      YAMLReader(file: saved.folder, reading: reading).report(.unreadable(SystemFailure(error).description))
    }
  }

  /// - Parameter text: what the file is to say; nil for what it says.
  private mutating func add(_ name: String, of saved: SavedRecipes, text: String?) {
    let file = saved.path(of: name)
    names.append(file)
    savedRecipes[file] = name
    let reader = YAMLReader(file: file, reading: reading, isSaved: true)
    guard let bytes = text.map({ Data($0.utf8) }) ?? Self.bytes(ofFile: file, reader) else {
      maskingFiles.insert(file)
      return
    }
    if bytes.range(of: Data("mask".utf8)) != nil { maskingFiles.insert(file) }
    guard let node = reader.compose(bytes) else { return }
    let recipes = node.pairs.count == 1 ? node.pairs.first : nil
    guard let recipes, recipes.key.string == DaemonConfiguration.Key.recipes.rawValue,
      recipes.value.pairs.map(\.key.string) == [name]
    else {
      let problem = "a saved recipe says `recipes.\(name)` and nothing else: remove the file, or its other keys"
      reader.report(.unfit(key: "recipes.\(name)", problem: problem))
      return
    }
    layers.append(YAMLValue.Layer(node: node, reader: reader))
  }

  private static func bytes(ofFile path: String, _ reader: YAMLReader) -> Data? {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { file.closeFile() }
      // One byte more than may be there, so that a file that is too large is seen to be.
      return try file.read(upToCount: YAMLReader.longest + 1) ?? Data()
    } catch {
      reader.report(.unreadable(SystemFailure(error).description))
      return nil
    }
  }
}
