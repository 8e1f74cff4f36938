import Synchronization

/// Permanent IDs on their way from a parent context to one child: the parent puts them in on its queue, the child takes
/// them out on its own before it next does something. Safe from any thread.
final class PromotedIDs: Sendable {
  struct Promotion: Sendable {
    let temporary: ManagedObjectID
    let permanent: ManagedObjectID
  }

  private let waiting = Mutex<[Promotion]>([])
  private let isWaiting = Atomic(false)

  func put(_ promotions: [Promotion]) {
    waiting.withLock { $0 += promotions }
    isWaiting.store(true, ordering: .releasing)
  }

  /// What has come since the last time.
  @inline(__always)
  func take() -> [Promotion] {
    guard isWaiting.load(ordering: .acquiring) else { return [] }
    return takeWaiting()
  }

  private func takeWaiting() -> [Promotion] {
    waiting.withLock { waiting in
      isWaiting.store(false, ordering: .relaxed)
      defer { waiting = [] }
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

  func promote(_ promotions: [PromotedIDs.Promotion]) {
    guard !promotions.isEmpty else { return }
    for child in children.withLock({ $0.compactMap(\.promotions) }) { child.put(promotions) }
  }
}

extension ManagedObjectContext {
  /// Gives objects that became permanent further up their new IDs, wherever they stand here.
  @inline(__always)
  func takePromotedIDs() {
    guard let promotions else { return }
    let promoted = promotions.take()
    if !promoted.isEmpty { rename(promoted) }
  }

  private func rename(_ promoted: [PromotedIDs.Promotion]) {
    var renamed: [ManagedObjectID: ManagedObjectID] = [:]
    for promotion in promoted {
      guard let object = registry.object(with: promotion.temporary) else { continue }
      renamed[promotion.temporary] = promotion.permanent
      permanentIDs[promotion.temporary] = promotion.permanent
      registry.rename(object, to: promotion.permanent)
    }
    if !renamed.isEmpty, model.entities.contains(where: { !$0.relationships.isEmpty }) {
      replaceTemporaryIDs(renamed, in: registry.objects)
    }
    children.promote(promoted)
  }
}
