public import Foundation
import Synchronization

/// Connects contexts and stores: a context's fetch goes to the stores that hold the entity, and its save to the stores of its
/// objects.
///
/// Safe from any thread. Several contexts may fetch and save at the same time; an SQLite store lets readers continue while it
/// writes.
///
/// Source: Core Data's `NSPersistentStoreCoordinator`.
public final class PersistentStoreCoordinator: Sendable {
  /// The model that all its contexts share.
  public let model: ManagedObjectModel
  private let temporaryScopes: [IDScope]
  private let state: Mutex<State>
  /// The lock for saves, which keeps them in the order of their numbers. Recursive: code that is notified within a save may save
  /// too.
  private let saving = NSRecursiveLock()
  /// The number of the last save.
  nonisolated(unsafe) private var lastSave: Int64 = 0 {  // under `saving`
    didSet { publishedSave.store(lastSave, ordering: .releasing) }
  }
  private let publishedSave = Atomic<Int64>(0)
  /// Which saves changed the members of one-to-many sets.
  nonisolated(unsafe) private var setVersions = SetVersions()  // under `saving`
  /// The number of changes of the stores so far: see ``version``.
  private let changes = Atomic<Int64>(0)
  /// The transaction of several saves that the thread which holds `saving` has begun.
  nonisolated(unsafe) private var openTransaction: TransactionScope?  // under `saving`
  /// The contexts that merge saves automatically.
  let followers = SaveFollowers()

  private struct State {
    var map: StoreMap
  }

  /// A coordinator without stores.
  public init(model: ManagedObjectModel) {
    self.model = model
    temporaryScopes = model.entities.map { IDScope.of($0, in: "") }
    state = Mutex(State(map: StoreMap(model, [])))
  }

  /// The coordinator of contexts that have none yet: without entities, and so without anything to fetch or save.
  static let none = PersistentStoreCoordinator(model: .empty)

  /// Opens a store and adds it.
  ///
  /// It holds the entities of its configuration, whether or not other stores hold them too. An entity's new objects go to the
  /// store that was added first, unless ``ManagedObjectContext/assign(_:to:)`` assigns another; a fetch searches all of them,
  /// unless ``FetchRequest/affectedStores`` names some.
  ///
  /// Source: `addPersistentStore(with:completionHandler:)` of Core Data, which doesn't allow stores with and without a
  /// configuration beside each other. Here, a store without one holds the entities that the configurations of earlier stores
  /// leave.
  /// - Throws: ``ManagedObjectError/classMismatch(_:)`` with every mismatch between typed classes and the model, ``PersistentStoreError/unknownConfiguration(name:known:)``,
  ///   ``PersistentStoreError/alreadyAdded(identifier:)``, or the store's error.
  @discardableResult
  public func addPersistentStore(_ description: PersistentStoreDescription) throws -> PersistentStore {
    guard model.classMismatches.isEmpty else { throw ManagedObjectError.classMismatch(model.classMismatches) }
    let entities = try entities(of: description.configuration)
    let content = try description.open(model, entities)
    let store = PersistentStore(content, description, entities: entities)
    do {
      try add(store) { try followRemoteChanges(of: content) }
    } catch {
      try content.close()
      throw error
    }
    postStoresDidChange(.addedStores, store)
    return store
  }

  /// Opens a store and adds it, in the background if the description says so.
  ///
  /// Source: `addPersistentStore(with:completionHandler:)` of Core Data.
  /// - Parameter completionHandler: called once, with the description and what ``addPersistentStore(_:)`` throws or nil: before
  ///   this method returns, or on a thread in the background with
  ///   ``PersistentStoreDescription/shouldAddStoreAsynchronously``.
  public func addPersistentStore(
    with description: PersistentStoreDescription,
    completionHandler: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    @Sendable func add() {
      do {
        try addPersistentStore(description)
      } catch {
        return completionHandler(description, error)
      }
      completionHandler(description, nil)
    }
    if description.shouldAddStoreAsynchronously { DispatchQueue.global().async(execute: add) } else { add() }
  }

