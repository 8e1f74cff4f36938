import ManagedObjects
import OrderedCollections
import TestSupport

@testable import PostgresStore

/// A store with the rows of ``PredicateFixture``.
struct PredicateStore {
  private let store: PostgresStore

  init() throws {
    let model = PredicateFixture.model
    store = try PostgresStore(
      PostgresCluster.shared().address(), schema: PostgresCluster.newSchema(), model: model, entities: model.entities,
      newIdentifier: PredicateFixture.storeIdentifier)
    var changes = StoreChanges()
    for row in PredicateFixture.rows {
      var values = ContiguousArray(repeating: Value.null, count: row.entity.properties.count)
      for property in row.entity.properties { values[property.slot] = row.values[property.name] ?? .null }
      for pair in PredicateFixture.pairs
      where PredicateFixture.entity(pair.entity).rootEntity === row.entity.rootEntity && pair.from == row.id.number {
        guard let relationship = row.entity.relationshipsByName[pair.relationship] else { continue }
        let scope = IDScope.of(relationship.destinationEntity, in: PredicateFixture.storeIdentifier)
        let ids = pair.to.map { ManagedObjectID(scope: scope, number: $0) }
        values[relationship.slot] = relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids))
      }
      changes.inserted.append(StoreRow(id: row.id, values: values))
    }
    _ = try store.write(changes)
  }

  /// The numbers of the rows that `fetch` finds, in order.
  func numbers(_ fetch: StoreFetch) throws -> [Int64] { try store.rows(fetch).map(\.id.number) }

  func count(_ fetch: StoreFetch) throws -> Int { try store.count(fetch) }

  /// The statement that answers a fetch; nil when rows are selected in memory.
  func statement(_ fetch: StoreFetch) throws -> String? {
    let reader = PostgresRowReader(try store.tables.layouts(of: fetch.entity))
    return try PostgresFetch(store.tables).select(fetch, reader)?.sql
  }

  /// The statement that reads the rows from which a fetch's are selected in memory.
  func superset(_ fetch: StoreFetch) throws -> String {
    let reader = PostgresRowReader(try store.tables.layouts(of: fetch.entity))
    return try PostgresFetch(store.tables).superset(fetch, reader).sql
  }
}
