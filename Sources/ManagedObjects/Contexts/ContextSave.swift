public import Foundation
import Synchronization

/// What one save wrote: the typed form of the did-save notification, which can cross to other contexts' queues.
///
/// ```swift
/// NotificationCenter.default.addObserver(
///   forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
/// ) { note in
///   guard let save = ContextSave(note) else { return }
///   main.perform { main.mergeChanges(fromContextDidSave: save) }
/// }
/// ```
public struct ContextSave: Sendable {
  /// The name of the context that saved.
  public let contextName: String?
  /// Who made the changes, as that context was told.
  public let transactionAuthor: String?
  let contextID: ContextIdentity
  let coordinator: PersistentStoreCoordinator
  /// The context that the save went into; nil for one that reached the store.
  let parentID: ContextIdentity?
  var isToStore: Bool { parentID == nil }
  /// Whether the rows were read afterwards, so that nothing is known of what they were before.
  let isRemote: Bool
  /// Those of the new rows that were objects; the others are in ``savedRows``.
  private var insertedObjects: [StoreRow]
  private var savedRows: [SavedRows] = []
  package private(set) var updated: [StoreChanges.Update]
  package private(set) var deleted: [StoreRow]
  /// What the store changed of rows that the save didn't: derived attributes of theirs.
  package private(set) var refreshed: [StoreWriteResult.Refresh]
  /// Which of the coordinator's saves it is, or of those that a parent has told its children; of one into a parent the last
  /// that was told before.
  var number: Int64 = 0
  /// The hierarchies of which any row may have been written, by the indexes of their roots, where rows aren't told.
  let changedRoots: Set<Int>?
  /// Whether an inserted row may belong to a set of another object: found out where the save is made, lest the main queue
  /// look at each row.
  let joinsSets: Bool
  private var idLists = IDLists()

  init(
    context: ManagedObjectContext, _ changes: StoreChanges, _ refreshed: [StoreWriteResult.Refresh] = [],
    _ savedRows: [SavedRows] = []
  ) {
    contextName = context.name
    transactionAuthor = context.transactionAuthor
    contextID = context.identity
    coordinator = context.persistentStoreCoordinator
    parentID = context.parent?.identity
    isRemote = false
    changedRoots = nil
    insertedObjects = changes.inserted
    self.savedRows = savedRows
    updated = changes.updated
    deleted = changes.deleted
    self.refreshed = refreshed
    joinsSets =
      changes.inserted.contains { $0.id.scope.entity.joinsSets } || savedRows.contains { $0.joinsSets }
  }

  /// What was changed by somebody else, with the rows as they are now.
  init(
    remoteChangesOf coordinator: PersistentStoreCoordinator, inserted: [StoreRow], updated: [StoreRow],
    deleted: [ManagedObjectID]
  ) {
    contextName = nil
    transactionAuthor = nil
    contextID = ContextIdentity()
    self.coordinator = coordinator
    parentID = nil
    isRemote = true
    changedRoots = nil
    insertedObjects = inserted
    self.updated = updated.map { .init(id: $0.id, values: $0.values, committed: []) }
    self.deleted = deleted.map { StoreRow(id: $0, values: []) }
    refreshed = []
    joinsSets = inserted.contains { $0.id.scope.entity.joinsSets }
  }

  /// What was written to whole hierarchies, whose rows aren't told. It is nobody's own: whoever merges it reads again, the
  /// context that wrote it, too, for it may have merged earlier saves of others since.
  init(wholesaleOf coordinator: PersistentStoreCoordinator, _ roots: Set<Int>, by context: ManagedObjectContext? = nil)
  {
    contextName = context?.name
    transactionAuthor = context?.transactionAuthor
    contextID = ContextIdentity()
    self.coordinator = coordinator
    parentID = nil
    isRemote = true
    changedRoots = roots
    insertedObjects = []
    updated = []
    deleted = []
    refreshed = []
    joinsSets = false
  }

