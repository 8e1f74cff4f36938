import CLinux
import Dispatch
import Foundation
import Synchronization

/// Keeps rule 1 (ARCHITECTURE.md): a context and its objects are touched on the context's queue only.
///
/// Each context has one confinement, which its objects share. While the context's work runs, it holds the thread that the
/// work runs on. Every access compares that with its own thread, which costs about a nanosecond, so the check is always on.
/// Threads are known by numbers that are never reused, so a confinement context isn't taken over by a thread that happens to
/// get the `pthread_t` of the one that made it.
/// A thread that waits for another context in `performAndWait` still owns its own, because it is the only one that can go on.
package final class QueueConfinement: @unchecked Sendable {
  // Sendable: `owner` is atomic; `context` and `probe` are set before the confinement is shared, and `context` is cleared
  // when nothing else can reach the context any more; the rest is constant.

  /// The number of the thread on which the context's work runs now, 0 for none.
  private let owner: Atomic<UInt64>
  /// On the private queue of a context: its name, for messages.
  static let queueOwner = DispatchSpecificKey<String>()
  /// The context. Not counted, because the context holds the confinement; its `deinit` clears the reference. Set by the
  /// context, so it isn't private.
  unowned(unsafe) var context: ManagedObjectContext?
  let concurrencyType: ManagedObjectContext.ConcurrencyType
  /// For the object on which a key path is evaluated: notes the slots that are read. Set before the confinement is shared.
  var probe: KeyPathProbe?

  init(_ concurrencyType: ManagedObjectContext.ConcurrencyType) {
    self.concurrencyType = concurrencyType
    owner = Atomic(concurrencyType == .confinement ? lade_thread_number() : 0)
  }

  /// Stops the program unless the caller is where the context belongs.
  @inline(__always)
  final func check() {
    if owner.load(ordering: .relaxed) != lade_thread_number() { checkSlowly() }
  }

  /// Whether the caller is where the context belongs.
  var isCurrent: Bool {
    owner.load(ordering: .relaxed) == lade_thread_number() || (concurrencyType == .mainQueue && MainQueue.isCurrent)
  }

  /// Runs `body` as the context's work. The caller makes sure that no other work of the context runs.
  func own<T>(_ body: () throws -> T) rethrows -> T {
    let before = owner.exchange(lade_thread_number(), ordering: .acquiring)
    defer { owner.store(before, ordering: .releasing) }
    return try body()
  }

  @inline(never)
  private func checkSlowly() {
    guard !isCurrent else { return }
    let name = context?.name.map { " \"\($0)\"" } ?? ""
    fatalError(
      """
      a managed object context, or an object of it, was touched where it doesn't belong.
        context: ManagedObjectContext\(name), \(concurrencyType)
        belongs on: \(belongsOn)
        touched on: \(here)
      Wrap the access in the context's perform or performAndWait, and hand over objectIDs, not objects.
      """)
  }

  private var here: String {
    let thread = "thread \(lade_thread_number()) \"\(Thread.current.name ?? "")\""
    if let name = DispatchQueue.getSpecific(key: Self.queueOwner) {
      return "the queue of context \"\(name)\", \(thread)"
    }
    return MainQueue.isCurrent ? "the main queue, \(thread)" : thread
  }

  private var belongsOn: String {
    switch concurrencyType {
    case .mainQueue: return "the main queue"
    case .privateQueue: return "its private queue, inside perform or performAndWait"
    case .confinement: return "the thread that made it (\(owner.load(ordering: .relaxed)))"
    }
  }
}

/// Whether code runs on the main queue. That isn't the same as the main thread: `dispatchMain()` and an asynchronous `main`
/// drain the queue on a worker thread.
package enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
  /// The number of the thread that holds the main queue while it waits for another context, 0 for none.
  private static let waiter = Atomic<UInt64>(0)

  package static var isCurrent: Bool {
    if DispatchQueue.getSpecific(key: key) == true { return true }
    return waiter.load(ordering: .relaxed) == lade_thread_number()
  }

  /// Runs `wait`, which blocks on another queue, and remembers that this thread holds the main queue.
  static func holding<T>(_ wait: () throws -> T) rethrows -> T {
    guard DispatchQueue.getSpecific(key: key) == true else { return try wait() }
    waiter.store(lade_thread_number(), ordering: .relaxed)
    defer { waiter.store(0, ordering: .relaxed) }
    return try wait()
  }
}
