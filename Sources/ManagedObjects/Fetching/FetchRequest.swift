/// A query for objects of one entity: which, in which order, how many.
///
/// The method decides the type of the result, not the request: ``ManagedObjectContext/fetch(_:)`` returns objects,
/// ``ManagedObjectContext/fetchBatched(_:)`` a lazily read collection, ``ManagedObjectContext/fetchIDs(_:)`` IDs,
/// ``ManagedObjectContext/fetchDictionaries(_:)`` dictionaries, and ``ManagedObjectContext/count(for:)`` a number.
///
/// Source: Core Data's `NSFetchRequest`; a value type here, so that a request can be stored and shared.
public struct FetchRequest<Result: ManagedObject>: Sendable {
  /// The entity's name.
  public var entityName: String
  /// Which objects; nil for all.
  public var predicate: FetchPredicate?
  /// The order. Undefined without descriptors, except that a limit or offset then counts by object number.
  public var sortDescriptors: [FetchSortDescriptor]
  /// The maximum number of objects; 0 for no limit.
  public var fetchLimit: Int
  /// The number of objects to skip.
  public var fetchOffset: Int
  /// Whether to fetch objects of subentities too.
  public var includesSubentities: Bool
  /// Whether the context's unsaved changes count. They never do in dictionary results, as in Core Data.
  public var includesPendingChanges: Bool

  /// The stores to search, as far as they hold the entity; nil, the default, for all.
  ///
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  // Objects.

  /// The number of objects to read at once when one of them is accessed; 0, the default, reads all at the fetch.
  ///
  /// With a batch size the fetch itself reads only IDs. ``ManagedObjectContext/fetch(_:)`` then returns faults, and accessing
  /// one reads its batch; ``ManagedObjectContext/fetchBatched(_:)`` also creates the objects on demand. It has no effect
  /// without ``includesPropertyValues``.
  public var fetchBatchSize = 0
  /// Key paths of relationships whose objects to read along with the fetched ones, with one read per relationship instead of
  /// one per object. `projects.members` reads the projects too.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// Whether to read values as well as IDs.
  public var includesPropertyValues = true
  /// Whether objects may be faults.
  ///
  /// There is no row cache between store and objects: whatever a fetch reads is in the objects at once. This property matters
  /// only where values would not be read: without ``includesPropertyValues``, with ``propertiesToFetch`` or with a
  /// ``fetchBatchSize`` objects are faults, and `false` here reads all their values nevertheless.
  public var returnsObjectsAsFaults = true
  /// Whether registered objects take the store's current values. Unsaved changes stay, as after
  /// ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  public var shouldRefreshRefetchedObjects = false
  /// Whether, within a transaction of several saves, rows are left out that another transaction is changing, and those that are
  /// returned are kept from being changed by others until the end. It does nothing in a store with one writer.
  package var skipsLockedRows = false

  // Dictionaries; `propertiesToFetch` of objects too.

  /// The columns of dictionary results; nil for every stored attribute. For objects, the properties to read: accessing any
  /// other property of such a partial fault reads the whole row.
  public var propertiesToFetch: [FetchedProperty]?
  /// Whether to drop duplicate dictionaries.
  public var returnsDistinctResults = false
  /// The key paths to group rows by; the result has one dictionary per group.
  public var propertiesToGroupBy: [String] = []
  /// The condition on groups; its key paths name columns or ``propertiesToGroupBy``.
  public var havingPredicate: FetchPredicate?

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
