/// An object of one context: an entity's values in the slots that the model numbered.
///
/// An object belongs to its context and is touched on that context's queue only; it isn't `Sendable`, so the compiler
/// refuses to let it leave, and every access checks. What crosses between contexts is its ``objectID``.
///
/// An object begins as a *fault*, without values, unless it came with a fetch; the first touch reads its row. Entities
/// may have classes of their own with plain accessors over the slots:
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
  /// Where an object stands between its context and the store.
  package enum State: UInt8 {
    /// As in the store.
    case clean
    /// New in the context.
    case inserted
    /// Changed since it was read or saved.
    case updated
    /// To be deleted by the next save.
    case deleted
    /// No longer of a context: it was reset away, or was deleted and saved.
    case detached
  }

  /// The names of the entity's properties in the order of their slots, for a class written by hand.
  ///
  /// The coordinator compares them with the model when a store is added and refuses a class that numbers its slots
  /// differently. nil, the default, means that the class has no accessors over slots.
  open class var propertyNames: [String]? { nil }

  /// What the properties are, in the order of ``propertyNames``; nil, the default, when only the names are compared.
  ///
  /// Generated classes say it, so that a model in which a type was changed is refused.
  open class var propertyTypes: [PropertyType]? { nil }

  /// The names of properties behind key paths that evaluating them doesn't find out: of accessors that don't take nil, such
  /// as `self[1]!`. Others needn't be named. Names may have dots.
  open class var keyPathNames: [AnyKeyPath: String] { [:] }

  // What every access reads, in this order.

  /// The queue rule of the context, with the context behind it.
  package final let confinement: QueueConfinement
  // One queue touches them, and no access to one lasts while another begins: the compiler needn't check at run time.
  @exclusivity(unchecked) package final var slots: ContiguousArray<Value>
  @exclusivity(unchecked) package final var state: State
  /// Whether the values haven't been read.
  @exclusivity(unchecked) package final var isUnfilled: Bool

  // What changing it reads.

  /// Whether its next change needs no note for the next did-change notification: there is one already, or it is new.
  final var isChangePending = false
  /// Whether the context's registry finds it by ID, rather than in the list of the latest.
  final var isIndexed = false
  /// Whether a child context inserted it, and may ask for it by its temporary ID later.
  final var isKnownToChildren = false
  /// Whether it is to be deleted, and the store hadn't got its row any more when it was read.
  final var isMissing = false
  /// The values as they were read or saved, while ``slots`` differ from them; empty otherwise.
  @exclusivity(unchecked) package final var committed: ContiguousArray<Value> = []
  @exclusivity(unchecked) package final var id: ManagedObjectID

  /// Called by the context, for a new object or for one of the store.
  ///
  /// A subclass inherits it and doesn't call it: objects come from
  /// ``ManagedObjectContext/insert(_:)-(String)`` and from fetching. An override mustn't read more than the object's
  /// attributes: the store is being read already (``FetchRequestError/readWhileMaking``).
  public required init(_ place: ObjectPlace) {
    confinement = place.confinement
    id = place.id
    slots = place.values
    state = place.state
    isUnfilled = place.isFault
  }

  // MARK: What a class may override

  // A subclass calls `super` first in each of them. Objects of entities without a class of their own are never asked.

  /// Called once in an object's life, when it has been inserted with the model's defaults: the place to set defaults
  /// that the model can't say.
  ///
  /// Values given with the insertion, as an import gives them, are put on top. Unlike in Core Data it isn't called again
  /// when a child's new object arrives in its parent. Source: `awakeFromInsert()` of Core Data.
  open func awakeFromInsert() {}

  /// Called when the values have been read from the store: after a fetch, and when a fault has been filled.
  ///
  /// What it sets doesn't count as a change, so that transient attributes can be worked out here; relationships should
  /// be left alone. Source: `awakeFromFetch()` of Core Data.
  open func awakeFromFetch() {}

  /// Called when the values have been set to others than the program set: by undo, redo, rollback, a refresh or merge
  /// that keeps unsaved changes, or a merge policy.
  ///
  /// What it sets of an object without changes doesn't count as a change.
  /// Source: `awake(fromSnapshotEvents:)` of Core Data.
  open func awake(fromSnapshotEvents flags: SnapshotEventType) {}

  /// Called when the object is about to be deleted, by the program or by a delete rule, while its relationships still
  /// hold. Source: `prepareForDeletion()` of Core Data.
  open func prepareForDeletion() {}

  /// Called before a save writes the object, inserts or deletes it, and before it is validated.
  ///
  /// It may change this and other objects, and insert and delete some: objects that changed are asked again until
  /// nothing more changes, at most 1,000 times. ``isDeleted`` tells a deletion.
  /// Source: `willSave()` of Core Data, which crashes where ``ManagedObjectError/unsettledChanges(attempts:objectIDs:)`` is
  /// thrown here.
  open func willSave() {}

  /// Called after a save of the object's context, before its did-save notification; ``isDeleted`` tells a deletion.
  ///
  /// What it sets is an unsaved change again. Source: `didSave()` of Core Data.
  open func didSave() {}

  /// Called before a refresh lets go of the values, or a reset of the object, which still has its context then.
  /// Source: `willTurnIntoFault()` of Core Data.
  open func willTurnIntoFault() {}

  /// Called after a refresh has let go of the values, or a reset of the object: the place to let go of what was worked out
  /// from them. Reading a property here fills the fault again; after a reset, when the object has no context any more, it
  /// brings the value kept. Not called when the object itself is let go of, which a class's `deinit` tells.
  /// Source: `didTurnIntoFault()` of Core Data.
  open func didTurnIntoFault() {}

  /// Whether ``validateValue(_:forKey:)`` is called for every property by a save. A class that has nothing to say there may
  /// override this with false, and its objects are saved the faster. Core Data finds that out by itself.
  open class var validatesValues: Bool { true }

  /// Checks a value of one property, and may replace it: called for every property before the object is inserted or
  /// updated by a save, sets that haven't been read excepted.
  ///
  /// An override is Core Data's `validate<Key>:` methods in one. It throws a ``ValidationFailure``, or any error, whose
  /// words become one. The model's rules are checked by themselves on a save; called by the program, this checks them.
  /// Source: `validateValue(_:forKey:)` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``, ``ManagedObjectError/unknownProperty(entity:name:)``.
  open func validateValue(_ value: inout Value, forKey key: String) throws {
    try checkRules(for: value, key)
  }

  /// Checks the object before it is inserted by a save.
  ///
  /// On a save every failure of every object is collected, the model's rules and ``validateValue(_:forKey:)`` included,
  /// so that `super` throws none of them; called by the program, it throws all that those find.
  /// Source: `validateForInsert()` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``; an override throws whatever it likes.
  open func validateForInsert() throws { try checkProperties() }

  /// Checks the object before its changes are written by a save. See ``validateForInsert()``.
  /// Source: `validateForUpdate()` of Core Data.
  open func validateForUpdate() throws { try checkProperties() }

  /// Checks whether the object may be deleted by a save: no relationship whose delete rule is to deny holds objects. See
  /// ``validateForInsert()``. Source: `validateForDelete()` of Core Data.
  open func validateForDelete() throws { try checkDeletion() }

  // MARK: Where it stands

  /// What identifies it, in every context.
  public final var objectID: ManagedObjectID { id }
  /// Its entity.
  public final var entity: EntityDescription { id.scope.entity }
  /// Its context; nil once it has been reset away or its deletion has been saved.
  public final var managedObjectContext: ManagedObjectContext? { state == .detached ? nil : confinement.context }
  /// Whether it will be inserted by the next save.
  public final var isInserted: Bool { state == .inserted }
  /// Whether it has been changed since it was read or saved.
  public final var isUpdated: Bool { state == .updated }
  /// Whether it will be deleted by the next save.
  public final var isDeleted: Bool { state == .deleted }
  /// Whether its values haven't been read yet.
  public final var isFault: Bool { isUnfilled }
  /// Whether it has anything to save.
  public final var hasChanges: Bool { state == .inserted || state == .updated || state == .deleted }
}

/// What a context hands to an object that it makes. Opaque outside.
public struct ObjectPlace {
  let confinement: QueueConfinement
  let id: ManagedObjectID
  let values: ContiguousArray<Value>
  let state: ManagedObject.State
  let isFault: Bool
}

@available(*, unavailable, message: "a managed object stays on its context's queue: pass its objectID")
extension ManagedObject: Sendable {}

extension ManagedObject: Hashable {
  /// Whether both are the same object of the same context.
  public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }
  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