  private func entities(of configuration: String?) throws -> [EntityDescription] {
    guard let configuration else {
      let taken = Set(persistentStores.filter { $0.configurationName != nil }.flatMap(\.entities))
      return model.entities.filter { !taken.contains($0) }
    }
    guard let names = model.configurations[configuration] else {
      throw PersistentStoreError.unknownConfiguration(name: configuration, known: Array(model.configurations.keys))
    }
    return model.entities.filter { names.contains($0.name) }
  }

  private func add(_ store: PersistentStore, _ follow: () throws -> Void) throws {
    try saving.withLock {
      guard map.store(store.identifier) == nil else {
        throw PersistentStoreError.alreadyAdded(identifier: store.identifier)
      }
      try follow()
      replaceStores(map.stores + [store])
    }
  }

  /// Removes and closes a store. Its file stays; a store in memory is gone.
  ///
  /// Waits for saves in progress. Objects of the store stay in their contexts with the values that they have; reading more of
  /// them fails, and so does a save that would write them:
  /// ``PersistentStoreError/notReachable(_:)``. Source: `remove(_:)` of Core Data.
  /// - Throws: ``PersistentStoreError/unknownStore(identifier:)``, or the store's error, such as when it is being read: then
  ///   it stays added.
  public func remove(_ store: PersistentStore) throws {
    try saving.withLock {
      try refuseInTransaction("remove a store")
      let stores = map.stores
      guard stores.contains(store) else { throw PersistentStoreError.unknownStore(identifier: store.identifier) }
      replaceStores(stores.filter { $0 != store })
      do {
        try store.content.close()
      } catch {
        replaceStores(stores)
        try followRemoteChanges(of: store.content)
        throw error
      }
    }
    postStoresDidChange(.removedStores, store)
  }

  private func replaceStores(_ stores: [PersistentStore]) {
    let map = StoreMap(model, stores)
    state.withLock { $0.map = map }
    noteChange()
  }

  /// Closes every store, at the end of a program. Contexts of the coordinator can't read or save afterwards.
  public func close() throws {
    for store in persistentStores { try store.content.close() }
  }

  /// The stores, in the order of their addition. Source: `persistentStores` of Core Data.
  public var persistentStores: [PersistentStore] { map.stores }

  /// The number of the last save. Whoever reads a store afterwards sees that save. Safe from any thread.
  var latestSave: Int64 { publishedSave.load(ordering: .acquiring) }

  /// Another number after each change of a store, for contexts that ask whether their values are still the latest. Safe from
  /// any thread.
  var version: Int64 { changes.load(ordering: .acquiring) }

  /// Notes that a store has been changed.
  func noteChange() { changes.add(1, ordering: .releasing) }

  /// The current assignment of entities to stores.
  var map: StoreMap { state.withLock { $0.map } }

  /// The store at a URL; nil when the coordinator has none there. Source: `persistentStore(for:)` of Core Data.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
  }

  /// The store that holds a saved object; nil while its ID is temporary, and when the coordinator doesn't have the store.
  ///
  /// Source: `persistentStore` of Core Data's `NSManagedObjectID`, where the ID knows its coordinator. Here an ID is a
  /// value that is the same under every coordinator that opens the store.
  public func persistentStore(for objectID: ManagedObjectID) -> PersistentStore? {
    objectID.storeIdentifier.flatMap(map.store)
  }

  /// The store that takes an entity's new objects, unless they are assigned to another.
  package func store(of entity: EntityDescription) throws -> PersistentStore { try map.first(of: entity) }

  /// The ID that a URI represents.
  ///
  /// Source: `managedObjectID(forURIRepresentation:)` of Core Data.
  /// - Returns: nil when the URI isn't of a store of this coordinator.
  public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
    let parts = uri.absoluteString.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 4, parts[0] == "x-coredata:", parts[3].first == "p", let number = Int64(parts[3].dropFirst()),
      let entity = model.entitiesByName[String(parts[2])],
      map.store(String(parts[1])) != nil
    else { return nil }
    return ManagedObjectID(scope: .of(entity, in: String(parts[1])), number: number)
  }

  /// The ID of the row with that number, whether or not it exists, in a store or in the entity's first one.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` or ``ManagedObjectError/noStore(entity:)``.
  package func managedObjectID(
    entity name: String, number: Int64, in store: PersistentStore? = nil
  ) throws -> ManagedObjectID {
    guard let entity = model.entitiesByName[name] else {
      throw ManagedObjectError.unknownEntity(name: name, known: model.entities.map(\.name))
    }
    let store = try store ?? self.store(of: entity)
    return ManagedObjectID(scope: .of(entity, in: store.identifier), number: number)
  }

  func temporaryScope(of entity: EntityDescription) -> IDScope { temporaryScopes[entity.index] }
}