  /// Whether it was too large to tell its rows, as an import that is committed as a whole may be: it lists no objects, and
  /// every object of ``changedEntityNames`` may have changed, come or gone. Contexts that merge it read theirs again, and
  /// fetched results controllers fetch again. Its did-save notification says so by
  /// ``ManagedObjectContext/NotificationKey/invalidatedAllObjects``.
  public var isWholesale: Bool { changedRoots != nil }

  /// Of a save that is ``isWholesale``, the names of the entities whose objects may have changed; empty of any other.
  public var changedEntityNames: [String] {
    guard let changedRoots else { return [] }
    return coordinator.model.entities.filter { changedRoots.contains($0.rootEntity.index) }.map(\.name)
  }

  /// How many rows it tells.
  var rowCount: Int {
    savedRows.reduce(insertedObjects.count) { $0 + $1.numbers.count } + updated.count + deleted.count + refreshed.count
  }

  /// Calls `body` with each new row of those entities, with permanent IDs, in the order of their insertion.
  func forEachInserted(of isConcerned: (ManagedObjectID) -> Bool, _ body: (StoreRow) -> Void) {
    for row in insertedObjects where isConcerned(row.id) { body(row) }
    for saved in savedRows {
      for row in saved.numbers.indices where isConcerned(saved.id(row)) { body(saved.row(row)) }
    }
  }

  /// Calls `body` with each new row that may belong to a set of another object.
  func forEachInsertedMember(_ body: (StoreRow) -> Void) {
    guard joinsSets else { return }
    insertedObjects.forEach(body)
    for saved in savedRows where saved.joinsSets { saved.numbers.indices.forEach { body(saved.row($0)) } }
  }

  /// Adds the hierarchies that it may have written to.
  func noteRoots(in roots: inout Set<Int>, _ model: ManagedObjectModel) {
    // Of what refers to a row that is gone nothing is told.
    if !deleted.isEmpty { return roots.formUnion(model.entities.map(\.rootEntity.index)) }
    var last: EntityDescription?
    func note(_ id: ManagedObjectID) {
      let entity: EntityDescription = id.scope.entity
      if entity === last { return }
      last = entity
      roots.insert(entity.rootEntity.index)
    }
    for row in insertedObjects { note(row.id) }
    for saved in savedRows where !saved.numbers.isEmpty { note(saved.id(0)) }
    for update in updated { note(update.id) }
    for refresh in refreshed { note(refresh.id) }
  }

  /// The save as a context's children see it: what the context has changed, saved or merged itself since is as it has it.
  func seen(by context: ManagedObjectContext) -> ContextSave {
    var save = self
    var hidden: [StoreRow] = []
    save.updated = updated.compactMap { update in
      guard let object = context.registry.object(with: update.id) else { return update }
      if object.state == .deleted {
        hidden.append(StoreRow(id: update.id, values: update.values))
        return nil
      }
      if object.isUnfilled || object.state == .detached { return update }
      var update = update
      update.values.takeOverSingleValues(of: object.slots, object.entity)
      return update
    }
    save.deleted += hidden
    save.idLists = IDLists()
    return save
  }

  /// The save as a context is to merge it that has saved some of its rows since: those are as the context has them.
  func seen(by context: ManagedObjectContext, before later: LaterSave) -> ContextSave {
    var save = self
    save.updated = updated.compactMap { update in
      guard later.rows.contains(update.id) else { return update }
      // Of a row that the context has let go of nothing needs to be told: its next fetch reads it.
      guard let object = context.registry.object(with: update.id), !object.isUnfilled else { return nil }
      let values = object.committed.isEmpty ? object.slots : object.committed
      var update = update
      update.values.takeOverSingleValues(of: values, object.entity)
      if !update.committed.isEmpty { update.committed.takeOverSingleValues(of: values, object.entity) }
      return update
    }
    save.deleted.removeAll { later.rows.contains($0.id) }
    save.refreshed.removeAll { later.rows.contains($0.id) || later.refreshed.contains($0.id) }
    save.idLists = IDLists()
    return save
  }

  /// What a did-save notification tells, of objects or of IDs; nil for any other notification.
  public init?(_ notification: Notification) {
    guard let save = notification.userInfo?[ManagedObjectContext.saveKey] as? ContextSave else { return nil }
    self = save
  }

