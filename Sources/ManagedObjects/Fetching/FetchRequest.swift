/// What a context fetches: objects of an entity, which of them, in which order, how many.
///
/// Source: Core Data's `NSFetchRequest`; a value here, so that a request can be kept and handed on.
public struct FetchRequest<Result: ManagedObject>: Sendable {
  /// The entity's name.
  public var entityName: String
  /// Which objects; nil for all.
  public var predicate: FetchPredicate?
  /// The order. Without descriptors there is none, except that a limit or offset counts along the objects' numbers.
  public var sortDescriptors: [FetchSortDescriptor]
  /// How many objects at most; 0 for no limit.
  public var fetchLimit: Int
  /// How many objects to leave out at the beginning.
  public var fetchOffset: Int
  /// Whether objects of entities that inherit from the entity are fetched too.
  public var includesSubentities: Bool
  /// Whether the context's unsaved changes count.
  public var includesPendingChanges: Bool

  /// A request for objects of `entityName`.
  public init(
    entityName: String, predicate: FetchPredicate? = nil, sortDescriptors: [FetchSortDescriptor] = [],
    fetchLimit: Int = 0, fetchOffset: Int = 0, includesSubentities: Bool = true, includesPendingChanges: Bool = true
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
    self.includesSubentities = includesSubentities
    self.includesPendingChanges = includesPendingChanges
  }
}
