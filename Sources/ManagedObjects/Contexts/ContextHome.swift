// Rule 1 of the design, kept here: a context and its objects are touched on the context's queue only.
//
// Each context has one home, which its objects share. While the context's work runs, the home holds the thread it runs
// on; every access compares that with its own thread, which costs about a nanosecond, so the check is always on. A
// thread that waits for another context in `performAndWait` still owns its own: it is the only one that can go on.

import Dispatch
import Foundation
import Glibc
import Synchronization

/// The queue rule of one context, and the way from its objects back to it.
package final class ContextHome: @unchecked Sendable {
  // Sendable: `owner` is atomic; `context` is set before the home is shared and cleared when nobody else can reach the
  // context any more; the rest is constant.

  /// The thread on which the context's work runs now, 0 for none.
  private let owner: Atomic<UInt>
  /// On the private queue of a context: its name, for messages.
  static let queueOwner = DispatchSpecificKey<String>()
  unowned(unsafe) var context: ManagedObjectContext?
  let concurrencyType: ManagedObjectContext.ConcurrencyType
  /// What notes the slots that are asked for, of an object that stands for none; set before the home is used.
  var probe: KeyPathProbe?

  init(_ concurrencyType: ManagedObjectContext.ConcurrencyType) {
    self.concurrencyType = concurrencyType
    owner = Atomic(concurrencyType == .confinement ? UInt(pthread_self()) : 0)
  }

  /// Stops the program unless the caller is where the context belongs.
  @inline(__always)
  final func check() {
    if owner.load(ordering: .relaxed) != UInt(pthread_self()) { checkSlowly() }
  }

  /// Whether the caller is where the context belongs.
  var isCurrent: Bool {
    owner.load(ordering: .relaxed) == UInt(pthread_self()) || (concurrencyType == .mainQueue && MainQueue.isCurrent)
  }

  /// Runs `body` as the context's work. The caller has made sure that no other work of the context runs.
  func own<T>(_ body: () throws -> T) rethrows -> T {
    let before = owner.exchange(UInt(pthread_self()), ordering: .acquiring)
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
    let thread = "thread \(pthread_self()) \"\(Thread.current.name ?? "")\""
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

/// Whether code runs on the main queue: not the same as the main thread, for `dispatchMain()` and an asynchronous
/// `main` drain that queue on a worker thread.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
  /// The thread that holds the main queue while it waits for another context, 0 for none.
  private static let waiter = Atomic<UInt>(0)

  static var isCurrent: Bool {
    if DispatchQueue.getSpecific(key: key) == true { return true }
    return waiter.load(ordering: .relaxed) == UInt(pthread_self())
  }

  /// Runs `wait`, which blocks on another queue, and remembers that the main queue is held meanwhile.
  static func holding<T>(_ wait: () throws -> T) rethrows -> T {
    guard DispatchQueue.getSpecific(key: key) == true else { return try wait() }
    waiter.store(UInt(pthread_self()), ordering: .relaxed)
    defer { waiter.store(0, ordering: .relaxed) }
    return try wait()
  }
}
