/// The objects of one context by their IDs: one object per row.
///
/// An object stays registered while something else holds it too. Objects that only the registry holds are released whenever
/// the number of objects has doubled, so a context that only fetches doesn't grow. The latest objects wait in a list and are
/// hashed at the first look-up: an import that inserts and resets never pays for a table that it doesn't read.
final class ObjectRegistry {
  // Touched on the context's queue only, for each object of an import, and no access lasts while another begins: the
  // compiler needn't check that at run time.
  @exclusivity(unchecked) private var byID = ObjectTable()
  @exclusivity(unchecked) private var latest: [HeldObject] = []
  /// How many of the first of the latest are in the table, too, because an object was looked up during a read.
  @exclusivity(unchecked) private var indexed = 0
  private var isReading = false
  @exclusivity(unchecked) private var limit = ObjectRegistry.smallestLimit
  /// The permanent IDs of objects that may still be asked for by a temporary one.
  private var permanentIDs = PermanentIDs()
  /// Whether objects that only the registry holds are kept, too. A setting, so it isn't private.
  @exclusivity(unchecked) var retainsObjects = false

  private static let smallestLimit = 2048

  /// Counts the times since when values may be out of date.
  ///
  /// An era begins with each piece of the context's work, and when the store or the parent has changed. A look-up turns an
  /// object of an earlier era that only the registry holds into a fault: in Core Data it would have been released. Within an
  /// era it keeps its values, so that a loop over objects that refer to the same one reads it once.
  @exclusivity(unchecked) private(set) var era: UInt16 = 1
  /// The state of the store and the parents that the era has seen.
  @exclusivity(unchecked) private var seenVersion: Int64 = 0

  /// The number of registered objects.
  var count: Int { byID.count + latest.count - indexed }

  /// Every registered object.
  var objects: [ManagedObject] { byID.all + latest[indexed...].map(\.object) }

  /// The objects for which `isWanted` holds.
  func objects(_ isWanted: (ManagedObject) -> Bool) -> [ManagedObject] {
    var found = latest[indexed...].lazy.map(\.object).filter(isWanted)
    byID.forEach { if isWanted($0) { found.append($0) } }
    return found
  }

  // MARK: Registering

  /// Registers an object whose ID isn't registered yet.
  func add(_ object: ManagedObject) {
    // The context's changes hold unsaved objects anyway; only objects that were read can be released.
    if count >= limit, object.state == .clean, !retainsObjects { releaseUnheld() }
    latest.append(HeldObject(object))
  }

  /// Makes room for objects that are about to be read, so that ``addRead(_:)`` needn't look for some to release each time.
  func prepare(for more: Int) {
    if count >= limit, !retainsObjects { releaseUnheld() }
    latest.reserveCapacity(latest.count + more)
  }

  /// Makes room for more objects.
  func reserve(_ more: Int) {
    if more > latest.count { latest.reserveCapacity(latest.count + more) }
  }

  /// Registers an object that was read, after ``prepare(for:)``.
  @inline(__always)
  func addRead(_ object: ManagedObject) { latest.append(HeldObject(object)) }

  /// Begins a read into an empty registry, which keeps the order of the objects.
  func beginReading() { isReading = true }

  /// Ends a read.
  /// - Returns: the objects that were read, in order. They share the registry's memory.
  func endReading() -> [ManagedObject] {
    // Arrays of references and of structures with a single one have the same layout.
    let read = unsafeBitCast(latest, to: [ManagedObject].self)
    if indexed > 0 {
      index()
      latest = []
      indexed = 0
    }
    isReading = false
    return read
  }

  // MARK: Looking up

  /// The object with that ID.
  func object(with id: ManagedObjectID) -> ManagedObject? {
    if latest.count > indexed { index() }
    return byID.object(with: id)
  }

  /// The object with that ID or, for a temporary ID, with the permanent one that replaced it.
  func objectOrSuccessor(with id: ManagedObjectID) -> ManagedObject? {
    if let object = object(with: id) { return object }
    return permanentIDs[id].flatMap { object(with: $0) }
  }

  /// The object with that ID, and whether only this registry holds it.
  func objectAlone(with id: ManagedObjectID) -> (object: ManagedObject, isAlone: Bool)? {
    if latest.count > indexed { index() }
    return byID.objectAlone(with: id)
  }

  /// The object with that ID or, for a temporary ID, with the permanent one that replaced it; and whether only this registry
  /// holds it.
  func objectOrSuccessorAlone(with id: ManagedObjectID) -> (object: ManagedObject, isAlone: Bool)? {
    if let known = objectAlone(with: id) { return known }
    return permanentIDs[id].flatMap { objectAlone(with: $0) }
  }

  // MARK: Eras

  /// Begins a new era.
  func beginEra() {
    // An object has room for two bytes. Before numbers are used again, none is left of an earlier era.
    if era == .max {
      for object in objects { object.era = 0 }
      era = 0
    }
    era += 1
  }

  /// Begins a new era if the source has another version than the current era has seen.
  func noteVersion(_ version: Int64) {
    guard version != seenVersion else { return }
    seenVersion = version
    beginEra()
  }

  /// Notes the context's own save, which doesn't end the era if nothing else has changed the source.
  func noteOwnSave(_ before: Int64, after: Int64) {
    if seenVersion == before, after == before + 1 { seenVersion = after }
  }

  // MARK: IDs

  /// The permanent ID that replaced a temporary one; any other ID as it is.
  func currentID(_ id: ManagedObjectID) -> ManagedObjectID { permanentIDs[id] ?? id }

