public import Foundation
import Synchronization

/// The rows that one save wrote: the typed form of the did-save notification. It can cross to other contexts' queues.
///
/// ```swift
/// NotificationCenter.default.addObserver(
///   forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
/// ) { note in
///   guard let save = ContextSave(note) else { return }
///   main.perform { main in main.mergeChanges(fromContextDidSave: save) }
/// }
/// ```
public struct ContextSave: Sendable {
  /// Where the changes come from, which decides what is known of their rows.
  private enum Origin: Sendable {
    /// A context saved: to the store, or into its parent. The rows are known as they were and as they are.
    case context(ContextIdentity, parent: ContextIdentity?)
    /// Another process or a batch request changed the store. The rows were read afterwards; their former values are unknown.
    case remote
    /// Whole hierarchies may have changed, known by the indexes of their root entities. No rows are listed. Every context
    /// that merges it reads again, including the one that saved, which may have merged earlier saves of others since.
    case wholesale(roots: Set<Int>)
  }

  /// The name of the context that saved.
  public let contextName: String?
  /// Who made the changes: the transaction author of the context that saved.
  public let transactionAuthor: String?
  package let coordinator: PersistentStoreCoordinator
  private let origin: Origin
  /// The new rows that were objects; the others are in ``savedRows``.
  private var insertedObjects: [StoreRow] = []
  private var savedRows: [SavedRows] = []
  package private(set) var updated: [StoreChanges.Update] = []
  /// Changed objects whose rows the save didn't write: owners of changed sets, and objects with nothing to write. Their values aren't
  /// compared with the store's, so nothing takes them from here.
  private(set) var unwritten: [ManagedObjectID] = []
  package private(set) var deleted: [StoreRow] = []
  /// Derived attributes that the store changed in rows that the save didn't write.
  package private(set) var refreshed: [StoreWriteResult.Refresh] = []
  /// The save's number among those of the coordinator, or among those that a parent has delivered to its children. For a
  /// save into a parent, the number that the parent delivered last; for changes of others, that of the latest save which their
  /// rows include. Assigned when the save is delivered, so it isn't private.
  var number: Int64 = 0
  /// The place in the history after the save; nil where its store tracks none. Known once the store has written, so it isn't
  /// private.
  public internal(set) var historyToken: PersistentHistoryToken?
  /// Whether an inserted row may belong to another object's set. Worked out where the save is made, so that the main queue
  /// needn't look at each row.
  let joinsSets: Bool
  /// The hierarchies of the inserted rows, by the indexes of their roots, even of those that the save no longer lists.
  private var insertedRoots: Set<Int> = []
  private var idLists = IDLists()

  /// The save of a context.
  init(
    context: ManagedObjectContext, _ changes: StoreChanges, _ refreshed: [StoreWriteResult.Refresh] = [],
    _ savedRows: [SavedRows] = []
  ) {
    contextName = context.name
    transactionAuthor = context.transactionAuthor
    coordinator = context.persistentStoreCoordinator
    origin = .context(context.identity, parent: context.parent?.identity)
    insertedObjects = changes.inserted
    self.savedRows = savedRows
    if changes.updated.allSatisfy(\.isWritten) {
      updated = changes.updated
    } else {
      updated = changes.updated.filter(\.isWritten)
      unwritten = changes.updated.lazy.filter { !$0.isWritten }.map(\.id)
    }
    deleted = changes.deleted
    self.refreshed = refreshed
    let entities = Self.entities(of: changes.inserted)
    joinsSets = entities.contains(where: \.joinsSets) || savedRows.contains { $0.joinsSets }
    noteInsertedRoots(entities)
  }

  /// Changes that no context of the coordinator saved, with the rows as they are after the coordinator's save of that number.
  init(
    remoteChangesOf coordinator: PersistentStoreCoordinator, after number: Int64 = 0, inserted: [StoreRow],
    updated: [StoreRow], deleted: [ManagedObjectID]
  ) {
    self.number = number
    contextName = nil
    transactionAuthor = nil
    self.coordinator = coordinator
    origin = .remote
    insertedObjects = inserted
    self.updated = updated.map { .init(id: $0.id, values: $0.values, committed: []) }
    self.deleted = deleted.map { StoreRow(id: $0, values: []) }
    let entities = Self.entities(of: inserted)
    joinsSets = entities.contains(where: \.joinsSets)
    noteInsertedRoots(entities)
  }

