/// A data store.
package struct StoreConfiguration: Sendable, Equatable {
  package var name: String
  /// The SQLite file, made if it isn't there.
  package var path: String
  /// The model: an `.xcdatamodeld` or `.xcdatamodel`.
  package var model: String

  package init(name: String, path: String, model: String) {
    self.name = name
    self.path = path
    self.model = model
  }
}

extension StoreConfiguration {
  enum Key: String, CaseIterable {
    case path, model
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, in folder: ConfigurationFolder, _ paths: inout DistinctPaths) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    let path = section.required(.path, "the SQLite file of the store, which is made if it isn't there")?.path(
      in: folder)
    let model = section.required(.model, "the store's model, an .xcdatamodeld or .xcdatamodel")?.path(in: folder)
    guard let path, let model else { return nil }
    paths.add(path, key: entry.value.path(Key.path.rawValue), section[.path])
    guard isNamedWell else { return nil }
    self.init(name: entry.name, path: path, model: model)
  }
}
