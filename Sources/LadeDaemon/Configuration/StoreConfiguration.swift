/// A data store.
package struct StoreConfiguration: Sendable, Equatable {
  package var name: String
  package var place: StorePlace
  /// The model: an `.xcdatamodeld` or `.xcdatamodel`, or a compiled `.momd` or `.mom`.
  package var model: String
  /// Whether imports may add versions to the model, in its folder.
  package var evolves = false

  /// What may become of its rows when the model has changed.
  package var migration: MigrationConfiguration

  /// Where its backups are kept, and how.
  package var backups: BackupConfiguration

  package init(
    name: String, place: StorePlace, model: String, migration: MigrationConfiguration = .init(),
    backups: BackupConfiguration = .init()
  ) {
    self.name = name
    self.place = place
    self.model = model
    self.migration = migration
    self.backups = backups
  }

  /// A store in an SQLite file.
  package init(
    name: String, path: String, model: String, migration: MigrationConfiguration = .init(),
    backups: BackupConfiguration = .init()
  ) {
    self.init(name: name, place: .file(path: path), model: model, migration: migration, backups: backups)
  }
}

extension StoreConfiguration {
  enum Key: String, CaseIterable {
    case path, postgres, direct, schema, credential, model, evolves, migration, backups
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, in folder: ConfigurationFolder, _ paths: inout DistinctPaths) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    let place = Self.place(entry, section, in: folder, &paths)
    let model = section.required(.model, "the store's model, an .xcdatamodeld or .xcdatamodel")?.path(in: folder)
    var migration: MigrationConfiguration? = MigrationConfiguration()
    if let value = section[.migration] { migration = MigrationConfiguration(value) }
    var backups: BackupConfiguration? = BackupConfiguration()
    if let value = section[.backups] { backups = BackupConfiguration(value, in: folder) }
    guard let place, let model, isNamedWell, let migration, let backups else { return nil }
    self.init(name: entry.name, place: place, model: model, migration: migration, backups: backups)
    evolves = section[.evolves]?.flag() ?? false
    if evolves, !model.hasSuffix(".xcdatamodeld"), !model.hasSuffix(".xcdatamodeld/") {
      section[.evolves]?.conflict("versions are added to an .xcdatamodeld, and the model is another")
    }
  }

  /// Where the store is; nil with a problem reported.
  private static func place(
    _ entry: YAMLValue.Entry, _ section: YAMLSection<Key>, in folder: ConfigurationFolder, _ paths: inout DistinctPaths
  ) -> StorePlace? {
    guard let postgres = section[.postgres] else {
      for key in [Key.direct, .schema, .credential] { section[key]?.conflict("only a store with `postgres` has one") }
      guard
        let path = section.required(.path, "the SQLite file of the store, which is made if it isn't there")?.path(
          in: folder)
      else { return nil }
      paths.add(path, key: entry.value.path(Key.path.rawValue), section[.path])
      return .file(path: path)
    }
    section[.path]?.conflict("there is `postgres` as well; give one of them")
    let connection = postgres.connectionString()
    var credential: String?
    if let value = section[.credential] { credential = value.credentialName() }
    let direct = section[.direct]?.connectionString()
    // One of its own for each store, so that two don't meet.
    let schema = section[.schema] == nil ? "lade_" + entry.name : section[.schema]?.schemaName()
    guard let connection, let schema, section.isWithoutProblems else { return nil }
    paths.add("\(connection) \(schema)", key: entry.value.path(Key.schema.rawValue), section[.schema] ?? postgres)
    return .postgres(PostgresPlace(connection: connection, credential: credential, direct: direct, schema: schema))
  }
}
