/// A data store.
package struct StoreConfiguration: Sendable, Equatable {
  package var name: String
  /// The SQLite file, made if it isn't there.
  package var path: String
  /// The model: an `.xcdatamodeld` or `.xcdatamodel`, or a compiled `.momd` or `.mom`.
  package var model: String
  /// Whether imports may add versions to the model, in its folder.
  package var evolves = false

  /// What may become of its rows when the model has changed.
  package var migration: MigrationConfiguration

  /// Where its backups are kept, and how.
  package var backups: BackupConfiguration

  package init(
    name: String, path: String, model: String, migration: MigrationConfiguration = .init(),
    backups: BackupConfiguration = .init()
  ) {
    self.name = name
    self.path = path
    self.model = model
    self.migration = migration
    self.backups = backups
  }
}

extension StoreConfiguration {
  enum Key: String, CaseIterable {
    case path, model, evolves, migration, backups
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, in folder: ConfigurationFolder, _ paths: inout DistinctPaths) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    let path = section.required(.path, "the SQLite file of the store, which is made if it isn't there")?.path(
      in: folder)
    let model = section.required(.model, "the store's model, an .xcdatamodeld or .xcdatamodel")?.path(in: folder)
    var migration: MigrationConfiguration? = MigrationConfiguration()
    if let value = section[.migration] { migration = MigrationConfiguration(value) }
    var backups: BackupConfiguration? = BackupConfiguration()
    if let value = section[.backups] { backups = BackupConfiguration(value, in: folder) }
    guard let path, let model else { return nil }
    paths.add(path, key: entry.value.path(Key.path.rawValue), section[.path])
    guard isNamedWell, let migration, let backups else { return nil }
    self.init(name: entry.name, path: path, model: model, migration: migration, backups: backups)
    evolves = section[.evolves]?.flag() ?? false
    if evolves, !model.hasSuffix(".xcdatamodeld"), !model.hasSuffix(".xcdatamodeld/") {
      section[.evolves]?.conflict("versions are added to an .xcdatamodeld, and the model is another")
    }
  }
}
