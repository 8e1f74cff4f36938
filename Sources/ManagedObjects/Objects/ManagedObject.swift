/// An object of one context: an entity's values in the slots that the model numbered.
///
/// An object belongs to its context and is touched on that context's queue only. It isn't `Sendable`, so the compiler keeps it
/// there, and every access checks. Its ``objectID`` may cross to other contexts.
///
/// An object begins as a *fault*, without values, unless a fetch brought them; the first access reads its row. Entities may
/// have classes of their own with plain accessors over the slots:
///
/// ```swift
/// final class Person: ManagedObject {
///   override class var propertyNames: [String]? { ["name", "age", "employer"] }
///   var name: String? { get { self[0] } set { self[0] = newValue } }
///   var age: Int32 { get { self[1] ?? 0 } set { self[1] = newValue } }
///   var employer: Company? { get { object(2) } set { setObject(newValue, 2) } }
/// }
/// ```
///
/// Source: Core Data's `NSManagedObject`.
open class ManagedObject {
  /// The state of an object between its context and the store.
  package enum State: UInt8 {
    /// As in the store.
    case clean
    /// New in the context.
    case inserted
    /// Changed since it was read or saved.
    case updated
    /// To be deleted by the next save.
    case deleted
    /// Without a context: the context was reset, or the deletion was saved.
    case detached
  }

  /// What a save does about an object that is to be deleted.
  enum Deletion: UInt8 {
    /// It deletes the row.
    case ofRow
    /// It reports a conflict: the row was already gone when the deleted object was read.
    case ofMissingRow
    /// Nothing: the context itself deleted the object when it found the row of a fault gone, or merged the row's deletion.
    case ofInaccessibleFault
    /// Nothing: the object was never saved. It leaves the context when the delete rules are applied.
    case ofUnsaved
  }

  /// The names of the entity's properties in the order of their slots, for a class written by hand.
  ///
  /// The coordinator compares them with the model when a store is added, and refuses a class with other slots. nil, the
  /// default, means that the class has no accessors over slots.
  open class var propertyNames: [String]? { nil }

  /// The types of the properties, in the order of ``propertyNames``; nil, the default, when only the names are compared.
  ///
  /// Generated classes declare them, so a model in which a type has changed is refused.
  open class var propertyTypes: [PropertyType]? { nil }

  /// The property names of key paths that can't be evaluated without values, because an accessor doesn't take nil, such as
  /// `self[1]!`. Others needn't be named. Names may have dots.
  open class var keyPathNames: [AnyKeyPath: String] { [:] }

  // Read by every access, in this order. Not private: the context's parts keep them; `Contexts/` says which.

  /// The queue rule of the context, with the context behind it.
  package final let confinement: QueueConfinement
  // Only one queue touches them, and no access lasts while another begins, so the compiler needn't check that at run time.
  @exclusivity(unchecked) final var content: RowValues
  @exclusivity(unchecked) package final var state: State
  /// Whether the values haven't been read.
  @exclusivity(unchecked) package final var isUnfilled: Bool

  // Read by changes.

  /// Whether the next did-change notification includes it already, as changed or new.
  final var isChangePending = false
  /// Whether it is in the hash table of the context's registry, rather than in the list of the latest objects.
  final var isIndexed = false
  /// Whether its context has announced it as inserted, or is going to.
  final var isKnownAsInserted = false
  /// Whether a child context inserted it, and may ask for it by its temporary ID later.
  final var isKnownToChildren = false
  /// What a save does about its deletion, once it is to be deleted.
  final var deletion = Deletion.ofRow
  /// The registry's era in which the values were read: see ``ObjectRegistry/era``.
  @exclusivity(unchecked) final var era: UInt16
  /// The number of the coordinator's latest save when the values were read, or of a later one that was merged or made here:
  /// the version of its sets. The greatest number where it isn't known.
  @exclusivity(unchecked) final var latestSave: Int64
  /// The values as they were read or saved, while ``slots`` differ from them; empty otherwise.
  @exclusivity(unchecked) package final var committed: ContiguousArray<Value> = []
  @exclusivity(unchecked) package final var id: ManagedObjectID