  /// The permanent ID that replaced a temporary one; nil for any other ID.
  func permanentID(for id: ManagedObjectID) -> ManagedObjectID? { permanentIDs[id] }

  /// Remembers which permanent ID replaced a temporary one.
  func note(_ permanent: ManagedObjectID, for temporary: ManagedObjectID) { permanentIDs[temporary] = permanent }

  /// Remembers which permanent IDs replaced temporary ones.
  func note(_ ids: PermanentIDs) { permanentIDs.add(ids) }

  /// Gives an object its new ID.
  func rename(_ object: ManagedObject, to id: ManagedObjectID) {
    if object.isIndexed {
      byID.remove(object.id)
      object.id = id
      object.isIndexed = false
      latest.append(HeldObject(object))
    } else {
      object.id = id
    }
  }

  /// Gives objects with temporary IDs their permanent ones, and remembers these. Returns whether any of the objects is
  /// registered.
  func promote(_ ids: PermanentIDs, _ temporaryScope: (EntityDescription) -> IDScope) -> Bool {
    permanentIDs.add(ids)
    var isAnyKnown = false
    if latest.count <= 4 * ids.count {
      // Looking at each of the latest is quicker than hashing them.
      latest.forEachUncounted { object in
        guard object.id.isTemporaryID, let id = ids[object.id] else { return }
        object.id = id
        isAnyKnown = true
      }
    } else {
      index()
    }
    guard byID.count > 0 else { return isAnyKnown }
    ids.forEach { number, id in
      let temporary = ManagedObjectID(scope: temporaryScope(id.scope.entity), number: number)
      guard let object = byID.object(with: temporary) else { return }
      rename(object, to: id)
      isAnyKnown = true
    }
    return isAnyKnown
  }

  // MARK: Releasing

  /// Removes an object.
  func remove(_ object: ManagedObject) {
    if latest.count > indexed { index() }
    byID.remove(object.id)
    object.isIndexed = false
  }

  /// Removes every object and detaches it from the context. Returns them.
  func detachAll() -> DetachedObjects {
    latest.forEachUncounted { $0.state = .detached }
    byID.forEach { $0.state = .detached }
    defer {
      byID = ObjectTable()
      latest = []
      indexed = 0
      limit = Self.smallestLimit
      permanentIDs = PermanentIDs()
    }
    return DetachedObjects(latest, byID)
  }

  private func index() {
    byID.reserve(latest.count - indexed)
    latest[indexed...].forEachUncounted { object in
      object.isIndexed = true
      byID.insert(object)
    }
    if isReading {
      indexed = latest.count
    } else {
      latest.removeAll(keepingCapacity: latest.count < 4096)
    }
  }

  /// When there are many objects, detaches the saved ones that only the registry holds: what passes through a context on its
  /// way up isn't kept. Returns them.
  func trim() -> DetachedObjects {
    guard count >= limit, !retainsObjects else { return DetachedObjects([]) }
    var dropped: [HeldObject] = []
    // The latest aren't in the table yet, and most of them needn't be.
    var kept: [HeldObject] = []
    for place in latest.indices {
      let isAlone = isKnownUniquelyReferenced(&latest[place].object)
      let object = latest[place].object
      guard isAlone, object.isForgettable else {
        kept.append(HeldObject(object))
        continue
      }
      // A weak reference may still reach it for a moment.
      object.state = .detached
      dropped.append(HeldObject(object))
    }
    latest = kept
    if count >= limit { releaseUnheld() }
    return DetachedObjects(dropped)
  }

  private func releaseUnheld() {
    index()
    byID.removeUnheld()
    limit = max(Self.smallestLimit, byID.count * 2)
  }
}

/// Objects without a context, which may be released on any thread.
package final class DetachedObjects: @unchecked Sendable {
  // Sendable: nothing reads or writes the objects any more, only their memory is freed.
  private let objects: [HeldObject]
  private let table: ObjectTable

  init(_ objects: [HeldObject], _ table: ObjectTable = ObjectTable()) {
    self.objects = objects
    self.table = table
  }

  /// The number of objects.
  var count: Int { objects.count + table.count }
}

/// An object in a list. The standard library has ready-made code for arrays of references, which isn't inlined: appending one
/// costs four calls. Arrays of this structure are specialised.
struct HeldObject {
  var object: ManagedObject

  @inline(__always)
  init(_ object: ManagedObject) { self.object = object }
}

extension Array where Element == HeldObject {
  /// Calls `body` with each object, without counting references, which would cost as much as the work itself. `body` must
  /// not change the array.
  func forEachUncounted(_ body: (ManagedObject) -> Void) { self[...].forEachUncounted(body) }
}

extension ArraySlice where Element == HeldObject {
  /// As that of the array.
  fileprivate func forEachUncounted(_ body: (ManagedObject) -> Void) { withUnsafeBytes { $0.forEachObject(body) } }
}

extension Array where Element == ManagedObject {
  /// Calls `body` with each object, without counting references. The caller holds the array until it returns.
  func forEachUncounted(_ body: (ManagedObject) -> Void) { withUnsafeBytes { $0.forEachObject(body) } }
}

extension UnsafeRawBufferPointer {
  /// Calls `body` with each of the objects that these are references to.
  @inline(__always)
  fileprivate func forEachObject(_ body: (ManagedObject) -> Void) {
    for object in bindMemory(to: Unmanaged<ManagedObject>.self) { object._withUnsafeGuaranteedRef(body) }
  }
}
