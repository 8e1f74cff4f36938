import Synchronization

/// Permanent IDs on their way from a parent context to one child. The parent puts them in on its queue; the child takes them
/// out on its own before it next does anything. Safe from any thread.
final class PromotedIDs: Sendable {
  private let waiting = Mutex(PermanentIDs())
  private let isWaiting = Atomic(false)

  func put(_ ids: PermanentIDs) {
    waiting.withLock { $0.add(ids) }
    isWaiting.store(true, ordering: .releasing)
  }

  /// The IDs that have arrived since the last call.
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

/// The children of a context, for passing on permanent IDs. A child that is released leaves the list. Safe from any thread.
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