  /// The values as an array, which they become if a fetch has packed them.
  package final var slots: ContiguousArray<Value> {
    @inline(__always)
    _read {
      content.unpack()
      yield content.array
    }
    @inline(__always)
    _modify { yield &content.all }
  }

  /// Called by the context, for a new object or for one of the store.
  ///
  /// A subclass inherits it and doesn't call it: objects come from
  /// ``ManagedObjectContext/insert(_:)-(String)`` and from fetching. An override may read only the object's attributes, because
  /// the store is being read already (``FetchRequestError/readWhileMaking``).
  public required init(_ place: ObjectPlace) {
    confinement = place.confinement
    id = place.id
    content = place.content
    state = place.state
    isUnfilled = place.isFault
    latestSave = place.latestSave
    era = place.era
  }

  /// Inserts a new object of the entity whose objects are of this class, with the model's defaults. On the context's queue.
  ///
  /// ```swift
  /// let person = Person(context: context)
  /// ```
  ///
  /// Where it isn't certain that the model has one entity for the class, call ``ManagedObjectContext/insert(_:)-(T.Type)``,
  /// which throws: here, as in Core Data, the program stops with a message. Called through a metatype, it inserts an object of
  /// the class that the metatype has at run time. Source: `init(context:)` of Core Data.
  public required convenience init(context: ManagedObjectContext) {
    let place: ObjectPlace
    do {
      place = try context.placeOfNewObject(Self.self)
    } catch {
      fatalError("an object of the class \(Self.self) can't be made: \(error)")
    }
    self.init(place)
    context.noteNew(self)
  }

  // MARK: Methods to override

  // A subclass calls `super` first in each of them. Objects of entities without a class of their own are never asked.

  /// Called once in an object's life, when it has been inserted with the model's defaults. Set defaults here that the model
  /// can't express.
  ///
  /// Values that are given with the insertion, as by an import, replace them. Unlike in Core Data, it isn't called again when a
  /// child's new object arrives in its parent. Source: `awakeFromInsert()` of Core Data.
  open func awakeFromInsert() {}

  /// Called when the values have been read from the store: after a fetch, and when a fault has been filled.
  ///
  /// Values set here don't count as changes, so transient attributes can be computed here. Don't change relationships. Source: `awakeFromFetch()` of Core Data.
  open func awakeFromFetch() {}

  /// Called when the values have been replaced: by undo, redo, rollback, a refresh or merge that keeps unsaved changes, or a
  /// merge policy.
  ///
  /// Values that it sets of an object without changes don't count as changes.
  /// Source: `awake(fromSnapshotEvents:)` of Core Data.
  open func awake(fromSnapshotEvents flags: SnapshotEventType) {}

  /// Called when the object is about to be deleted, by the program or by a delete rule, before its relationships change. Source: `prepareForDeletion()` of Core Data.
  open func prepareForDeletion() {}

  /// Called before a save writes the object, inserts or deletes it, and before it is validated.
  ///
  /// It may change this and other objects, insert and delete objects. It is called again for changed objects until nothing
  /// changes any more, at most 1,000 times. ``isDeleted`` is true before a deletion.
  /// Source: `willSave()` of Core Data, which crashes where ``ManagedObjectError/unsettledChanges(attempts:objectIDs:)`` is
  /// thrown here.
  open func willSave() {}

  /// Called after a save of the object's context, before its did-save notification. ``isDeleted`` is true after a deletion.
  ///
  /// Values set here are unsaved changes. Source: `didSave()` of Core Data.
  open func didSave() {}

  /// Called before a refresh drops the values or a reset drops the object. It still has its context.
  /// Source: `willTurnIntoFault()` of Core Data.
  open func willTurnIntoFault() {}

  /// Called after a refresh has dropped the values or a reset has dropped the object. Drop values here that were computed from
  /// them. Reading a property fills the fault again; after a reset, when the object has no context, it returns the last value.
  /// Not called when the object is released, which runs the class's `deinit`.
  /// Source: `didTurnIntoFault()` of Core Data.
  open func didTurnIntoFault() {}