extension PersistentStoreCoordinator: RoutingSource {
  func reader(of store: PersistentStore) throws -> (any StoreReader)? { store.content }

  /// Gives permanent IDs to rows without objects, of an entity without a primary key.
  func givePermanentIDs(to rows: NewRows) throws {
    if rows.count == 0 { return }
    let store = try store(of: rows.entity).writableContent(to: "give permanent IDs")
    if let store = store as? any BulkLoading, store.takesNewRows {
      let (scope, first) = try store.permanentNumbers(rows.count, of: rows.entity)
      rows.givenNumbers = Array(first...first + Int64(rows.count - 1))
      rows.givenScope = scope
    } else {
      let ids = try store.permanentIDs(for: Array(repeating: rows.entity, count: rows.count))
      rows.givenNumbers = ids.map(\.number)
      rows.givenScope = ids.first?.scope
    }
  }

  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    // The usual case: objects of one entity.
    if stores.isEmpty, let only = entities.first, only.primaryKey == nil, entities.allSatisfy({ $0 === only }) {
      return try store(of: only).writableContent(to: "give permanent IDs").permanentIDs(for: entities)
    }
    // An entity with a primary key gets its IDs from that attribute's values, when it is saved.
    var ids = entities.map { ManagedObjectID(scope: temporaryScope(of: $0), number: 0) }
    let wanting = entities.indices.filter { entities[$0].primaryKey == nil }
    let homes = try wanting.map { try stores[$0] ?? store(of: entities[$0]) }
    for (store, pairs) in Dictionary(grouping: zip(wanting, homes), by: \.1) {
      let places = pairs.map(\.0)
      let new = try store.writableContent(to: "give permanent IDs").permanentIDs(for: places.map { entities[$0] })
      for (place, id) in zip(places, new) { ids[place] = id }
    }
    return ids
  }
}

extension PersistentStoreCoordinator {
  /// Posted when a store was added or removed, on the thread that did it; `object` is the coordinator.
  ///
  /// Source: Core Data's `NSPersistentStoreCoordinatorStoresDidChange`.
  public static let storesDidChangeNotification = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")

  /// Keys of the user info of ``storesDidChangeNotification``; the values are arrays of ``PersistentStore``.
  public enum NotificationKey: String, Sendable {
    /// Stores that were added: Core Data's `NSAddedPersistentStoresKey`.
    case addedStores = "added"
    /// Stores that were removed: Core Data's `NSRemovedPersistentStoresKey`.
    case removedStores = "removed"
  }

  func postStoresDidChange(_ key: NotificationKey, _ store: PersistentStore) {
    NotificationCenter.default.post(
      name: Self.storesDidChangeNotification, object: self, userInfo: [key.rawValue: [store]])
  }
}

// MARK: - Saves

// A save is one transaction in each store that it concerns, one store after the other, in the order of their addition. As in
// Core Data, a store's part stays written when a later store refuses its own: the context counts that part as saved, and
// keeps the rest as changes.

