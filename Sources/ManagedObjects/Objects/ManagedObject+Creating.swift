import Synchronization

/// What a fetch request can return: every ``ManagedObject``.
///
/// The initializer of an object by its entity is in an extension of this protocol, because there an initializer returns the
/// object that the context has made, which is of the class of its entity. In a class it would always make an object of the
/// class it names.
///
/// Source: `NSFetchRequestResult` of Core Data.
public protocol FetchRequestResult {}

extension ManagedObject: FetchRequestResult {}

extension FetchRequestResult where Self: ManagedObject {
  /// Inserts a new object of an entity, with the model's defaults. On the context's queue.
  ///
  /// The object is of the class that the entity has, also when `ManagedObject` is named. Unlike in Core Data, every object has
  /// a context. The program stops with a message when the entity is abstract, is of another model than the context's, or has
  /// another class. Source: `init(entity:insertInto:)` of Core Data.
  public init(entity: EntityDescription, insertInto context: ManagedObjectContext) {
    guard context.model.entitiesByName[entity.name] === entity else {
      fatalError("an object of \(entity.name) can't be made: the entity is of another model than the context's")
    }
    do {
      guard let object = try context.insert(entity) as? Self else {
        fatalError("an object of \(entity.name) is of the class \(entity.objectClass), not \(Self.self)")
      }
      self = object
    } catch {
      fatalError("an object of \(entity.name) can't be made: \(error)")
    }
  }

  /// A request for all objects of the entity whose objects are of this class. See ``ManagedObject/entity()``.
  ///
  /// Generated classes have a method of the same name that doesn't need the model. Source: `fetchRequest()` of Core Data.
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest(entityName: entity().name) }
}

extension ManagedObject {
  /// The entity whose objects are of this class, in the model that was made last of those that name the class.
  ///
  /// The program stops with a message when there is none, or several in that model: ``EntityDescription/entity(forEntityName:in:)``
  /// finds an entity by its name. Safe from any thread. Source: `entity()` of Core Data.
  public final class func entity() -> EntityDescription {
    do {
      return try knownEntity()
    } catch {
      fatalError("the class \(Self.self) has no entity of its own: \(error)")
    }
  }

  /// What ``entity()`` returns.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` or
  ///   ``ManagedObjectError/severalEntities(className:entities:)``.
  package final class func knownEntity() throws -> EntityDescription { try ClassEntities.entity(of: self) }
}

extension EntityDescription {
  /// Inserts a new object of the entity of that name, with the model's defaults. On the context's queue.
  ///
  /// As in Core Data, the program stops with a message when the model has no such entity, or it is abstract. For a name that
  /// isn't the program's own, ``ManagedObjectContext/insert(_:)-(String)`` throws an error instead.
  /// Source: `insertNewObject(forEntityName:into:)` of Core Data.
  public static func insertNewObject(
    forEntityName entityName: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    do {
      return try context.insert(entityName)
    } catch {
      fatalError("an object of \(entityName) can't be made: \(error)")
    }
  }

  /// The entity of that name in a context's model; nil when there is none.
  /// Source: `entity(forEntityName:in:)` of Core Data.
  public static func entity(forEntityName entityName: String, in context: ManagedObjectContext) -> EntityDescription? {
    context.model.entitiesByName[entityName]
  }
}

extension ManagedObjectContext {
  /// Takes back the deletion of an object: it isn't deleted by the next save, and keeps its values. An object whose deletion
  /// has been saved, or that was deleted before its first save, is inserted again. Other objects of this context stay as they
  /// are. On the context's queue.
  ///
  /// What the delete rules have done by then, at the end of a `perform`, isn't taken back; ``undo()`` does that. The program
  /// stops with a message for an object of another context, as in Core Data, and for one that was deleted elsewhere.
  /// Source: `insert(_:)` of Core Data.
  public func insert(_ object: ManagedObject) {
    confinement.check()
    precondition(object.confinement === confinement, "an object of another context: \(object.id)")
    guard object.state == .deleted || object.state == .detached else { return }
    if object.state == .detached || object.deletion != .ofRow {
      let known = registry.object(with: object.id)
      precondition(
        !object.isUnfilled && object.deletion != .ofInaccessibleFault && (known == nil || known === object),
        "\(object.id) can't be inserted again: it was deleted elsewhere, or the context has another object for it")
    }
    undoRecorder.reinsert([object], self)
    guard object.state == .updated, !object.hasPersistentChanges else { return }
    object.state = .clean
    object.committed = []
    changeSet.removeUpdates { $0 === object }
  }

  /// The entity whose objects are of a class.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` or
  ///   ``ManagedObjectError/severalEntities(className:entities:)``.
  func entity(of type: ManagedObject.Type) throws -> EntityDescription { try model.entity(of: type) }
}

extension ManagedObjectModel {
  fileprivate func entity(of type: ManagedObject.Type) throws -> EntityDescription {
    var found: EntityDescription?
    for entity in entities where entity.objectClass == type {
      if found != nil {
        throw ManagedObjectError.severalEntities(
          className: "\(type)", entities: entities.filter { $0.objectClass == type }.map(\.name))
      }
      found = entity
    }
    guard let found else {
      throw ManagedObjectError.unknownEntity(name: "\(type)", known: entities.map(\.name))
    }
    return found
  }
}

/// The model of each class, for requests by class. Safe from any thread.
enum ClassEntities {
  private static let models = Mutex<[ObjectIdentifier: ManagedObjectModel]>([:])

  /// Records the classes of a model's entities.
  static func note(_ model: ManagedObjectModel) {
    guard model.hasOwnClasses, model.classMismatches.isEmpty else { return }
    models.withLock { models in
      for entity in model.entities where entity.hasOwnClass { models[ObjectIdentifier(entity.objectClass)] = model }
    }
  }

  static func entity(of type: ManagedObject.Type) throws -> EntityDescription {
    guard let model = models.withLock({ $0[ObjectIdentifier(type)] }) else {
      throw ManagedObjectError.unknownEntity(name: "\(type)", known: [])
    }
    return try model.entity(of: type)
  }
}
