/// Calls the methods that a class of the program overrides (``ManagedObject/awakeFromFetch()``,
/// ``ManagedObject/willSave()`` and the like), and knows which of them are running.
///
/// Callers look at `hasOwnClass` first: an object without a class of its own costs nothing here.
final class ObjectCallbacks {
  // Touched on the context's queue only.

  /// Whether an object is in one of its `awake` methods. The values that it sets there are no change.
  private(set) var isAwakening = false
  /// The property that a save asks a class to validate, empty while it asks for the whole object; nil outside of a save.
  private var askedProperty: String?
  /// Whether a save collects validation failures. Inherited validation methods then add nothing.
  var isCollectingFailures: Bool { askedProperty != nil }
  /// The objects that are in ``ManagedObject/prepareForDeletion()``.
  private var preparedDeletions: Set<ObjectIdentifier> = []

  /// Runs a method of the object. The values that it sets of an object without changes are no change.
  func awaken(_ object: ManagedObject, _ body: () -> Void) {
    let wasAwakening = isAwakening
    isAwakening = true
    defer { isAwakening = wasAwakening }
    body()
    object.settleAfterAwakening()
  }

  /// Calls ``ManagedObject/awakeFromFetch()``.
  func awakeFromFetch(_ object: ManagedObject) {
    awaken(object) { object.awakeFromFetch() }
  }

  /// Calls ``ManagedObject/awakeFromFetch()`` of several objects.
  func awakeFromFetch(_ objects: [ManagedObject]) {
    let wasAwakening = isAwakening
    isAwakening = true
    defer { isAwakening = wasAwakening }
    objects.forEachUncounted { object in
      object.awakeFromFetch()
      object.settleAfterAwakening()
    }
  }

  /// Calls ``ManagedObject/awake(fromSnapshotEvents:)``.
  func awake(_ object: ManagedObject, from event: SnapshotEventType) {
    awaken(object) { object.awake(fromSnapshotEvents: event) }
  }

  /// Calls ``ManagedObject/prepareForDeletion()``. Returns false when the call is running already, or when the object has
  /// deleted itself.
  func prepareForDeletion(_ object: ManagedObject) -> Bool {
    guard object.state != .deleted, object.state != .detached,
      preparedDeletions.insert(ObjectIdentifier(object)).inserted
    else { return false }
    defer { preparedDeletions.remove(ObjectIdentifier(object)) }
    object.prepareForDeletion()
    return true
  }

  /// Whether a save asks for this property at the moment.
  func isAsking(for property: String) -> Bool { askedProperty == property }

  /// Runs a class's own validation and collects the failures that it throws.
  func collect(
    of object: ManagedObject, _ property: String = "", into failures: inout [ValidationFailure],
    _ body: () throws -> Void
  ) {
    let outer = askedProperty
    askedProperty = property
    defer { askedProperty = outer }
    do {
      try body()
    } catch ManagedObjectError.validation(let several) {
      failures += several
    } catch let failure as ValidationFailure {
      failures.append(failure)
    } catch {
      failures.append(ValidationFailure(object, property: property, message: String(describing: error)))
    }
  }

  /// Calls ``ManagedObject/didSave()`` of the objects that a save wrote. Those that it deleted are still marked so.
  func didSave(_ objects: ContiguousArray<ManagedObject>...) {
    for list in objects {
      for object in list where object.entity.hasOwnClass { object.didSave() }
    }
  }
}

extension ManagedObject {
  /// Drops the former values of an object that its `awake` method left unchanged. Where stored values differ from the
  /// store's, both are kept, because a later change is compared with the store's. Transient values need no such memory.
  fileprivate final func settleAfterAwakening() {
    if state == .clean, !committed.isEmpty, !hasPersistentChanges { committed = [] }
  }
}