extension PersistentStoreCoordinator {
  /// Writes saves one after the other, and numbers them: followers receive them in that order. A store has one writer at a time
  /// anyway.
  /// - Throws: ``PartialWriteError`` when a store has written its part and another refuses.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    var changes = changes
    if !changes.updated.allSatisfy(\.concernsStores) { changes.updated.removeAll { !$0.concernsStores } }
    if let fence = changes.fence { changes.updated.append(fence.update) }
    return try saving.withLock {
      defer { noteChange() }
      try checkSets(of: changes)
      var result: StoreWriteResult
      do {
        result = try writeParts(of: changes)
      } catch var error as PartialWriteError {
        lastSave += 1
        noteSets(of: error.changes)
        error.result.number = lastSave
        throw error
      }
      lastSave += 1
      noteSets(of: changes)
      result.number = lastSave
      result.isInTransaction = openTransaction != nil
      return result
    }
  }

  /// Optimistic locking of one-to-many sets, whose members the owner's row doesn't list: two contexts can't both change a set
  /// without one of them knowing. Under `saving`.
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)`` with every row that has changed, for this reason or another.
  private func checkSets(of changes: StoreChanges) throws {
    let stale = changes.updated.filter { update in
      update.latestSave.map { setVersions.hasChanged(update.id, after: $0) } ?? false
    }
    if stale.isEmpty { return }
    var conflicts = try changes.mergeConflicts { try rows(with: [$0]).first }
    let known = Set(conflicts.map(\.objectID))
    for update in stale where !known.contains(update.id) {
      conflicts.append(
        .init(
          update.id, object: update.values, cached: update.committed,
          persisted: try rows(with: [update.id]).first?.values))
    }
    for index in conflicts.indices { conflicts[index].latestSave = lastSave }
    throw ManagedObjectError.mergeConflicts(conflicts)
  }

  /// Notes whose sets the last save has changed. Under `saving`.
  private func noteSets(of changes: StoreChanges) {
    for update in changes.updated where update.latestSave != nil { setVersions.note(update.id, in: lastSave) }
  }

  private func writeParts(of changes: StoreChanges) throws -> StoreWriteResult {
    let map = map
    let only = try onlyStore(of: changes, map)
    if let openTransaction, only != openTransaction.store, !changes.isEmpty {
      throw StoreTransactionError.otherStore(path: StoreTransactionError.name(of: openTransaction.store.content))
    }
    if let only { return try write(changes, to: only) }
    try checkStores(changes, map)
    var parts: [Int: Part] = [:]
    var finder = StoreFinder(map, changes.assignments)
    func withPart(of id: ManagedObjectID, _ body: (inout Part) -> Void) throws {
      body(&parts[try finder.place(of: id), default: Part(of: changes)])
    }
    for (position, row) in changes.inserted.enumerated() {
      try withPart(of: row.id) {
        $0.changes.inserted.append(row)
        $0.positions.append(position)
      }
    }
    for rows in changes.newRows where rows.count > 0 {
      try withPart(of: rows.temporaryID(0)) { $0.changes.newRows.append(rows) }
    }
    for update in changes.updated { try withPart(of: update.id) { $0.changes.updated.append(update) } }
    for row in changes.deleted { try withPart(of: row.id) { $0.changes.deleted.append(row) } }
    return try write(parts.sorted { $0.key < $1.key }.map { (map.stores[$0.key], $0.value) }, of: changes)
  }

  private func write(_ parts: [(store: PersistentStore, part: Part)], of changes: StoreChanges) throws
    -> StoreWriteResult
  {
    var result = StoreWriteResult(ids: changes.inserted.map(\.id))
    var written: [(changes: StoreChanges, result: StoreWriteResult)] = []
    // Before any store writes its part.
    for (store, _) in parts { _ = try store.writableContent(to: "save") }
    for (store, part) in parts {
      do {
        let one = try write(part.changes, to: store)
        for (position, id) in zip(part.positions, one.ids) { result.ids[position] = id }
        result.savedRows += one.savedRows
        result.refreshed += one.refreshed
        result.note(one.historyToken)
        written.append((part.changes, one))
      } catch {
        throw written.isEmpty ? error : PartialWriteError(written, underlying: error)
      }
    }
    return result
  }

  /// Writes to one store, which needn't support rows in flat memory.
  private func write(_ changes: StoreChanges, to store: PersistentStore) throws -> StoreWriteResult {
    let store = try store.writableContent(to: "save")
    if changes.newRows.isEmpty || (store as? any BulkLoading)?.takesNewRows == true { return try store.write(changes) }
    var plain = changes
    plain.newRows = []
    for rows in changes.newRows {
      plain.inserted += (0..<rows.count).map { row in
        rows.givenID(row).map { StoreRow(id: $0, values: rows.values(row)) } ?? rows.row(row)
      }
    }
    var result = try store.write(plain)
    var ids = result.ids[changes.inserted.count...]
    for rows in changes.newRows {
      guard let first = ids.first else { continue }
      result.savedRows.append(SavedRows(rows, scope: first.scope, numbers: ids.prefix(rows.count).map(\.number)))
      ids = ids.dropFirst(rows.count)
    }
    result.ids.removeSubrange(changes.inserted.count...)
    return result
  }

  /// The only store that the changes concern; nil when there are several.
  private func onlyStore(of changes: StoreChanges, _ map: StoreMap) throws -> PersistentStore? {
    var finder = StoreFinder(map, changes.assignments)
    var only: Int?
    // With one store, new objects belong to it; only rows that were read may be of a store that was removed.
    let isPlain = map.stores.count == 1 && changes.assignments.isEmpty
    if isPlain, !changes.inserted.isEmpty || !changes.newRows.isEmpty { only = 0 }
    func isOther(_ id: ManagedObjectID) throws -> Bool {
      let place = try finder.place(of: id)
      if only == nil { only = place }
      return only != place
    }
    if !isPlain {
      for row in changes.inserted where try isOther(row.id) { return nil }
      for rows in changes.newRows where try rows.count > 0 && isOther(rows.temporaryID(0)) { return nil }
    }
    for update in changes.updated where try isOther(update.id) { return nil }
    for row in changes.deleted where try isOther(row.id) { return nil }
    guard let only else { return nil }
    // References may still lead to other stores.
    if map.stores.count > 1 { try checkStores(changes, map) }
    return map.stores[only]
  }

  /// Refuses references from store to store, as Core Data does.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with all of them.
  private func checkStores(_ changes: StoreChanges, _ map: StoreMap) throws {
    var failures: [ValidationFailure] = []
    var finder = StoreFinder(map, changes.assignments)
    func check(_ id: ManagedObjectID, _ values: ContiguousArray<Value>) throws {
      let relationships = id.scope.entity.relationships
      if relationships.isEmpty { return }
      let home = try finder.place(of: id)
      // Of a one-to-many relationship only the to-one end is checked.
      for relationship in relationships
      where !relationship.isTransient && (!relationship.isToMany || relationship.isManyToMany) {
        let targets: [ManagedObjectID]
        switch values[relationship.slot] {
        case .object(let target): targets = try finder.place(of: target) == home ? [] : [target]
        case .objects(let ids): targets = try ids.filter { try finder.place(of: $0) != home }
        case .orderedObjects(let ids): targets = try ids.filter { try finder.place(of: $0) != home }
        default: continue
        }
        if targets.isEmpty { continue }
        failures.append(
          .init(entity: id.entity, objectID: id, property: relationship.name, reason: .otherStore(targets)))
      }
    }
    for row in changes.inserted { try check(row.id, row.values) }
    for update in changes.updated { try check(update.id, update.values) }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}

