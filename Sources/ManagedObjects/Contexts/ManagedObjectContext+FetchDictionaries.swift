import Foundation

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
        for column in conversions { rows[row][column] = rows[row][column].number(as: types[column]) }
      }
    }
    return rows.map { FetchedDictionary(columns, $0) }
  }
}

extension Value {
  /// A number as another type of number, cut off where that is whole; other values as they are. A number that the type
  /// can't hold is nil.
  fileprivate func number(as type: AttributeType) -> Value {
    switch (self, type) {
    case (.int, .integer16), (.int, .integer32), (.int, .integer64), (.double, .double), (.decimal, .decimal),
      (.bool, .boolean):
      return self
    case (.int(let number), .boolean): return .bool(number != 0)
    case (.int(let number), .double), (.int(let number), .float): return .double(Double(number))
    case (.int(let number), .decimal): return .decimal(Decimal(number))
    case (.bool(let bool), _) where type != .boolean: return Value.int(bool ? 1 : 0).number(as: type)
    case (.double(let number), .float): return .double(Double(Float(number)))
    case (.double(let number), .decimal): return Decimal(string: "\(number)").map(Value.decimal) ?? .null
    case (.double(let number), .boolean): return .bool(number != 0)
    case (.double(let number), _) where type.isInteger:
      return Int64(exactly: number.rounded(.towardZero)).map(Value.int) ?? .null
    case (.decimal(let number), .double), (.decimal(let number), .float):
      return Double(number.description).map { Value.double($0).number(as: type) } ?? .null
    case (.decimal(let number), .boolean): return .bool(number != 0)
    case (.decimal(var number), _) where type.isInteger:
      var whole = Decimal()
      NSDecimalRound(&whole, &number, 0, number < 0 ? .up : .down)
      return whole.wholeInt64.map(Value.int) ?? .null
    default: return self
    }
  }
}
