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
    return FetchRequest(
      entityName: try entity(in: resolved(context)).name, predicate: predicate, sortDescriptors: sort)
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
  /// - Parameter attributes: what is read of the object at once, where the rest is to be read when it is asked for; nil for
  ///   everything. Source: `MR_findFirstWithPredicate:sortedBy:ascending:inContext:andRetrieveAttributes:`.
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