/// One store's part of a save, with the positions of its insertions in the whole save.
private struct Part {
  var changes: StoreChanges
  var positions: [Int] = []

  init(of changes: StoreChanges) {
    self.changes = StoreChanges(contextName: changes.contextName, transactionAuthor: changes.transactionAuthor)
  }
}

/// A save that some stores have written and another has refused.
struct PartialWriteError: Error {
  /// The changes that are written.
  private(set) var changes = StoreChanges()
  /// The result of writing them.
  var result = StoreWriteResult(ids: [])
  /// The error of the store that refused.
  let underlying: any Error

  fileprivate init(_ parts: [(changes: StoreChanges, result: StoreWriteResult)], underlying: any Error) {
    self.underlying = underlying
    for part in parts {
      changes.inserted += part.changes.inserted
      changes.newRows += part.changes.newRows
      changes.updated += part.changes.updated
      changes.deleted += part.changes.deleted
      result.ids += part.result.ids
      result.savedRows += part.result.savedRows
      result.refreshed += part.result.refreshed
      result.note(part.result.historyToken)
    }
  }
}

// MARK: - Transactions of several saves

extension PersistentStoreCoordinator {
  /// Runs `body` with everything that it reads from a store and writes to it on the calling thread in one transaction.
  ///
  /// Contexts that fetch within it, on this thread, see everything saved so far. A save that fails can be tried again without
  /// harm to earlier ones. Other threads see nothing of it before the commit, then all of it. Their saves into any of the
  /// coordinator's stores wait for its end, so it belongs in the background. The store keeps what is written in its log until
  /// the commit, and needs as much free disk space as the rows take.
  ///
  /// Its saves are announced after the commit, on the queues of the contexts that made them, in their order: by did-save
  /// notifications, with the objects that the context still knows, and to contexts that merge automatically. Beyond `limit`
  /// rows no rows are kept, and one save that ``ContextSave/isWholesale`` is announced for all of them. After a rollback nothing
  /// is announced, and the contexts that have saved are reset, because their objects don't exist. Permanent IDs that were given
  /// out are then lost: the process gives them to no other rows.
  ///
  /// - Parameters:
  ///   - store: the store that contexts save to; nothing can be saved to another store of the coordinator.
  ///   - limit: the greatest number of rows whose values are kept for the announcement.
  ///   - body: returns a result, and whether to commit. If it throws, the transaction is rolled back.
  /// - Throws: what `body` throws; ``StoreTransactionError``; ``PersistentStoreError/unknownStore(identifier:)``; the store's error,
  ///   when it refuses the commit, and nothing is written then.
  package func inOneTransaction<T>(
    of store: PersistentStore, keeping limit: Int = 50_000, _ body: () throws -> (T, TransactionEnd)
  ) throws -> T {
    let (outcome, openTransaction) = try saving.withLock { try runTransaction(of: store, limit, body) }
    switch outcome {
    case .success((let result, .commit)):
      if openTransaction.isWholesale { openTransaction.forgetSaves() }
      for (context, save) in openTransaction.announcements() { context.run { context in context.announce(save) } }
      return result
    case .success((let result, .rollBack)):
      openTransaction.resetContexts()
      return result
    case .failure(let error):
      openTransaction.resetContexts()
      throw error
    }
  }

