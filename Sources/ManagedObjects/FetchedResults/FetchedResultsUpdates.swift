import Synchronization

/// A controller's content, and its difference from the one that the same consumer saw last.
public struct FetchedResultsUpdate: Sendable {
  /// The content.
  public let snapshot: FetchedResultsSnapshot
  /// The difference from the preceding snapshot; the first time, from an empty one.
  public let difference: FetchedResultsDifference
}

/// The contents of a ``FetchedResultsController``, one after the other, for a consumer on any thread.
///
/// Each iterator begins with the current content and holds at most one snapshot: a slow consumer gets the newest, with the
/// difference from the one that it saw last. The sequence ends when its controller is released.
public struct FetchedResultsUpdates: AsyncSequence, Sendable {
  /// A consumer's place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    private let mailbox: SnapshotMailbox

    fileprivate init(_ mailbox: SnapshotMailbox) { self.mailbox = mailbox }

    /// Waits for a content that differs from the last one; nil when the controller was released or the task was cancelled.
    public mutating func next() async -> FetchedResultsUpdate? { await mailbox.next() }
  }

  private let feed: SnapshotFeed

  init(_ feed: SnapshotFeed) { self.feed = feed }

  /// Makes an iterator that begins with the current content.
  public func makeAsyncIterator() -> Iterator { Iterator(feed.mailbox()) }
}

/// Passes a controller's snapshots to its consumers. Safe from any thread.
final class SnapshotFeed: Sendable {
  private struct State {
    var latest: FetchedResultsSnapshot?
    var isFinished = false
    var mailboxes: [WeakMailbox] = []
  }

  private struct WeakMailbox {
    weak var mailbox: SnapshotMailbox?
  }

  private let state: Mutex<State>

  init(_ latest: FetchedResultsSnapshot?) { state = Mutex(State(latest: latest)) }

  func publish(_ snapshot: FetchedResultsSnapshot) {
    for mailbox in update({ $0.latest = snapshot }) { mailbox.put(snapshot) }
  }

  func finish() {
    for mailbox in update({ $0.isFinished = true }) { mailbox.finish() }
  }

  private func update(_ change: (inout State) -> Void) -> [SnapshotMailbox] {
    state.withLock { state in
      change(&state)
      state.mailboxes.removeAll { $0.mailbox == nil }
      return state.mailboxes.compactMap(\.mailbox)
    }
  }

  func mailbox() -> SnapshotMailbox {
    let mailbox = SnapshotMailbox()
    // Under the lock, so that an older snapshot can't overtake one that is published at the same time.
    state.withLock { state in
      if let latest = state.latest { mailbox.put(latest) }
      if state.isFinished { mailbox.finish() } else { state.mailboxes.append(WeakMailbox(mailbox: mailbox)) }
    }
    return mailbox
  }
}

/// The one snapshot that waits for a consumer. Safe from any thread.
final class SnapshotMailbox: Sendable {
  private struct State {
    var newest: FetchedResultsSnapshot?
    /// The objects that have changed since the consumer took the last snapshot.
    var updated: Set<ManagedObjectID> = []
    var seen = FetchedResultsSnapshot()
    var isFinished = false
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let state = Mutex(State())

  func put(_ snapshot: FetchedResultsSnapshot) {
    let waiter = state.withLock { state in
      state.newest = snapshot
      state.updated.formUnion(snapshot.updatedObjectIDs)
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  func next() async -> FetchedResultsUpdate? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.newest != nil || state.isFinished { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      finish()
    }
    if Task.isCancelled { return nil }
    let taken = state.withLock { state -> (FetchedResultsSnapshot, FetchedResultsSnapshot)? in
      guard var newest = state.newest else { return nil }
      let present = Set(newest.objectIDs)
      newest.updatedObjectIDs = state.updated.filter { present.contains($0) }
      defer { state.seen = newest }
      (state.newest, state.updated) = (nil, [])
      return (newest, state.seen)
    }
    return taken.map { FetchedResultsUpdate(snapshot: $0, difference: $0.difference(from: $1)) }
  }
}
