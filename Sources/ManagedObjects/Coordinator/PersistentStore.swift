public import Foundation

/// One of a coordinator's stores. Safe from any thread.
///
/// It comes from ``PersistentStoreCoordinator/addPersistentStore(_:)`` and
/// ``PersistentStoreCoordinator/persistentStores``, and says which store is meant: where new objects go
/// (``ManagedObjectContext/assign(_:to:)``), where a request looks (``FetchRequest/affectedStores``), what is removed.
///
/// Source: Core Data's `NSPersistentStore`.
public final class PersistentStore: Sendable {
  /// A UUID that stays with the store's content.
  public let identifier: String
  /// Where it is; nil for a store in memory.
  public let url: URL?
  /// The configuration of the model that it was added with; nil for none. Source: `configurationName` of Core Data, which
  /// says `PF_DEFAULT_CONFIGURATION_NAME` for none.
  public let configurationName: String?
  /// The entities whose objects it holds.
  package let entities: [EntityDescription]
  /// What reads and writes it.
  package let content: any IncrementalStore
  private let indexes: Set<Int>

  init(_ content: any IncrementalStore, configuration: String?, entities: [EntityDescription]) {
    self.content = content
    self.entities = entities
    identifier = content.identifier
    url = content.url
    configurationName = configuration
    indexes = Set(entities.map(\.index))
  }

  /// The names of the entities whose objects it holds.
  public var entityNames: [String] { entities.map(\.name) }

  /// Whether it holds objects of the entity; those of entities that inherit from it aside.
  func holds(_ entity: EntityDescription) -> Bool { indexes.contains(entity.index) }

  /// Makes everything written so far survive a loss of power.
  package func synchronize() throws { try content.synchronize() }
}

extension PersistentStore: Hashable {
  /// Whether both are the same store of the same coordinator.
  public static func == (a: PersistentStore, b: PersistentStore) -> Bool { a === b }
  /// Hashes the store's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentStore: CustomStringConvertible {
  /// Its file, or that it is in memory, and its identifier.
  public var description: String { "\(url?.path ?? "in memory") (\(identifier))" }
}
