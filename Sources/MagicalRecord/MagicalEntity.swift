public import ManagedObjects

/// Classes whose objects can be found, counted, made and deleted by the class: every class that a model knows.
///
/// The context is the calling thread's unless one is given (see ``MagicalRecord/contextForCurrentThread()``), and must be
/// used where it belongs. Every method throws ``ManagedObjectError/unknownEntity(name:known:)`` when no entity of the
/// context's model has objects of this class, and the errors of ``ManagedObjectContext/fetch(_:)``.
///
/// Source: the categories of `NSManagedObject` in MagicalRecord, without their prefix.
public protocol MagicalEntity: ManagedObject {}

extension ManagedObject: MagicalEntity {}

extension MagicalEntity {
  static func resolved(_ context: ManagedObjectContext?) throws -> ManagedObjectContext {
    try context ?? MagicalRecord.contextForCurrentThread()
  }

  /// The entity whose objects are of this class. Source: `MR_entityDescriptionInContext:`.
  public static func entityDescription(in context: ManagedObjectContext? = nil) throws -> EntityDescription {
    try entity(in: resolved(context))
  }

  static func entity(in context: ManagedObjectContext) throws -> EntityDescription {
    guard let entity = context.model.entities.first(where: { $0.objectClass == Self.self }) else {
      throw ManagedObjectError.unknownEntity(name: "\(Self.self)", known: context.model.entities.map(\.name))
    }
    return entity
  }

  /// The name of the entity whose objects are of this class: in the context's model, or without a context in the model that was
  /// made last of those that name the class. Source: `MR_entityName`.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)``, or
  ///   ``ManagedObjectError/severalEntities(className:entities:)``.
  public static func entityName(in context: ManagedObjectContext? = nil) throws -> String {
    try context.map { try entity(in: $0).name } ?? knownEntity().name
  }

  /// The batch size of the requests that ``requestAll(sortedBy:ascending:matching:in:)`` and what builds on it make, of every
  /// class; 0, the default, reads all objects at the fetch. In MagicalRecord it is 20 at first. Safe from any thread.
  /// Source: `MR_defaultBatchSize`, `MR_setDefaultBatchSize:`.
  public static var defaultBatchSize: Int {
    get { MagicalRecord.defaultBatchSize }
    set { MagicalRecord.defaultBatchSize = newValue }
  }

  // MARK: Requests

  /// A request for all objects.
  /// - Parameters:
  ///   - sortTerm: attributes in order, such as `"name"` or `"lastName,age:NO"`, where `:NO` descends.
  ///   - ascending: how attributes are sorted that don't say.
  public static func requestAll(
    sortedBy sortTerm: String? = nil, ascending: Bool = true, matching predicate: FetchPredicate? = nil,
    in context: ManagedObjectContext? = nil
  ) throws -> FetchRequest<Self> {
    let sort = try sortTerm.map { try FetchSortDescriptor.list($0, ascending: ascending) } ?? []
    var request = FetchRequest<Self>(
      entityName: try entity(in: resolved(context)).name, predicate: predicate, sortDescriptors: sort)
    request.fetchBatchSize = defaultBatchSize
    return request
  }

  /// A request for the objects whose attribute has a value.
  public static func requestAll(
    where attribute: String, isEqualTo value: some AttributeValue, in context: ManagedObjectContext? = nil
  ) throws -> FetchRequest<Self> {
    try requestAll(matching: .equal(attribute, value.slotValue), in: context)
  }

  /// A request for the first object that matches. Source: `MR_requestFirstWithPredicate:inContext:`.
  public static func requestFirst(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext? = nil
  ) throws -> FetchRequest<Self> {
    var request = try requestAll(matching: predicate, in: context)
    request.fetchLimit = 1
    return request
  }

  /// A request for the first object whose attribute has a value. Source: `MR_requestFirstByAttribute:withValue:inContext:`.
  public static func requestFirst(
    by attribute: String, with value: some AttributeValue, in context: ManagedObjectContext? = nil
  ) throws -> FetchRequest<Self> {
    try requestFirst(matching: .equal(attribute, value.slotValue), in: context)
  }

  /// Fetches. Source: `MR_executeFetchRequest:inContext:`.
  public static func executeFetchRequest(
    _ request: FetchRequest<Self>, in context: ManagedObjectContext? = nil
  ) throws -> [Self] {
    try resolved(context).fetch(request)
  }

  /// Fetches the first object; nil for none. Source: `MR_executeFetchRequestAndReturnFirstObject:inContext:`.
  public static func executeFetchRequestAndReturnFirstObject(
    _ request: FetchRequest<Self>, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    var request = request
    request.fetchLimit = 1
    return try executeFetchRequest(request, in: context).first
  }

  // MARK: Finding

