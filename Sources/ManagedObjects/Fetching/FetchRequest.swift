/// What a context fetches: objects of an entity, which of them, in which order, how many.
///
/// What comes of it is the choice of the method and not of the request, so that results are typed:
/// ``ManagedObjectContext/fetch(_:)`` brings objects, ``ManagedObjectContext/fetchBatched(_:)`` a collection that reads as
/// it goes, ``ManagedObjectContext/fetchIDs(_:)`` IDs, ``ManagedObjectContext/fetchDictionaries(_:)`` dictionaries, and
/// ``ManagedObjectContext/count(for:)`` a number.
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
  /// Whether the context's unsaved changes count. They never do in dictionary results, as in Core Data.
  public var includesPendingChanges: Bool

  /// The stores to look in, those of them that hold the entity; nil, the default, for all.
  ///
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  // Objects.

  /// How many objects are read at once when one of them is touched; 0, the default, for all at the fetch.
  ///
  /// With a batch size a fetch reads IDs alone. Of ``ManagedObjectContext/fetch(_:)`` the objects are faults then, and
  /// touching one reads the batch that it is in; ``ManagedObjectContext/fetchBatched(_:)`` makes the objects when they are
  /// asked for, too. Without values to read (``includesPropertyValues``), it has no effect.
  public var fetchBatchSize = 0
  /// Key paths of relationships whose objects are read along with those fetched: one read for each relationship and not
  /// one for each object. `projects.members` reads the projects too.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// Whether values are read and not IDs alone.
  public var includesPropertyValues = true
  /// Whether objects may be faults.
  ///
  /// There is no cache of rows between the store and the objects here: what a fetch reads is in the objects at once, and
  /// touching them costs nothing, whatever this says. It decides where values would not be read: without
  /// ``includesPropertyValues``, with some ``propertiesToFetch`` or with a ``fetchBatchSize`` objects are faults; with
  /// `false` here they come with all their values even so.
  public var returnsObjectsAsFaults = true
  /// Whether objects that the context holds take on the values that the store has now. Unsaved changes stay, as after
  /// ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  public var shouldRefreshRefetchedObjects = false

  // Dictionaries; `propertiesToFetch` of objects too.

  /// The columns of dictionary results; nil for every stored attribute. Of objects the properties to read: reading another
  /// one of such a partial fault reads the whole row.
  public var propertiesToFetch: [FetchedProperty]?
  /// Whether equal dictionaries come once.
  public var returnsDistinctResults = false
  /// Key paths of the values by which rows are grouped; one dictionary comes for each group.
  public var propertiesToGroupBy: [String] = []
  /// Which groups; its key paths are names of columns, and of ``propertiesToGroupBy``.
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
