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

  // What every access reads, in this order.

  /// The queue rule of the context, with the context behind it.
  package final let home: ContextHome
  // One queue touches them, and no access to one lasts while another begins: the compiler needn't check at run time.
  @exclusivity(unchecked) package final var slots: ContiguousArray<Value>
  @exclusivity(unchecked) package final var state: State
  /// Whether the values haven't been read.
  @exclusivity(unchecked) package final var isUnfilled: Bool

  // What changing it reads.

  /// Whether the change hasn't been announced by a did-change notification yet.
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
  /// ``ManagedObjectContext/insert(_:)-(String)`` and from fetching.
  public required init(_ place: ObjectPlace) {
    home = place.home
    id = place.id
    slots = place.values
    state = place.state
    isUnfilled = place.isFault
  }

  /// What identifies it, in every context.
  public final var objectID: ManagedObjectID { id }
  /// Its entity.
  public final var entity: EntityDescription { id.scope.entity }
  /// Its context; nil once it has been reset away or its deletion has been saved.
  public final var managedObjectContext: ManagedObjectContext? { state == .detached ? nil : home.context }
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
  let home: ContextHome
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
