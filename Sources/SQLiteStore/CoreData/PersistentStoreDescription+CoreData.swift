public import Foundation
public import ManagedObjects
public import SQLSchema

/// Options of a Core Data store that is used in place.
public struct CoreDataStoreOptions: Sendable, Hashable {
  /// What a file that doesn't exist is made from. Apple doesn't document how the version hashes of a model are computed, so they
  /// have to come from an app.
  public enum Template: Sendable, Hashable {
    /// A store that an app wrote with the same model: its tables, triggers, hashes and model are taken, and no rows.
    case store(URL)
    /// The compiled model of the app, a `.momd` with its `VersionInfo.plist`.
    case compiledModel(URL)
    /// Core Data's version hashes of the model's entities, by name: `entityVersionHashesByName` in the app. The file keeps no
    /// model of its own then.
    case versionHashes([String: Data])
  }

  /// When a save is safe from a loss of power.
  public var durability: SQLiteStoreOptions.Durability
  /// The greatest number of connections that read at the same time.
  public var readers: Int
  /// Whether commits of other processes and coordinators post ``PersistentStoreCoordinator/remoteChangeNotification``. Core Data's
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public var remoteChangeNotifications: Bool
  /// What a file that doesn't exist is made from; nil to refuse.
  public var template: Template?
  /// How much of the store's SQL is logged, with times.
  public var sqlLog: SQLLogLevel

  /// Options. The defaults are durable: an app may get the file next.
  public init(
    template: Template? = nil, durability: SQLiteStoreOptions.Durability = .everySave, readers: Int = 4,
    remoteChangeNotifications: Bool = false, sqlLog: SQLLogLevel = .ofProcess
  ) {
    self.template = template
    self.durability = durability
    self.readers = readers
    self.remoteChangeNotifications = remoteChangeNotifications
    self.sqlLog = sqlLog
  }
}

extension PersistentStore.StoreType {
  /// An SQLite file of Core Data, used in place: see ``PersistentStoreDescription/coreData(at:configuration:options:)``.
  public static let coreData = PersistentStore.StoreType(rawValue: "CoreData")
}

extension PersistentStoreDescription {
  /// A store in the file of Core Data at `url`, used in place: an app and a server hand one file back and forth.
  ///
  /// Fetches, saves, uniqueness constraints and history work as on an SQLite store of this library. Core Data's bookkeeping is
  /// kept, so that an app opens the file afterwards as one that it has written itself. A file that doesn't exist is made from
  /// ``CoreDataStoreOptions/template``. The coordinator's model must be of its version: take the model that the file keeps by
  /// ``ManagedObjectModel/init(ofCoreDataStoreAt:classes:)``, or the app's `.momd`.
  ///
  /// Adding the description throws ``CoreDataStoreError`` where the file or the model can't be used. `docs/core-data.md` lists
  /// what that is.
  public static func coreData(
    at url: URL, configuration: String? = nil, options: CoreDataStoreOptions = .init()
  ) -> PersistentStoreDescription {
    PersistentStoreDescription(type: .coreData, url: url, configuration: configuration) { model, entities, opening in
      guard let url = opening.url else { throw PersistentStoreError.noURL(.coreData) }
      if !opening.isReadOnly, !FileManager.default.fileExists(atPath: url.path) {
        try InPlaceStore.create(at: url, model, from: options.template, timeout: opening.timeout)
      }
      return try InPlaceStore(
        at: url, model: model, entities: entities, options: options, isReadOnly: opening.isReadOnly,
        timeout: opening.timeout, report: opening.backgroundFailureHandler)
    }
  }
}

extension ManagedObjectModel {
  /// Reads the model that a Core Data store keeps of itself.
  ///
  /// - Parameter classes: as for `init(contentsOf:classes:layouts:)`.
  /// - Throws: ``CoreDataStoreError``, ``ModelError``, or ``ManagedObjectError/store(_:)``.
  public convenience init(ofCoreDataStoreAt url: URL, classes: [String: ManagedObject.Type] = [:]) throws {
    let kept = try InPlaceStore.model(at: url)
    let entities = withExtendedLifetime(kept) { kept.entities.map(\.definition) }
    try self.init(
      entities: entities, configurations: kept.configurations,
      fetchRequestTemplates: Array(kept.fetchRequestTemplates.values), versionIdentifier: kept.versionIdentifier,
      classes: classes, warnings: kept.warnings)
  }
}