  /// The IDs of the objects that were inserted, in the order of their insertion.
  public var insertedObjectIDs: [ManagedObjectID] { ids.inserted }
  /// The IDs of the objects that were changed.
  public var updatedObjectIDs: [ManagedObjectID] { ids.updated }
  /// The IDs of the objects that were deleted.
  public var deletedObjectIDs: [ManagedObjectID] { ids.deleted }
  /// The IDs of the objects that the save didn't change, and whose derived attributes it changed all the same, such as a
  /// count of objects that it inserted.
  public var refreshedObjectIDs: [ManagedObjectID] { refreshed.map(\.id) }

  private var insertedIDs: [ManagedObjectID] {
    var ids = insertedObjects.map { $0.id }
    for saved in savedRows { ids.append(contentsOf: saved.numbers.indices.map { saved.id($0) }) }
    return ids
  }

  /// Whether a later save can be told as part of this one: what both inserted, in that order.
  func canTake(_ later: ContextSave) -> Bool {
    func onlyInserts(_ save: ContextSave) -> Bool {
      save.updated.isEmpty && save.deleted.isEmpty && save.refreshed.isEmpty && !save.joinsSets && !save.isRemote
    }
    return onlyInserts(self) && onlyInserts(later) && contextID == later.contextID && parentID == later.parentID
      && (savedRows.isEmpty || later.insertedObjects.isEmpty) && contextName == later.contextName
      && transactionAuthor == later.transactionAuthor
  }

  /// Takes in a later save that ``canTake(_:)`` said yes to.
  mutating func take(_ later: ContextSave) {
    number = later.number
    insertedObjects += later.insertedObjects
    savedRows += later.savedRows
    // The lists of a save that others have, too, stay theirs.
    if !isKnownUniquelyReferenced(&idLists) { idLists = IDLists(like: ids) }
    idLists.append(later.insertedObjectIDs)
  }

  /// Its IDs, in lists that are made once, by the first to ask for them.
  private var ids: IDLists.Lists { idLists.lists(of: self) }

  /// The user info of the notifications that tell IDs.
  var objectIDInfo: [AnyHashable: Any] { idLists.info(of: self) }

  /// Makes what notifications tell of IDs here and now, lest the main queue have to.
  func listIDs() { _ = objectIDInfo }

  /// The IDs of one save, shared by its copies.
  private final class IDLists: @unchecked Sendable {
    // Sendable: everything is read and written under the lock; what is handed out are values that are.
    struct Lists {
      var inserted: [ManagedObjectID]
      let updated: [ManagedObjectID]
      let deleted: [ManagedObjectID]
    }

    private let lock = Mutex(())
    private var lists: Lists?
    private var info: [AnyHashable: Any]?

    init(like lists: Lists? = nil) { self.lists = lists }

    /// Adds IDs of objects that were inserted later.
    func append(_ inserted: [ManagedObjectID]) {
      lock.withLock { _ in
        lists?.inserted += inserted
        info = nil
      }
    }

    func lists(of save: ContextSave) -> Lists { lock.withLock { _ in made(of: save) } }

    func info(of save: ContextSave) -> [AnyHashable: Any] {
      lock.withLock { _ in
        if let info { return info }
        let lists = made(of: save)
        // The save that is told has lists of its own: one that held these would never be freed.
        var told = save
        told.idLists = IDLists(like: lists)
        typealias Key = ManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [
          ManagedObjectContext.saveKey: told, Key.insertedObjectIDs.rawValue: lists.inserted,
          Key.updatedObjectIDs.rawValue: lists.updated, Key.deletedObjectIDs.rawValue: lists.deleted,
          Key.refreshedObjectIDs.rawValue: save.refreshedObjectIDs,
        ]
        if save.isWholesale { info[Key.invalidatedAllObjects.rawValue] = true }
        self.info = info
        return info
      }
    }

    private func made(of save: ContextSave) -> Lists {
      if let lists { return lists }
      let made = Lists(
        inserted: save.insertedIDs, updated: save.updated.map { $0.id }, deleted: save.deleted.map { $0.id })
      lists = made
      return made
    }
  }
}