  /// Changes to whole hierarchies whose rows aren't listed.
  init(wholesaleOf coordinator: PersistentStoreCoordinator, _ roots: Set<Int>, by context: ManagedObjectContext? = nil)
  {
    contextName = context?.name
    transactionAuthor = context?.transactionAuthor
    self.coordinator = coordinator
    origin = .wholesale(roots: roots)
    joinsSets = false
  }

  /// Whether the context of a queue made this save.
  package func isMade(by queue: ContextQueue) -> Bool { isMade(by: queue.identity) }

  /// Whether a context made this save. A remote or wholesale save has no such context.
  func isMade(by context: ContextIdentity) -> Bool {
    if case .context(context, _) = origin { return true }
    return false
  }

  /// Whether the save reached the store.
  package var isToStore: Bool { parentID == nil }

  /// The context that the save went into; nil for one that reached the store.
  var parentID: ContextIdentity? {
    if case .context(_, let parent) = origin { return parent }
    return nil
  }

  /// Whether the former values of the rows are unknown.
  var isRemote: Bool {
    switch origin {
    case .context: return false
    case .remote, .wholesale: return true
    }
  }

  /// The hierarchies in which any row may have changed, by the indexes of their roots; nil where the rows are listed.
  var changedRoots: Set<Int>? {
    if case .wholesale(let roots) = origin { return roots }
    return nil
  }

  /// Whether the save was too large to list its rows, as an import that is committed as a whole may be. Every object of
  /// ``changedEntityNames`` may have been inserted, changed or deleted. Contexts that merge the save read their objects
  /// again, and fetched results controllers fetch again. The did-save notification then has
  /// ``ManagedObjectContext/NotificationKey/invalidatedAllObjects``.
  public var isWholesale: Bool { changedRoots != nil }

  /// The names of the entities whose objects may have changed, if the save ``isWholesale``; empty otherwise.
  public var changedEntityNames: [String] {
    guard let changedRoots else { return [] }
    return coordinator.model.entities.filter { changedRoots.contains($0.rootEntity.index) }.map(\.name)
  }

  /// Whether rows were inserted, even if it no longer lists them.
  var insertsRows: Bool { !insertedRoots.isEmpty }

  /// Whether the save had no changed objects.
  public var isEmpty: Bool { rowCount == 0 && unwritten.isEmpty && insertedRoots.isEmpty && !isWholesale }

  /// The number of rows that it lists.
  var rowCount: Int {
    savedRows.reduce(insertedObjects.count) { $0 + $1.numbers.count } + updated.count + deleted.count + refreshed.count
  }

  /// Calls `body` with each new row whose ID is of interest, with permanent IDs, in the order of insertion.
  func forEachInserted(of isConcerned: (ManagedObjectID) -> Bool, _ body: (StoreRow) -> Void) {
    for row in insertedObjects where isConcerned(row.id) { body(row) }
    for saved in savedRows {
      for row in saved.numbers.indices where isConcerned(saved.id(row)) { body(saved.row(row)) }
    }
  }

  /// Calls `body` with each new row that may belong to another object's set.
  func forEachInsertedMember(_ body: (StoreRow) -> Void) {
    guard joinsSets else { return }
    insertedObjects.forEach(body)
    for saved in savedRows where saved.joinsSets { saved.numbers.indices.forEach { body(saved.row($0)) } }
  }

  /// Adds the hierarchies that the save may have written to.
  func noteRoots(in roots: inout Set<Int>, _ model: ManagedObjectModel) {
    // The save doesn't list the rows that referred to a deleted one.
    if !deleted.isEmpty { return roots.formUnion(model.entities.map(\.rootEntity.index)) }
    roots.formUnion(insertedRoots)
    Self.noteRoots(of: updated.lazy.map { $0.id.scope.entity }, in: &roots)
    Self.noteRoots(of: refreshed.lazy.map { $0.id.scope.entity }, in: &roots)
  }

  /// The entities of rows: each row's that isn't that of the row before.
  private static func entities(of rows: [StoreRow]) -> [EntityDescription] {
    var entities: [EntityDescription] = []
    // By index, because a copy of each row would count references.
    for place in rows.indices where place == 0 || rows[place].id.scope !== rows[place - 1].id.scope {
      entities.append(rows[place].id.scope.entity)
    }
    return entities
  }

