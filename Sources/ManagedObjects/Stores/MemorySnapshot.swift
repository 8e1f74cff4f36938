/// What a store in memory held at one moment. Costs nothing until the store is written to, which copies the tables it
/// changes then.
final class MemorySnapshot: StoreReader {
  private let tables: MemoryTables

  init(_ tables: MemoryTables) { self.tables = tables }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try tables.rows(fetch) }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try tables.ids(fetch) }
  func count(_ fetch: StoreFetch) throws -> Int { tables.count(fetch) }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try tables.dictionaries(query) }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { ids.compactMap { tables.row($0) } }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    tables.related(to: id, by: relationship)
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    tables.relatedRows(of: ids, relationship)
  }
}