  /// All objects, or those that match. See ``requestAll(sortedBy:ascending:matching:in:)`` for the sort term.
  public static func findAll(
    sortedBy sortTerm: String? = nil, ascending: Bool = true, matching predicate: FetchPredicate? = nil,
    in context: ManagedObjectContext? = nil
  ) throws -> [Self] {
    let context = try resolved(context)
    return try context.fetch(requestAll(sortedBy: sortTerm, ascending: ascending, matching: predicate, in: context))
  }

  /// The objects whose attribute has a value.
  public static func find(
    by attribute: String, with value: some AttributeValue, orderedBy sortTerm: String? = nil, ascending: Bool = true,
    in context: ManagedObjectContext? = nil
  ) throws -> [Self] {
    try findAll(
      sortedBy: sortTerm, ascending: ascending, matching: .equal(attribute, value.slotValue), in: context)
  }

  /// The first object that matches, in the order given or else in the order of the objects' numbers; nil for none.
  /// - Parameter attributes: the attributes to read at once; others are read on demand. nil for all.
  ///   Source: `MR_findFirstWithPredicate:sortedBy:ascending:inContext:andRetrieveAttributes:`.
  public static func findFirst(
    orderedBy sortTerm: String? = nil, ascending: Bool = true, matching predicate: FetchPredicate? = nil,
    andRetrieve attributes: [String]? = nil, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    var request = try requestAll(sortedBy: sortTerm, ascending: ascending, matching: predicate, in: context)
    request.propertiesToFetch = attributes?.map(FetchedProperty.property)
    return try executeFetchRequestAndReturnFirstObject(request, in: context)
  }

  /// The first object whose attribute has a value; nil for none.
  public static func findFirst(
    by attribute: String, with value: some AttributeValue, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    try findFirst(matching: .equal(attribute, value.slotValue), in: context)
  }

  /// The first object whose attribute has a value, or a new one that has it.
  public static func findFirstOrCreate(
    by attribute: String, with value: some AttributeValue, in context: ManagedObjectContext? = nil
  ) throws -> Self {
    let context = try resolved(context)
    if let found = try findFirst(by: attribute, with: value, in: context) { return found }
    let object = try createEntity(in: context)
    try object.setValue(value.slotValue, forKey: attribute)
    return object
  }
}

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
  ///   - delegate: receives later changes; not retained.
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

  /// Fetches a controller's objects. An error is logged, and passed to the handler of
  /// ``MagicalRecord/setErrorHandler(_:)``. Returns whether it succeeded. Source: `MR_performFetch:`.
  @discardableResult
  public static func performFetch(_ controller: FetchedResultsController<Self>) -> Bool {
    do {
      try controller.performFetch()
      return true
    } catch {
      MagicalRecord.handle(error, "the objects of \(Self.self) couldn't be fetched")
      return false
    }
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

extension FetchSortDescriptor {
  /// What a sort term of MagicalRecord stands for: attributes with commas between them, each of which may say its
  /// direction as `:YES` or `:NO`.
  /// - Throws: ``MagicalRecordError/sortTerm(_:)``.
  static func list(_ term: String, ascending: Bool) throws -> [FetchSortDescriptor] {
    try term.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let words = part.split(separator: ":", omittingEmptySubsequences: false).map {
        String($0.filter { !$0.isWhitespace })
      }
      guard let name = words.first, !name.isEmpty, words.count <= 2 else { throw MagicalRecordError.sortTerm(term) }
      guard words.count == 2 else { return FetchSortDescriptor(name, ascending: ascending) }
      switch words[1].uppercased() {
      case "YES", "TRUE", "1": return FetchSortDescriptor(name, ascending: true)
      case "NO", "FALSE", "0": return FetchSortDescriptor(name, ascending: false)
      default: throw MagicalRecordError.sortTerm(term)
      }
    }
  }
}

extension MagicalEntity {
  /// Descriptors that sort by attributes, all of them upwards or downwards. An attribute may say its direction as in a sort
  /// term: `"age:NO"`.
  /// Source: `MR_sortAscending:attributes:`, `MR_ascendingSortDescriptors:`, `MR_descendingSortDescriptors:`.
  /// - Throws: ``MagicalRecordError/sortTerm(_:)``.
  public static func sortAscending(_ ascending: Bool, attributes: [String]) throws -> [FetchSortDescriptor] {
    try attributes.flatMap { try FetchSortDescriptor.list($0, ascending: ascending) }
  }
}

extension MagicalEntity {
  /// Inserts a new object.
  @discardableResult
  public static func createEntity(in context: ManagedObjectContext? = nil) throws -> Self {
    try resolved(context).insert(Self.self)
  }

  /// Inserts a new object of an entity, for a class that several entities have.
  /// Source: `MR_createEntityWithDescription:inContext:`; an object without a context there can't be here.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` when the entity's objects are not of this class.
  @discardableResult
  public static func createEntity(
    with description: EntityDescription, in context: ManagedObjectContext? = nil
  ) throws -> Self {
    let context = try resolved(context)
    guard description.objectClass is Self.Type, context.model.entitiesByName[description.name] === description else {
      throw ManagedObjectError.unknownEntity(
        name: description.name,
        known: context.model.entities.filter { $0.objectClass is Self.Type }.map(\.name))
    }
    let object = try context.insert(description)
    // The entity's class is a subclass of Self, as was just checked.
    return unsafeDowncast(object, to: Self.self)
  }

