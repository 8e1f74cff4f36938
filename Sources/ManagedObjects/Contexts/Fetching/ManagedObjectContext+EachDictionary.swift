extension ManagedObjectContext {
  /// Calls `take` with what a request asks of each row it finds, in order, as the store reads it: what
  /// ``fetchDictionaries(_:)`` brings, without ever holding more than a row. The values stand in the order of the
  /// request's columns, and are good until `take` returns.
  ///
  /// A context that is pinned to a query generation reads one state of the store from the first row to the last, and may
  /// read of that state within `take`. One that isn't mustn't read there.
  /// - Throws: what ``fetchDictionaries(_:)`` throws; what `take` throws, which ends the fetch.
  package func eachDictionary<T: ManagedObject>(
    _ request: FetchRequest<T>, _ take: (ContiguousArray<Value>) throws -> Void
  ) throws {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    var unsorted = request
    unsorted.sortDescriptors = []
    let (query, _, types) = try request.query(bind(unsorted))
    let conversions = types.indices.filter { types[$0] != .undefined }
    if conversions.isEmpty { return try source.eachDictionary(query, take) }
    try source.eachDictionary(query) { row in
      var row = row
      for column in conversions { row[column] = row[column].converted(to: types[column]) }
      try take(row)
    }
  }

  /// The rows at the other end of a to-many relationship of several saved objects, each one's in their order if they have
  /// one. Unsaved changes don't count.
  package func relatedRows(
    of ids: [ManagedObjectID], _ relationship: RelationshipDescription
  ) throws -> [RelatedRow] {
    home.check()
    return try source.relatedRows(of: ids, relationship)
  }

  /// The rows that exist of those asked for, in any order, as the store has them; of a pinned context, as it had them.
  package func existingRows(of ids: [ManagedObjectID]) throws -> [StoreRow] {
    home.check()
    return try source.rows(with: ids)
  }
}
