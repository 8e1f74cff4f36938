public import ManagedObjects

extension MagicalEntity {
  /// The sum of an attribute's values, of what is saved; 0 for none.
  ///
  /// ```swift
  /// let years = try Person.sum(of: \.age, matching: .equal("employer.name", .string("Acme")), in: context)
  /// ```
  /// - Throws: ``TypedPredicateError/noProperty(_:)``, and the errors of ``ManagedObjectContext/fetchDictionaries(_:)``.
  public static func sum<V: SummableAttribute>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Sum { try aggregate(.sum, attribute, predicate, context) ?? .zero }

  /// The sum of an attribute's values, of what is saved; 0 for none.
  public static func sum<V: SummableAttribute>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Sum { try aggregate(.sum, attribute, predicate, context) ?? .zero }

  /// The average of an attribute's values, of what is saved; nil for none.
  public static func average<V: SummableAttribute>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Average? { try aggregate(.average, attribute, predicate, context) }

  /// The average of an attribute's values, of what is saved; nil for none.
  public static func average<V: SummableAttribute>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V.Average? { try aggregate(.average, attribute, predicate, context) }

  /// The least of an attribute's values, of what is saved; nil for none.
  /// Source: `MR_findSmallestValueForAttribute:inContext:`.
  public static func minimum<V: AttributeValue>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.minimum, attribute, predicate, context) }

  /// The least of an attribute's values, of what is saved; nil for none.
  public static func minimum<V: AttributeValue>(
    of attribute: KeyPath<Self, V>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.minimum, attribute, predicate, context) }

  /// The greatest of an attribute's values, of what is saved; nil for none.
  /// Source: `MR_findLargestValueForAttribute:withPredicate:inContext:`.
  public static func maximum<V: AttributeValue>(
    of attribute: KeyPath<Self, V?>, matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> V? { try aggregate(.maximum, attribute, predicate, context) }

  /// The greatest of an attribute's values, of what is saved; nil for none.
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
