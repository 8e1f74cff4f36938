public import Foundation

/// The changes in a context since the last announcement: the typed form of the did-change notification.
///
/// It holds objects of the context and stays on the context's queue, where the notification is posted. ``ContextSave``
/// crosses to other contexts.
public struct ContextChanges {
  /// The context.
  public let context: ManagedObjectContext
  /// Objects that the context itself has inserted.
  private var insertedHere: [ManagedObject] = []
  /// What other contexts' saves have inserted; nil for nothing.
  private var merged: MergedInsertions?
  /// Changed objects.
  public private(set) var updated: [ManagedObject] = []
  /// Objects that were deleted here, or have turned out to be deleted elsewhere.
  public private(set) var deleted: [ManagedObject] = []
  /// Objects that took on the store's values: after a merge, a refresh, a rollback.
  public private(set) var refreshed: [ManagedObject] = []
  /// Those of the deleted objects whose rows turned out to be gone when they were read.
  public private(set) var invalidated: [ManagedObject] = []
  /// Whether the context was reset. None of its objects can be used any more.
  public private(set) var isAllInvalidated = false
  /// The objects that the context had when it was reset, where a program may observe it.
  private var invalidatedIDs: [ManagedObjectID] = []

  /// New objects, in the order of their insertion: those of the context, and those of saves that it has merged.
  ///
  /// The latter are faults, which are made and registered when this is asked for.
  public var inserted: [ManagedObject] {
    guard let merged else { return insertedHere }
    return insertedHere + merged.objects
  }

  /// The announcement of a reset.
  init(resetOf context: ManagedObjectContext, _ ids: [ManagedObjectID]) {
    self.context = context
    isAllInvalidated = true
    invalidatedIDs = ids
  }

  /// The changes that a did-change notification announces; nil for any other notification.
  public init?(_ notification: Notification) {
    guard let changes = notification.userInfo?[ManagedObjectContext.changesKey] as? ContextChanges else { return nil }
    self = changes
  }

  /// The announcement of pending changes: each object once under each heading, and none that was inserted and deleted again.
  init(_ context: ManagedObjectContext, _ changes: PendingChanges) {
    self.context = context
    if context.announcesChanges {
      insertedHere =
        changes.inserted.contains(where: \.isGone)
        ? changes.inserted.filter { !$0.isGone }.map { $0 } : Array(changes.inserted)
      if !changes.merged.isEmpty { merged = MergedInsertions(of: changes.merged, in: context) }
    }
    // An import only inserts objects: they needn't be told apart, so nothing is hashed.
    let isOnlyNew = changes.inserted.isEmpty || (changes.deleted.isEmpty && changes.formers.isEmpty)
    let isNew = isOnlyNew ? [] : Set(changes.inserted.map(ObjectIdentifier.init))
    deleted =
      isNew.isEmpty
      ? Array(changes.deleted) : changes.deleted.filter { !isNew.contains(ObjectIdentifier($0)) }.map { $0 }
    let isRefreshed = Set(changes.refreshed.map(ObjectIdentifier.init))
    updated = changes.formers.lazy.map(\.object).filter { object in
      switch object.state {
      case .deleted, .detached: return false
      case .inserted: return !isNew.contains(ObjectIdentifier(object))
      // An unread set changed, which leaves the object clean; or a change was undone.
      case .clean: return !isRefreshed.contains(ObjectIdentifier(object))
      case .updated: return true
      }
    }
    var seen: Set<ObjectIdentifier> = []
    refreshed = changes.refreshed.filter {
      $0.state != .detached && $0.state != .deleted && seen.insert(ObjectIdentifier($0)).inserted
    }.map { $0 }
    invalidated = Array(changes.invalidated)
  }

  /// Whether there is nothing to announce.
  var isEmpty: Bool {
    insertedHere.isEmpty && merged == nil && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
      && invalidated.isEmpty && !isAllInvalidated
  }

  /// The notification's user info: sets without empty ones, where a program may observe it.
  func userInfo(withSets: Bool) -> [AnyHashable: Any] {
    typealias Key = ManagedObjectContext.NotificationKey
    var info: [AnyHashable: Any] = [ManagedObjectContext.changesKey: self]
    guard withSets else { return info }
    func put(_ key: Key, _ objects: [ManagedObject]) {
      if !objects.isEmpty { info[key.rawValue] = Set(objects) }
    }
    put(.insertedObjects, inserted)
    put(.updatedObjects, updated)
    put(.deletedObjects, deleted)
    put(.refreshedObjects, refreshed)
    put(.invalidatedObjects, invalidated)
    if isAllInvalidated { info[Key.invalidatedAllObjects.rawValue] = invalidatedIDs }
    return info
  }
}

/// The objects of rows that merged saves inserted. They are made when an observer first asks for them, on the context's queue.
private final class MergedInsertions {
  private let saves: [ContextSave]
  private let context: ManagedObjectContext
  private(set) lazy var objects: [ManagedObject] = saves.flatMap(\.insertedObjectIDs).compactMap {
    context.insertedElsewhere($0)
  }

  init(of saves: [ContextSave], in context: ManagedObjectContext) {
    self.saves = saves
    self.context = context
  }
}

extension ManagedObjectContext {
  /// The object of a row that another context's save inserted: the registered one, or else a fault. nil if it is deleted here, or
  /// was announced before: a context above saves what came from this one, or was announced here when it reached that one.
  fileprivate func insertedElsewhere(_ id: ManagedObjectID) -> ManagedObject? {
    confinement.check()
    let object = registry.objectOrSuccessor(with: id) ?? makeFault(registry.currentID(id))
    if object.isGone || object.isKnownAsInserted { return nil }
    object.isKnownAsInserted = true
    return object
  }
}

extension ManagedObject {
  /// Whether it has no context any more, or is to be deleted.
  final var isGone: Bool { state == .detached || state == .deleted }
}