  private mutating func noteInsertedRoots(_ entities: [EntityDescription]) {
    Self.noteRoots(of: entities, in: &insertedRoots)
    Self.noteRoots(of: savedRows.lazy.filter { !$0.numbers.isEmpty }.map { $0.id(0).scope.entity }, in: &insertedRoots)
  }

  private static func noteRoots(of entities: some Sequence<EntityDescription>, in roots: inout Set<Int>) {
    var last: EntityDescription?
    for entity in entities where entity !== last {
      last = entity
      roots.insert(entity.rootEntity.index)
    }
  }

  /// The save with the IDs of inserted objects and without their rows.
  func withoutInsertedRows() -> ContextSave {
    var save = self
    save.idLists = IDLists(like: ids)
    save.insertedObjects = []
    save.savedRows = []
    return save
  }

  /// The save as a context's children see it: with the context's own values where it has changed, saved or merged since.
  func seen(by context: ManagedObjectContext) -> ContextSave {
    // A context that only hands saves on, as a main context without objects does, must not look at each row.
    if context.bareRegistry.count == 0 { return self }
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
    save.relistIDs(of: self)
    return save
  }

  /// The save as a context merges it that has saved some of its rows since: with the context's own values for those.
  func seen(by context: ManagedObjectContext, before later: PendingSave) -> ContextSave {
    var save = self
    save.updated = updated.compactMap { update in
      guard later.rows.contains(update.id) else { return update }
      // A row that the context has released is read by its next fetch.
      guard let object = context.registry.object(with: update.id), !object.isUnfilled else { return nil }
      let values = object.committed.isEmpty ? object.slots : object.committed
      var update = update
      update.values.takeOverSingleValues(of: values, object.entity)
      if !update.committed.isEmpty { update.committed.takeOverSingleValues(of: values, object.entity) }
      return update
    }
    save.deleted.removeAll { later.rows.contains($0.id) }
    save.refreshed.removeAll { later.rows.contains($0.id) || later.refreshed.contains($0.id) }
    save.relistIDs(of: self)
    return save
  }

  /// The save that a context's did-save or did-merge notification announces, with objects or with IDs; nil for any other
  /// notification. One made from the history or by a program has no such save:
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(Notification)`` merges it all the same.
  public init?(_ notification: Notification) {
    guard let save = notification.userInfo?[ManagedObjectContext.saveKey] as? ContextSave else { return nil }
    self = save
  }

  /// The IDs of the inserted objects, in the order of insertion.
  public var insertedObjectIDs: [ManagedObjectID] { ids.inserted }
  /// The IDs of the changed objects.
  public var updatedObjectIDs: [ManagedObjectID] { ids.updated }
  /// The IDs of the deleted objects.
  public var deletedObjectIDs: [ManagedObjectID] { ids.deleted }
  /// The IDs of objects of which only derived attributes changed, such as a count of objects that the save inserted.
  public var refreshedObjectIDs: [ManagedObjectID] { refreshed.map(\.id) }

  private var insertedIDs: [ManagedObjectID] {
    var ids = insertedObjects.map { $0.id }
    for saved in savedRows { ids.append(contentsOf: saved.numbers.indices.map { saved.id($0) }) }
    return ids
  }

  /// Whether a later save of the same context can be merged as part of this one: both insert objects that belong to no set
  /// and change at most a few, as an import does that updates its checkpoint with every batch.
  func canAppend(_ later: ContextSave) -> Bool {
    func isSimple(_ save: ContextSave) -> Bool {
      save.deleted.isEmpty && save.refreshed.isEmpty && save.unwritten.isEmpty && !save.joinsSets
        && save.updated.count <= 8
        && save.updated.allSatisfy { $0.id.entity.relationships.isEmpty }
    }
    guard case .context(let context, let parent) = origin, case .context(context, parent) = later.origin else {
      return false
    }
    return isSimple(self) && isSimple(later) && (savedRows.isEmpty || later.insertedObjects.isEmpty)
      && !later.updated.contains { insertedRoots.contains($0.id.entity.rootEntity.index) }
      && contextName == later.contextName && transactionAuthor == later.transactionAuthor
  }

