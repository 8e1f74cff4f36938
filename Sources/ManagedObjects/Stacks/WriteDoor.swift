import Dispatch
import Foundation

// A context that writes for others holds its queue while the store writes, but doesn't touch itself meanwhile. That long
// its door is open: a child that reads goes in, one at a time, and uses the context on its own thread. The save waits for
// it before it goes on. New objects have their permanent IDs before the door opens, so that a row which the store has
// committed already isn't taken for another object.

/// Lets children read from a context while its save is in the store's hands. Safe from any thread.
final class WriteDoor: @unchecked Sendable {
  // Sendable: everything is read and written under the condition's lock.
  private final class Turn: @unchecked Sendable {
    // Sendable: under the lock of the door.
    enum State { case waiting, granted, done }
    var state = State.waiting
  }

  private let condition = NSCondition()
  private var isOpen = false
  private var isTaken = false

  /// Runs the store's write with the door open. To be called on the context's queue.
  func open<T>(_ write: () throws -> T) rethrows -> T {
    locked { isOpen = true }
    defer {
      locked {
        isOpen = false
        while isTaken { condition.wait() }
      }
    }
    return try write()
  }

  /// Runs a read when the door is open, or when the context's queue comes to it.
  func read<T>(of queue: DispatchQueue, _ body: () throws -> T) rethrows -> T {
    let turn = Turn()
    queue.async {
      self.locked {
        guard turn.state == .waiting else { return }
        turn.state = .granted
        self.condition.broadcast()
        while turn.state != .done { self.condition.wait() }
      }
    }
    locked {
      while turn.state == .waiting, !isOpen || isTaken { condition.wait() }
      if turn.state == .waiting {
        turn.state = .done
        isTaken = true
      }
    }
    defer {
      locked {
        if turn.state == .granted { turn.state = .done } else { isTaken = false }
      }
    }
    return try body()
  }

  private func locked(_ body: () -> Void) {
    condition.lock()
    body()
    condition.broadcast()
    condition.unlock()
  }
}

extension ManagedObjectContext {
  /// Runs what a child reads from this context.
  func readForChild<T: Sendable>(_ block: @Sendable () throws -> T) rethrows -> T {
    guard let door, let queue, !home.isCurrent else { return try performAndWait(block) }
    return try MainQueue.holding { try door.read(of: queue) { try run(block) } }
  }

  /// Writes, with the door open where there is one.
  func writing<T>(_ write: () throws -> T) throws -> T {
    guard let door else { return try write() }
    return try door.open(write)
  }
}
