// Descriptions name the type of their store. The types of this library need no registration: the store in memory is part of
// this target, and a target above, which this one can't import, adds the SQLite store by a conformance that is looked up.

import Synchronization

extension PersistentStore {
  /// A kind of store. Source: Core Data's `NSPersistentStore.StoreType`, and its store types that are strings.
  public struct StoreType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The type's name, as in ``PersistentStoreMetadata/storeType``.
    public let rawValue: String
    /// A type of the program's own; see ``PersistentStoreCoordinator/registerStoreType(_:open:)``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An SQLite file: Core Data's `NSSQLiteStoreType`. The program must link the `SQLiteStore` library.
    public static let sqlite = StoreType(rawValue: "SQLite")
    /// A store in memory: Core Data's `NSInMemoryStoreType`.
    public static let inMemory = StoreType(rawValue: "InMemory")
    /// A store of the program's own kind whose description opens it, without a name for the type.
    public static let custom = StoreType(rawValue: "Custom")

    /// The type's name.
    public var description: String { rawValue }
  }
}

/// The types of stores that targets above this one add, by conforming it to their protocols.
package enum LinkedStoreTypes {}

/// Opens SQLite stores. ``LinkedStoreTypes`` conforms where the SQLite store is linked.
package protocol SQLiteStoreOpening: SendableMetatype {
  /// Opens a store for some of a model's entities.
  static func openSQLiteStore(
    _ model: ManagedObjectModel, _ entities: [EntityDescription], _ options: PersistentStoreDescription.OpeningOptions
  ) throws -> any IncrementalStore
}

extension PersistentStoreCoordinator {
  private static let registered = Mutex<[PersistentStore.StoreType: PersistentStoreDescription.Opening]>([:])

  /// The types of stores that descriptions can name. Source: `registeredStoreTypes` of Core Data.
  public static var registeredStoreTypes: Set<PersistentStore.StoreType> {
    var types = Set(registered.withLock { $0.keys })
    types.insert(.inMemory)
    if sqliteOpening != nil { types.insert(.sqlite) }
    return types
  }

  /// Makes a type of the program's own known to every description, also in place of one of this library.
  ///
  /// Source: `registerStoreClass(_:forStoreType:)` of Core Data.
  /// - Parameter open: opens a store of the type; nil to forget the type again.
  public static func registerStoreType(_ type: PersistentStore.StoreType, open: PersistentStoreDescription.Opening?) {
    registered.withLock { $0[type] = open }
  }

  /// What opens a store of a type.
  /// - Throws: ``PersistentStoreError/unknownType(_:known:)``.
  static func opening(of type: PersistentStore.StoreType) throws -> PersistentStoreDescription.Opening {
    if let own = registered.withLock({ $0[type] }) { return own }
    if type == .inMemory { return { _, entities, _ in InMemoryStore(entities: entities) } }
    if type == .sqlite, let sqliteOpening {
      return { model, entities, options in try sqliteOpening.openSQLiteStore(model, entities, options) }
    }
    throw PersistentStoreError.unknownType(type, known: registeredStoreTypes.sorted { $0.rawValue < $1.rawValue })
  }

  private static var sqliteOpening: (any SQLiteStoreOpening.Type)? {
    let types: Any.Type = LinkedStoreTypes.self
    return types as? any SQLiteStoreOpening.Type
  }
}
