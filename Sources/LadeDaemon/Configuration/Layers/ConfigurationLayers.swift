// The layers of a configuration, of which later ones win: its file; the files of the folder beside it that has its name and
// `.d`, which end in `.yaml` and don't begin with a dot, in the order of their names' bytes; the variables of the
// environment, in that of theirs. Each is read by itself, so that all mistakes of all layers are reported at once, with the file
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

  /// Blocks. What is wrong is reported to the reading.
  init(path: String, _ reading: ConfigurationReading) {
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
