import ManagedObjects
import PostgreSQL
package import SQLSchema

/// The tables of one store, and where the values of each entity are in them: what all of its readers share.
package final class PostgresTables: Sendable {
  /// The store's identifier.
  package let identifier: String
  /// The store's name in errors.
  package let name: String
  package let schema: SchemaMap
  /// The layouts of the entities that the store holds, by the entities' indexes.
  let layouts: [Int: PostgresLayout]
  let hasOrders: Bool
  let hasDerivations: Bool
  private let scopes: [Int: IDScope]
  /// Readers of whole rows, by the indexes of the entities that they read with all that inherit from them.
  private let rowReaders: [Int: PostgresRowReader]
  /// nil when nothing is logged.
  let log: PostgresSQLLog?

  init(
    of entities: [EntityDescription], schema: SchemaMap, identifier: String, name: String, log: PostgresSQLLog? = nil
  ) {
    self.log = log
    self.identifier = identifier
    self.name = name
    self.schema = schema
    var scopes: [Int: IDScope] = [:]
    for root in Set(entities.map(\.rootEntity)) {
      for entity in root?.selfAndDescendants ?? [] { scopes[entity.index] = IDScope.of(entity, in: identifier) }
    }
    self.scopes = scopes
    var layouts: [Int: PostgresLayout] = [:]
    for entity in entities {
      layouts[entity.index] = PostgresLayout(
        entity, schema: schema, scopes: scopes, scope: IDScope.of(entity, in: identifier, isExact: true))
    }
    self.layouts = layouts
    var rowReaders: [Int: PostgresRowReader] = [:]
    for entity in entities {
      let family = entity.selfAndDescendants.compactMap { layouts[$0.index] }
      if !family.isEmpty { rowReaders[entity.index] = PostgresRowReader(family) }
    }
    self.rowReaders = rowReaders
    hasOrders = entities.contains(where: \.hasOrders)
    hasDerivations = entities.contains(where: \.hasDerivations)
  }

  func layout(of entity: EntityDescription) throws -> PostgresLayout {
    guard let layout = layouts[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    return layout
  }

  /// The layouts of the entities whose rows a fetch of `entity` may return; at least one.
  func layouts(of entity: EntityDescription, includesSubentities: Bool = true) throws -> [PostgresLayout] {
    let found = (includesSubentities ? entity.selfAndDescendants : [entity]).compactMap { layouts[$0.index] }
    guard !found.isEmpty else { throw ManagedObjectError.noStore(entity: entity.name) }
    return found
  }

  /// What makes rows of an entity, and of those that inherit from it, with all values.
  func rowReader(of entity: EntityDescription) throws -> PostgresRowReader {
    if let known = rowReaders[entity.index] { return known }
    return PostgresRowReader(try layouts(of: entity))
  }

  /// Whether the store holds the entity, or one that inherits from it.
  func holds(_ entity: EntityDescription) -> Bool {
    layouts[entity.index] != nil || entity.subentities.contains(where: holds)
  }

  /// The ID scope of an entity of which the store may hold no rows itself.
  func scope(of entity: EntityDescription) -> IDScope { scopes[entity.index] ?? .of(entity, in: identifier) }

  /// Runs `body`, and translates the server's errors into ``StoreFailure``s.
  func translating<T>(_ body: () throws -> T) throws -> T { try PostgresFailure.translating(name, body) }
}
