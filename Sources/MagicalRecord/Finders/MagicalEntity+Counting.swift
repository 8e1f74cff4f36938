public import ManagedObjects

extension MagicalEntity {
  /// How many objects there are, or how many match. Source: `MR_countOfEntitiesWithPredicate:inContext:`.
  public static func countOfEntities(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Int {
    let context = try resolved(context)
    return try context.count(for: requestAll(matching: predicate, in: context))
  }

  /// Whether there is an object, or one that matches. Source: `MR_hasAtLeastOneEntityInContext:`.
  public static func hasAtLeastOneEntity(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Bool {
    let context = try resolved(context)
    var request = try requestAll(matching: predicate, in: context)
    request.fetchLimit = 1
    return try context.count(for: request) > 0
  }

  /// The object whose attribute is least, of those that match; nil for none. Objects without a value don't count.
  /// Source: `MR_objectWithMinValueFor:`.
  public static func objectWithMinValue(
    for attribute: String, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    try extreme(attribute, ascending: true, predicate, context)
  }

  /// The object whose attribute is greatest, of those that match; nil for none. Objects without a value don't count.
  public static func objectWithMaxValue(
    for attribute: String, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    try extreme(attribute, ascending: false, predicate, context)
  }

  private static func extreme(
    _ attribute: String, ascending: Bool, _ predicate: FetchPredicate?, _ context: ManagedObjectContext?
  ) throws -> Self? {
    let hasValue = FetchPredicate.notEqual(attribute, .null)
    let context = try resolved(context)
    var request = try requestAll(matching: predicate.map { $0 && hasValue } ?? hasValue, in: context)
    request.sortDescriptors = [FetchSortDescriptor(attribute, ascending: ascending)]
    request.fetchLimit = 1
    return try context.fetch(request).first
  }
}
