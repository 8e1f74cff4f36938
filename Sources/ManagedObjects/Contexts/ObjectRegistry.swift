/// The objects that a context knows, each by its ID: one object for one row.
///
/// Objects are kept while somebody else holds them too; the others are let go when their number has doubled, so that a
/// context which only ever fetches doesn't grow. The latest ones wait in a list and are hashed at the first look-up
/// only: an import that inserts and resets never pays for a table it doesn't read.
struct ObjectRegistry {
  private var byID = ObjectTable()
  private var latest: ContiguousArray<ManagedObject> = []
  private var limit = 2048
  /// Whether objects that nobody else holds are kept all the same.
  var retainsObjects = false

  init(retainsObjects: Bool = false) { self.retainsObjects = retainsObjects }

  /// The number of objects known.
  var count: Int { byID.count + latest.count }

  /// Every object known.
  var objects: [ManagedObject] { byID.all + Array(latest) }

  /// The objects of which `isWanted` says so.
  func objects(_ isWanted: (ManagedObject) -> Bool) -> [ManagedObject] {
    var found = latest.filter(isWanted).map { $0 }
    byID.forEach { if isWanted($0) { found.append($0) } }
    return found
  }

  /// Takes in an object whose ID isn't known yet.
  mutating func add(_ object: ManagedObject) {
    // Unsaved objects are held by the context's changes anyway: looking for some to let go is for those that were read.
    if count >= limit, object.state == .clean, !retainsObjects { letGo() }
    latest.append(object)
  }

  /// Makes room for objects that are about to be read, so that ``addRead(_:)`` needn't look for some to let go each time.
  mutating func prepare(for more: Int) {
    if count >= limit, !retainsObjects { letGo() }
    latest.reserveCapacity(latest.count + more)
  }

  /// Makes room for so many more objects.
  mutating func reserve(_ more: Int) {
    if more > latest.count { latest.reserveCapacity(latest.count + more) }
  }

  /// Takes in an object that was read, after ``prepare(for:)``.
  mutating func addRead(_ object: ManagedObject) { latest.append(object) }

  /// The object with that ID.
  mutating func object(with id: ManagedObjectID) -> ManagedObject? {
    if !latest.isEmpty { index() }
    return byID.object(with: id)
  }

  /// The object with that ID, and whether only this registry holds it.
  mutating func objectAlone(with id: ManagedObjectID) -> (object: ManagedObject, isAlone: Bool)? {
    if !latest.isEmpty { index() }
    return byID.objectAlone(with: id)
  }

  /// Gives an object its new ID.
  mutating func rename(_ object: ManagedObject, to id: ManagedObjectID) {
    if object.isIndexed {
      byID.remove(object.id)
      object.id = id
      object.isIndexed = false
      latest.append(object)
    } else {
      object.id = id
    }
  }

  /// Gives objects with temporary IDs their permanent ones. Returns whether any of them is known.
  mutating func promote(_ ids: PermanentIDs, _ temporaryScope: (EntityDescription) -> IDScope) -> Bool {
    var isAnyKnown = false
    if latest.count <= 4 * ids.count {
      // To look at each of the latest is quicker than to hash them.
      for object in latest where object.id.isTemporaryID {
        guard let id = ids[object.id] else { continue }
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

  mutating func remove(_ object: ManagedObject) {
    if !latest.isEmpty { index() }
    byID.remove(object.id)
    object.isIndexed = false
  }

  /// Forgets every object, each of which then has no context any more, and returns them.
  mutating func detachAll() -> ContextRemains {
    latest.forEachUncounted { $0.state = .detached }
    byID.forEach { $0.state = .detached }
    let remains = ContextRemains(latest, byID)
    self = ObjectRegistry(retainsObjects: retainsObjects)
    return remains
  }

  private mutating func index() {
    byID.reserve(latest.count)
    for object in latest {
      object.isIndexed = true
      byID.insert(object)
    }
    latest.removeAll(keepingCapacity: latest.count < 4096)
  }

  /// Takes out saved objects that nobody else holds, when there are many: what passes through a context on its way up isn't
  /// kept.
  mutating func trim() -> ContextRemains {
    guard count >= limit, !retainsObjects else { return ContextRemains([]) }
    var dropped: ContiguousArray<ManagedObject> = []
    // The latest aren't in the table yet, and most of them needn't be.
    var kept: ContiguousArray<ManagedObject> = []
    for place in latest.indices {
      let isAlone = isKnownUniquelyReferenced(&latest[place])
      let object = latest[place]
      guard isAlone, object.isForgettable else {
        kept.append(object)
        continue
      }
      // Whoever has a weak reference may still find it for a moment.
      object.state = .detached
      dropped.append(object)
    }
    latest = kept
    if count >= limit { letGo() }
    return ContextRemains(dropped)
  }

  private mutating func letGo() {
    index()
    byID.removeUnheld()
    limit = max(2048, byID.count * 2)
  }
}

/// Objects without a context, to be let go of on any thread.
package final class ContextRemains: @unchecked Sendable {
  // Sendable: nothing reads or writes the objects; what is left of them is their memory.
  private let objects: ContiguousArray<ManagedObject>
  private let table: ObjectTable

  init(_ objects: ContiguousArray<ManagedObject>, _ table: ObjectTable = ObjectTable()) {
    self.objects = objects
    self.table = table
  }

  /// How many there are.
  var count: Int { objects.count + table.count }
}

extension ContiguousArray where Element == ManagedObject {
  /// Calls `body` with each object, which it mustn't keep nor make the array lose. Counting each up and down costs as much
  /// as what is done with it.
  func forEachUncounted(_ body: (ManagedObject) -> Void) {
    withUnsafeBytes { bytes in
      for object in bytes.bindMemory(to: Unmanaged<ManagedObject>.self) { object._withUnsafeGuaranteedRef(body) }
    }
  }
}