  /// Whether a save calls ``validateValue(_:forKey:)`` for every property. A class that doesn't override that method may return
  /// false here, which makes saving faster. Core Data finds that out by itself.
  open class var validatesValues: Bool { true }

  /// Checks a value of one property, and may replace it. A save calls it for every property of an inserted or updated object,
  /// except for sets that haven't been read.
  ///
  /// An override combines Core Data's `validate<Key>:` methods. It throws a ``ValidationFailure``, or any error, whose
  /// description becomes one. A save checks the model's rules by itself; when the program calls this method, it checks them.
  /// Source: `validateValue(_:forKey:)` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``, ``ManagedObjectError/unknownProperty(entity:name:)``.
  open func validateValue(_ value: inout Value, forKey key: String) throws {
    try checkRules(for: value, key)
  }

  /// Checks the object before it is inserted by a save.
  ///
  /// A save collects every failure of every object, including those of the model's rules and of ``validateValue(_:forKey:)``,
  /// so `super` throws none of them. When the program calls this method, it throws all failures that those find.
  /// Source: `validateForInsert()` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``; an override may throw any error.
  open func validateForInsert() throws { try checkProperties() }

  /// Checks the object before its changes are written by a save. See ``validateForInsert()``.
  /// Source: `validateForUpdate()` of Core Data.
  open func validateForUpdate() throws { try checkProperties() }

  /// Checks whether a save may delete the object: no relationship with the delete rule deny may hold objects. See
  /// ``validateForInsert()``. Source: `validateForDelete()` of Core Data.
  open func validateForDelete() throws { try checkDeletion() }

  // MARK: State

  // Checked like every access. The library's own code reads `id`, `state` and `isUnfilled`.

  /// Identifies the object in every context.
  public final var objectID: ManagedObjectID {
    confinement.check()
    return id
  }
  /// Its entity.
  public final var entity: EntityDescription {
    confinement.check()
    return id.scope.entity
  }
  /// Its context; nil after a reset, or when its deletion has been saved.
  public final var managedObjectContext: ManagedObjectContext? {
    confinement.check()
    return state == .detached ? nil : confinement.context
  }
  /// Whether it will be inserted by the next save.
  public final var isInserted: Bool { checkedState == .inserted }
  /// Whether it has been changed since it was read or saved.
  public final var isUpdated: Bool { checkedState == .updated }
  /// Whether it will be deleted by the next save.
  public final var isDeleted: Bool { checkedState == .deleted }
  /// Whether its values haven't been read yet.
  public final var isFault: Bool {
    confinement.check()
    return isUnfilled
  }
  /// Whether it has anything to save.
  public final var hasChanges: Bool {
    let state = checkedState
    return state == .inserted || state == .updated || state == .deleted
  }

  private final var checkedState: State {
    confinement.check()
    return state
  }
}

/// The values that a context passes to an object's initializer. Opaque outside.
public struct ObjectPlace {
  let confinement: QueueConfinement
  let id: ManagedObjectID
  let content: RowValues
  let state: ManagedObject.State
  let isFault: Bool
  var latestSave = Int64.max
  /// The era of the context's registry; 0 for an object that isn't registered.
  var era: UInt16 = 0
}

@available(*, unavailable, message: "a managed object stays on its context's queue: pass its objectID")
extension ManagedObject: Sendable {}

extension ManagedObject: Hashable {
  /// Whether both are the same object of the same context.
  public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }
  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The event that replaced an object's values.
///
/// Source: Core Data's `NSSnapshotEventType`.
public struct SnapshotEventType: OptionSet, Sendable {
  /// The events as bits, Core Data's.
  public let rawValue: Int

  /// The events with those bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An insertion was undone.
  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
  /// A deletion was undone.
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
  /// A change was undone.
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
  /// The context's changes were rolled back.
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)
  /// The object took on the store's values.
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)
  /// A merge policy chose the values.
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}
