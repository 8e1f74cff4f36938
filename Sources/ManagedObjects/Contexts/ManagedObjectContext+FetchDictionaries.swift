extension ManagedObjectContext {
  /// What a request asks of the rows it finds, or of groups of them: a dictionary for each.
  ///
  /// Read from the stores as they are: unsaved changes of this context or of its parents don't count.
  /// Source: `NSFetchRequestResultType.dictionaryResultType` of Core Data, whose documentation says so of
  /// `includesPendingChanges`. Beyond Core Data, groups can be sorted by aggregates.
  /// - Throws: ``FetchRequestError`` when the request can't be carried out as it is put together, an unknown entity, a
  ///   key path that doesn't fit it, or the store's error.
  public func fetchDictionaries<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [FetchedDictionary] {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    var unsorted = request
    unsorted.sortDescriptors = []
    let (query, names, types) = try request.query(bind(unsorted))
    let columns = FetchedDictionary.Columns(names)
    var rows = try source.dictionaries(query)
    let conversions = types.indices.filter { types[$0] != .undefined }
    if !conversions.isEmpty {
      for row in rows.indices {
        for column in conversions { rows[row][column] = rows[row][column].converted(to: types[column]) }
      }
    }
    return rows.map { FetchedDictionary(columns, $0) }
  }
}
