public import Foundation

/// One of a coordinator's stores. Safe from any thread.
///
/// It comes from ``PersistentStoreCoordinator/addPersistentStore(_:)`` and
/// ``PersistentStoreCoordinator/persistentStores``, and names a store: where new objects are saved
/// (``ManagedObjectContext/assign(_:to:)``), where a request searches (``FetchRequest/affectedStores``), which store to remove.
///
/// Source: Core Data's `NSPersistentStore`.
public final class PersistentStore: Sendable {
  /// A UUID that stays with the store's content.
  public let identifier: String
  /// The store's place; nil for a store in memory.
  public let url: URL?
  /// The configuration of the model that it was added with; nil for none. Source: `configurationName` of Core Data, which is
  /// `PF_DEFAULT_CONFIGURATION_NAME` for none.
  public let configurationName: String?
  /// The entities whose objects it holds.
  package let entities: [EntityDescription]
  /// The store itself, which reads and writes.
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

  /// Whether it holds objects of the entity itself, apart from entities that inherit from it.
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
  /// Its file or "in memory", and its identifier.
  public var description: String { "\(url?.path ?? "in memory") (\(identifier))" }
}
