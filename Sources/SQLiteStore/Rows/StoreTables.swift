package import Foundation
import ManagedObjects
package import SQLSchema
import Synchronization

/// The tables of one file, and where the values of each entity are in them: what every reader of the file shares.
package final class StoreTables: Sendable {
  /// The store's identifier.
  package let identifier: String
  /// The file.
  package let url: URL
  package let schema: SchemaMap
  /// The layouts of the entities that the store holds, by the entities' indexes.
  let layouts: [Int: RowLayout]
  /// Whether there are ordered relationships.
  let hasOrders: Bool
  /// Whether there are derived attributes.
  let hasDerivations: Bool
  /// The values that may be in files beside the store; nil when no attribute allows that.
  let external: ExternalData?
  /// Look-up statements, by the indexes of the root entities.
  private let rowsByNumber = Mutex<[Int: RowsByNumber]>([:])
  /// The ID scopes of every entity in the hierarchies of which the store holds a part, by the entities' indexes.
  private let scopes: [Int: IDScope]

  init(of entities: [EntityDescription], schema: SchemaMap, identifier: String, url: URL) {
    self.identifier = identifier
    self.url = url
    self.schema = schema
    var scopes: [Int: IDScope] = [:]
    for root in Set(entities.map(\.rootEntity)) {
      for entity in root?.selfAndDescendants ?? [] {
        scopes[entity.index] = IDScope.of(entity, in: identifier)
      }
    }
    self.scopes = scopes
    external = ExternalData(of: schema, at: url)
    var layouts: [Int: RowLayout] = [:]
    for entity in entities {
      let scope = IDScope.of(entity, in: identifier, isExact: true)
      layouts[entity.index] = RowLayout(
        entity, schema: schema, scopes: scopes, scope: scope, external: external)
    }
    self.layouts = layouts
    hasOrders = entities.contains(where: \.hasOrders)
    hasDerivations = entities.contains(where: \.hasDerivations)
  }

  func layout(of entity: EntityDescription) throws -> RowLayout {
    guard let layout = layouts[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    return layout
  }

  /// The layouts of the entities whose rows a fetch of `entity` may return; at least one.
  func layouts(of entity: EntityDescription, includesSubentities: Bool = true) throws -> [RowLayout] {
    let found = (includesSubentities ? entity.selfAndDescendants : [entity]).compactMap { layouts[$0.index] }
    guard !found.isEmpty else { throw ManagedObjectError.noStore(entity: entity.name) }
    return found
  }

  /// Whether the store holds the entity, or one that inherits from it.
  func holds(_ entity: EntityDescription) -> Bool {
    layouts[entity.index] != nil || entity.subentities.contains(where: holds)
  }

  /// The ID scope of an entity of which the store may hold no rows itself.
  func scope(of entity: EntityDescription) -> IDScope { scopes[entity.index] ?? .of(entity, in: identifier) }

  /// The statements that look up the rows of an entity's hierarchy by their numbers.
  func rowsByNumber(of entity: EntityDescription) throws -> RowsByNumber {
    let root = entity.rootEntity.index
    if let known = rowsByNumber.withLock({ $0[root] }) { return known }
    let new = RowsByNumber(try layouts(of: entity.rootEntity))
    rowsByNumber.withLock { $0[root] = new }
    return new
  }

  /// Runs `body`, and translates SQLite's errors into ``StoreFailure``s.
  func translating<T>(_ body: () throws -> T) throws -> T { try SQLiteStore.translating(url, body) }
}
