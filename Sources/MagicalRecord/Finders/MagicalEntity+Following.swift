public import ManagedObjects

extension MagicalEntity {
  /// A controller that shows all objects, or those that match, in sections or without, and follows them.
  ///
  /// It has fetched when it is returned. With groups their key path is sorted by first, where the sort term doesn't begin
  /// with it, so that the objects of a section stand together.
  ///
  /// Source: `MR_fetchAllGroupedBy:withPredicate:sortedBy:ascending:delegate:inContext:`, which leaves the order of the
  /// groups to the sort term.
  /// - Parameters:
  ///   - group: the key path of the sections' names, over to-one relationships; nil for one section.
  ///   - sortTerm: see ``requestAll(sortedBy:ascending:matching:in:)``.
  ///   - delegate: who is told of changes from now on; not kept.
  /// - Throws: the errors of ``FetchedResultsController/performFetch()``.
  public static func fetchAll(
    groupedBy group: String? = nil, matching predicate: FetchPredicate? = nil, sortedBy sortTerm: String,
    ascending: Bool = true, delegate: (any FetchedResultsControllerDelegate<Self>)? = nil,
    in context: ManagedObjectContext? = nil
  ) throws -> FetchedResultsController<Self> {
    let context = try resolved(context)
    var request = try requestAll(sortedBy: sortTerm, ascending: ascending, matching: predicate, in: context)
    if let group, request.sortDescriptors.first?.keyPath != group {
      request.sortDescriptors.insert(FetchSortDescriptor(group, ascending: ascending), at: 0)
    }
    let controller = fetchController(request, delegate: delegate, groupedBy: group, in: context)
    try controller.performFetch()
    return controller
  }

  /// A controller that shows all objects in the order of their numbers, and follows them. It has fetched.
  ///
  /// Source: `MR_fetchAllWithDelegate:inContext:`.
  public static func fetchAll(
    delegate: (any FetchedResultsControllerDelegate<Self>)?, in context: ManagedObjectContext? = nil
  ) throws -> FetchedResultsController<Self> {
    try fetchAll(sortedBy: "objectID", delegate: delegate, in: context)
  }

  /// A controller of a request that hasn't fetched yet.
  ///
  /// Source: `MR_fetchController:delegate:useFileCache:groupedBy:inContext:`; there is no cache here.
  public static func fetchController(
    _ request: FetchRequest<Self>, delegate: (any FetchedResultsControllerDelegate<Self>)? = nil,
    groupedBy group: String? = nil, in context: ManagedObjectContext
  ) -> FetchedResultsController<Self> {
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: group)
    controller.delegate = delegate
    return controller
  }
}
