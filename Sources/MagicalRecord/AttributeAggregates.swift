public import Foundation
public import ManagedObjects

extension MagicalEntity {
  /// One value from the values of an attribute: their number, sum, average, least or greatest.
  ///
  /// Like every dictionary result it is computed by the stores, without unsaved changes.
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

  /// The values of an attribute, one for each object, in their order, without unsaved changes.
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

extension MagicalEntity {
  /// The sum of an attribute's values, without unsaved changes; 0 for none.
  ///
  /// ```swift
  /// let years = try Person.sum(of: \.age, matching: .equal("employer.name", .string("Acme")), in: context)
  /// ```
  /// - Throws: ``TypedPredicateError/noProperty(_:)``, and the errors of ``ManagedObjectContext/fetchDictionaries(_:)``.
  public static func sum<V: SummableAttribute>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Sum { try aggregate(.sum, attribute, predicate, context) ?? .zero }

  /// The sum of an attribute's values, without unsaved changes; 0 for none.
  public static func sum<V: SummableAttribute>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Sum { try aggregate(.sum, attribute, predicate, context) ?? .zero }

  /// The average of an attribute's values, without unsaved changes; nil for none.
  public static func average<V: SummableAttribute>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Average? { try aggregate(.average, attribute, predicate, context) }

  /// The average of an attribute's values, without unsaved changes; nil for none.
  public static func average<V: SummableAttribute>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Average? { try aggregate(.average, attribute, predicate, context) }

  /// The minimum of an attribute's values, without unsaved changes; nil for none.
  /// Source: `MR_findSmallestValueForAttribute:inContext:`.
  public static func minimum<V: AttributeValue>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.minimum, attribute, predicate, context) }

  /// The minimum of an attribute's values, without unsaved changes; nil for none.
  public static func minimum<V: AttributeValue>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.minimum, attribute, predicate, context) }

  /// The maximum of an attribute's values, without unsaved changes; nil for none.
  /// Source: `MR_findLargestValueForAttribute:withPredicate:inContext:`.
  public static func maximum<V: AttributeValue>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.maximum, attribute, predicate, context) }

  /// The maximum of an attribute's values, without unsaved changes; nil for none.
  public static func maximum<V: AttributeValue>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.maximum, attribute, predicate, context) }

  private static func aggregate<Result: AttributeValue>(
    _ function: ExpressionDescription.Aggregate, _ attribute: AnyKeyPath, _ predicate: FetchPredicate?,
    _ context: ManagedObjectContext?
  ) throws -> Result? {
    let name = try KeyPathNames.names(of: attribute).joined(separator: ".")
    return Result(
      slotValue: try aggregateOperation(function, onAttribute: name, matching: predicate, in: context))
  }
}

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

/// Numbers of which there are sums and averages. Those of whole numbers are of the default types.
public protocol SummableAttribute: AttributeValue {
  /// What a sum is: whole numbers of any size add up to an `Int`.
  associatedtype Sum: AttributeValue & AdditiveArithmetic = Int
  /// What an average is.
  associatedtype Average: AttributeValue = Double
}

extension Int: SummableAttribute {}
extension Int16: SummableAttribute {}
extension Int32: SummableAttribute {}
extension Int64: SummableAttribute {}
extension Double: SummableAttribute {
  /// A double.
  public typealias Sum = Double
}
extension Float: SummableAttribute {
  /// A double, as the store adds up.
  public typealias Sum = Double
}
extension Decimal: SummableAttribute {
  /// A decimal.
  public typealias Sum = Decimal
  /// A decimal.
  public typealias Average = Decimal
}
