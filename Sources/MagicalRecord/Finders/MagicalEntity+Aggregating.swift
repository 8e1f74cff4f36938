public import ManagedObjects

extension MagicalEntity {
  /// One value from the values of an attribute: their number, sum, average, least or greatest.
  ///
  /// Like every dictionary result it is worked out by the stores, from what is saved.
  /// Source: `MR_aggregateOperation:onAttribute:withPredicate:inContext:`, which gives every result the attribute's type: an
  /// average of whole numbers is cut off there, and a double here.
  /// - Parameter attribute: an attribute's name, or a key path over to-one relationships that leads to one.
  /// - Returns: `.null` for the average, least and greatest of nothing.
  /// - Throws: the errors of ``ManagedObjectContext/fetchDictionaries(_:)``.
  public static func aggregateOperation(
    _ function: ExpressionDescription.Aggregate, onAttribute attribute: String,
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Value {
    let rows = try aggregates(function, attribute, predicate, groups: [], resolved(context))
    return rows.first?.value(forKey: aggregateKey) ?? .null
  }

  /// The same for each group of objects, in the order of what they are grouped by.
  ///
  /// Source: `MR_aggregateOperation:onAttribute:withPredicate:groupBy:inContext:`, which leaves the order open.
  /// - Parameter groups: key paths of the values that the objects of a group have in common.
  /// - Returns: for each group a dictionary that has these values under their key paths, and the result under
  ///   ``aggregateKey``.
  public static func aggregateOperation(
    _ function: ExpressionDescription.Aggregate, onAttribute attribute: String,
    matching predicate: FetchPredicate? = nil, groupBy groups: String..., in context: ManagedObjectContext? = nil
  ) throws -> [FetchedDictionary] {
    try aggregates(function, attribute, predicate, groups: groups, resolved(context))
  }

  /// The name of the result in the dictionaries of groups: `result`, as in MagicalRecord.
  public static var aggregateKey: String { "result" }

  private static func aggregates(
    _ function: ExpressionDescription.Aggregate, _ attribute: String, _ predicate: FetchPredicate?, groups: [String],
    _ context: ManagedObjectContext
  ) throws -> [FetchedDictionary] {
    var request = try requestAll(matching: predicate, in: context)
    request.propertiesToGroupBy = groups
    request.propertiesToFetch =
      groups.map(FetchedProperty.property) + [
        .expression(ExpressionDescription(aggregateKey, .aggregate(function, attribute)))
      ]
    request.sortDescriptors = groups.map { FetchSortDescriptor($0) }
    return try context.fetchDictionaries(request)
  }

  /// The values of an attribute, one for each object, in their order; of what is saved.
  ///
  /// Source: `MR_selectAttribute:ascending:inContext:`.
  public static func selectAttribute(
    _ attribute: String, ascending: Bool = true, matching predicate: FetchPredicate? = nil,
    in context: ManagedObjectContext? = nil
  ) throws -> [Value] {
    let context = try resolved(context)
    var request = try requestAll(sortedBy: attribute, ascending: ascending, matching: predicate, in: context)
    request.propertiesToFetch = [.property(attribute)]
    return try context.fetchDictionaries(request).map { $0.value(forKey: attribute) ?? .null }
  }
}
