/// What stands for a context's source while that is being read, row by row, and each row becomes an object.
struct SourceInUse: ObjectSource {
  private var error: FetchRequestError { .readWhileMaking }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { throw error }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { throw error }
  func count(_ fetch: StoreFetch) throws -> Int { throw error }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { throw error }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { throw error }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value { throw error }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    throw error
  }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult { throw error }
  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    throw error
  }
}