  /// Whether the object is marked for deletion, or gone. Source: `MR_isEntityDeleted`.
  public var isEntityDeleted: Bool { isDeleted || managedObjectContext == nil }

  /// Marks the object for deletion by the next save. Returns whether it was a context's.
  /// Source: `MR_deleteEntity`.
  @discardableResult
  public func deleteEntity() -> Bool {
    guard let context = managedObjectContext else { return false }
    context.delete(self)
    return true
  }

  /// Marks the same object in another context for deletion by that context's next save, which must be used where it
  /// belongs. Returns whether that context has it.
  /// Source: `MR_deleteEntityInContext:`.
  @discardableResult
  public func deleteEntity(in other: ManagedObjectContext) throws -> Bool {
    if other === managedObjectContext { return deleteEntity() }
    do {
      return try inContext(other).deleteEntity()
    } catch ManagedObjectError.objectNotFound {
      return false
    }
  }

  /// Marks the objects that match for deletion, with the model's delete rules. Returns how many.
  /// Source: `MR_deleteAllMatchingPredicate:`.
  @discardableResult
  public static func deleteAll(
    matching predicate: FetchPredicate, in context: ManagedObjectContext? = nil
  ) throws -> Int {
    try delete(findAll(matching: predicate, in: context))
  }

  /// Marks every object for deletion, with the model's delete rules. Returns how many.
  /// Source: `MR_truncateAll`.
  @discardableResult
  public static func truncateAll(in context: ManagedObjectContext? = nil) throws -> Int {
    try delete(findAll(in: context))
  }

  private static func delete(_ objects: [Self]) -> Int {
    for object in objects { object.deleteEntity() }
    return objects.count
  }

  /// The same object in another context, which must be used where it belongs, as must the object's own. A new object
  /// gets its permanent ID for it; the other context finds it once it is saved.
  /// Source: `MR_inContext:`.
  /// - Throws: ``ManagedObjectError/objectNotFound(_:)`` when the other context can't find it.
  public func inContext(_ other: ManagedObjectContext) throws -> Self {
    if let context = managedObjectContext, objectID.isTemporaryID { try context.obtainPermanentIDs(for: [self]) }
    guard let object = try other.existingObject(with: objectID) as? Self else {
      throw ManagedObjectError.objectNotFound(objectID)
    }
    return object
  }

  /// The same object in the calling thread's context (see ``MagicalRecord/contextForCurrentThread()``).
  /// Source: `MR_inThreadContext`.
  public func inThreadContext() throws -> Self { try inContext(MagicalRecord.contextForCurrentThread()) }

  /// The object itself while it is new, for no other context can find it; otherwise the same object in another context.
  /// Source: `MR_inContextIfTemporaryObject:`.
  public func inContextIfTemporaryObject(_ other: ManagedObjectContext) throws -> Self {
    objectID.isTemporaryID ? self : try inContext(other)
  }

  /// Gives a new object the ID that it will have when it is saved. Source: `MR_obtainPermanentObjectID`.
  public func obtainPermanentObjectID() throws {
    if let context = managedObjectContext, objectID.isTemporaryID { try context.obtainPermanentIDs(for: [self]) }
  }

  /// Takes on the values that the store has now; unsaved changes stay. Source: `MR_refresh`.
  public func refresh() { managedObjectContext?.refresh(self, mergeChanges: true) }

  /// Whether the object could be inserted as it is. Source: `MR_isValidForInsert`.
  public var isValidForInsert: Bool { isValid { try validateForInsert() } }

  /// Whether the object could be updated as it is. Source: `MR_isValidForUpdate`.
  public var isValidForUpdate: Bool { isValid { try validateForUpdate() } }

  /// Why it isn't valid is logged, as in MagicalRecord: at ``MagicalRecord/LoggingLevel/verbose``.
  private func isValid(_ check: () throws -> Void) -> Bool {
    do {
      try check()
      return true
    } catch {
      MagicalRecord.log(.verbose, "\(objectID) isn't valid: \(error)")
      return false
    }
  }
}

extension MagicalEntity {
  /// Imports one record. See ``ManagedObjectContext/importObject(_:into:)``.
  @discardableResult
  public static func importFromObject(
    _ data: ImportedValue, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    try importFromArray([data], in: context).first
  }

  /// Imports records. See ``ManagedObjectContext/importObjects(_:into:batchSize:)``.
  @discardableResult
  public static func importFromArray(
    _ records: [ImportedValue], in context: ManagedObjectContext? = nil
  ) throws -> [Self] {
    let context = try resolved(context)
    return try context.importObjects(records, into: entity(in: context).name).compactMap { $0 as? Self }
  }
}