  /// Runs it, and numbers its saves as others are numbered: no other save can come in between. Under `saving`.
  private func runTransaction<T>(
    of store: PersistentStore, _ limit: Int, _ body: () throws -> (T, TransactionEnd)
  ) throws -> (Result<(T, TransactionEnd), any Error>, TransactionScope) {
    if let openTransaction {
      throw StoreTransactionError.nested(path: StoreTransactionError.name(of: openTransaction.store.content))
    }
    guard persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    let content = try store.writableContent(to: "begin a transaction")
    let before = lastSave
    let new = TransactionScope(store, keeping: limit, after: before)
    openTransaction = new
    defer { openTransaction = nil }
    let outcome = Result {
      try content.inOneTransaction { () -> ((T, TransactionEnd), TransactionEnd) in
        let ending = try body()
        return (ending, ending.1)
      }
    }
    noteChange()
    if case .success((_, .commit)) = outcome {
      lastSave = before + new.numberOfSaves
      setVersions.endTransaction(with: lastSave)
    } else {
      lastSave = before
      setVersions.forget(after: before)
    }
    return (outcome, new)
  }

  /// Keeps a save of a context until the commit of the open transaction.
  func keep(_ save: ContextSave, of context: ContextQueue) {
    saving.withLock { openTransaction?.keep(save, of: context) }
  }

  /// Runs `body` as a save of its own, outside a transaction of several saves. Returns its number.
  /// - Parameter operation: names it in the error.
  package func asSave(_ operation: String, _ body: () throws -> Void) throws -> Int64 {
    try saving.withLock {
      try refuseInTransaction(operation)
      try body()
      lastSave += 1
      noteChange()
      return lastSave
    }
  }

  /// Refuses an operation that is impossible within a transaction of several writes. Under `saving`.
  private func refuseInTransaction(_ operation: String) throws {
    guard let openTransaction else { return }
    throw StoreTransactionError.refused(
      operation: operation, path: StoreTransactionError.name(of: openTransaction.store.content))
  }
}