  /// Appends a later save for which ``canAppend(_:)`` holds.
  mutating func append(_ later: ContextSave) {
    // Other holders of the save keep its lists as they are, so they are made before the save grows.
    if !isKnownUniquelyReferenced(&idLists) { idLists = IDLists(like: ids) }
    number = later.number
    historyToken = later.historyToken ?? historyToken
    insertedObjects += later.insertedObjects
    savedRows += later.savedRows
    insertedRoots.formUnion(later.insertedRoots)
    for var update in later.updated {
      if let index = updated.firstIndex(where: { $0.id == update.id }) {
        update.committed = updated[index].committed
        updated[index] = update
      } else {
        updated.append(update)
      }
    }
    idLists.append(later.insertedObjectIDs, updated: updated.map { $0.id })
  }

  /// Has the lists of IDs made again. A save without its inserted rows can't list their IDs, so it takes them over.
  private mutating func relistIDs(of original: ContextSave) {
    guard insertedObjects.isEmpty, savedRows.isEmpty, !original.insertedObjectIDs.isEmpty else {
      idLists = IDLists()
      return
    }
    idLists = IDLists(
      like: IDLists.Lists(
        inserted: original.insertedObjectIDs, updated: updated.map { $0.id } + unwritten, deleted: deleted.map { $0.id }
      ))
  }

  /// The IDs, in lists that the first reader makes.
  private var ids: IDLists.Lists { idLists.lists(of: self) }

  /// The user info of the notifications that carry IDs.
  var objectIDInfo: [AnyHashable: Any] { idLists.info(of: self) }

  /// Makes the lists of IDs on this thread, so that the main queue needn't.
  func listIDs() {
    if AnnouncedName.didMergeIDs.isWanted || AnnouncedName.didSaveIDs.isWanted { _ = objectIDInfo } else { _ = ids }
  }

  /// The IDs of one save, shared by its copies.
  private final class IDLists: @unchecked Sendable {
    // Sendable: everything mutable is read and written under the lock; what leaves it are Sendable values.
    struct Lists {
      var inserted: [ManagedObjectID]
      var updated: [ManagedObjectID]
      let deleted: [ManagedObjectID]
    }

    private let lock = Mutex(())
    private var lists: Lists?
    private var info: [AnyHashable: Any]?

    init(like lists: Lists? = nil) { self.lists = lists }

    /// Appends the IDs of objects that were inserted later, and replaces those of the changed ones.
    func append(_ inserted: [ManagedObjectID], updated: [ManagedObjectID]) {
      lock.withLock { _ in
        lists?.inserted += inserted
        lists?.updated = updated
        info = nil
      }
    }

    func lists(of save: ContextSave) -> Lists { lock.withLock { _ in made(of: save) } }

    func info(of save: ContextSave) -> [AnyHashable: Any] {
      lock.withLock { _ in
        if let info { return info }
        let lists = made(of: save)
        // The announced save has lists of its own: with these it would form a cycle that is never freed.
        var announced = save
        announced.idLists = IDLists(like: lists)
        typealias Key = ManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [
          ManagedObjectContext.saveKey: announced, Key.insertedObjectIDs.rawValue: Set(lists.inserted),
          Key.updatedObjectIDs.rawValue: Set(lists.updated), Key.deletedObjectIDs.rawValue: Set(lists.deleted),
          Key.refreshedObjectIDs.rawValue: Set(save.refreshedObjectIDs),
        ]
        if save.isWholesale { info[Key.invalidatedAllObjects.rawValue] = [ManagedObjectID]() }
        self.info = info
        return info
      }
    }

    private func made(of save: ContextSave) -> Lists {
      if let lists { return lists }
      let made = Lists(
        inserted: save.insertedIDs, updated: save.updated.map { $0.id } + save.unwritten,
        deleted: save.deleted.map { $0.id })
      lists = made
      return made
    }
  }
}

extension ContiguousArray where Element == Value {
  /// Takes over another version of the same row, except for its sets.
  fileprivate mutating func takeOverSingleValues(of values: ContiguousArray<Value>, _ entity: EntityDescription) {
    for property in entity.properties where !property.holdsSet { self[property.slot] = values[property.slot] }
  }
}

/// Identifies a context by a number that no other ever gets, unlike its address, which may be reused.
struct ContextIdentity: Sendable, Hashable {
  private static let latest = Atomic<UInt64>(0)
  private let number = Self.latest.add(1, ordering: .relaxed).newValue
}
