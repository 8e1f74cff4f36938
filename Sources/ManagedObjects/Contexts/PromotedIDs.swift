import Synchronization

/// Permanent IDs on their way from a parent context to one child: the parent puts them in on its queue, the child takes
/// them out on its own before it next does something. Safe from any thread.
final class PromotedIDs: Sendable {
  private let waiting = Mutex(PermanentIDs())
  private let isWaiting = Atomic(false)

  func put(_ ids: PermanentIDs) {
    waiting.withLock { $0.add(ids) }
    isWaiting.store(true, ordering: .releasing)
  }

  /// What has come since the last time.
  @inline(__always)
  func take() -> PermanentIDs? {
    isWaiting.load(ordering: .acquiring) ? takeWaiting() : nil
  }

  private func takeWaiting() -> PermanentIDs {
    waiting.withLock { waiting in
      isWaiting.store(false, ordering: .relaxed)
      defer { waiting = PermanentIDs() }
      return waiting
    }
  }
}

/// The children of a context, as far as IDs go: a child that is dropped takes its place in the list with it. Safe from
/// any thread.
final class ChildContexts: Sendable {
  private struct Child {
    weak var promotions: PromotedIDs?
  }

  private let children = Mutex<[Child]>([])

  /// Whether there is a child that may know temporary IDs.
  var isEmpty: Bool { children.withLock { !$0.contains { $0.promotions != nil } } }

  func add() -> PromotedIDs {
    let promotions = PromotedIDs()
    children.withLock {
      $0.removeAll { $0.promotions == nil }
      $0.append(Child(promotions: promotions))
    }
    return promotions
  }

  func promote(_ ids: PermanentIDs) {
    guard !ids.isEmpty else { return }
    for child in children.withLock({ $0.compactMap(\.promotions) }) { child.put(ids) }
  }
}

extension ManagedObjectContext {
  /// Gives objects that became permanent further up their new IDs, wherever they stand here.
  @inline(__always)
  func takePromotedIDs() {
    guard let promotions else { return }
    if let promoted = promotions.take() { rename(promoted) }
  }

  private func rename(_ promoted: PermanentIDs) {
    permanentIDs.add(promoted)
    let isAnyKnown = registry.promote(promoted) { self.persistentStoreCoordinator.temporaryScope(of: $0) }
    if isAnyKnown, model.entities.contains(where: { !$0.relationships.isEmpty }) {
      replaceTemporaryIDs(promoted, in: registry.objects)
    }
    children.promote(promoted)
    // What was only on its way up needn't be known any more.
    if isAnyKnown, !children.isEmpty { letGo(registry.trim()) }
  }
}
