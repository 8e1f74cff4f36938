import Dispatch
import Foundation

/// Lets children read from a context while the store writes its save. Safe from any thread.
///
/// A context that writes for its children holds its queue while the store writes, but doesn't touch itself. During that time
/// the gate is open: children that read enter one at a time, and use the context on their own threads. The save waits for
/// the reader inside before it goes on. New objects have their permanent IDs before the gate opens, so a row that the store
/// has committed already isn't taken for another object.
final class ReadGate: @unchecked Sendable {
  // Sendable: everything mutable is read and written under the condition's lock.
  private final class Turn: @unchecked Sendable {
    // Sendable: under the lock of the gate.
    enum State { case waiting, granted, done }
    /// Not private, because the gate moves it on.
    var state = State.waiting
  }

  private let condition = NSCondition()
  private var isOpen = false
  private var isOccupied = false

  /// Runs the store's write with the gate open. To be called on the context's queue.
  func whileOpen<T>(_ write: () throws -> T) rethrows -> T {
    locked { isOpen = true }
    defer {
      locked {
        isOpen = false
        while isOccupied { condition.wait() }
      }
    }
    return try write()
  }

  /// Runs a read when the gate is open, or when the context's queue is free.
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
      while turn.state == .waiting, !isOpen || isOccupied { condition.wait() }
      if turn.state == .waiting {
        turn.state = .done
        isOccupied = true
      }
    }
    defer {
      locked {
        if turn.state == .granted { turn.state = .done } else { isOccupied = false }
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
