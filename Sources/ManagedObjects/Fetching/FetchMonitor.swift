import Synchronization

/// Observes and cancels one fetch from another thread. Safe from any thread.
package final class FetchMonitor: Sendable {
  private struct State {
    var isCancelled = false
    /// Interrupts the running statement, which may take long to return its first row.
    var interrupt: (@Sendable () -> Void)?
    /// Rows read from the current store, and from the stores before it.
    var rows = 0
    var before = 0
  }
  private let state = Mutex(State())
  private let noteRows: @Sendable (Int) -> Void

  /// - Parameter noteRows: called on the reading thread with the number of rows read so far.
  package init(noteRows: @escaping @Sendable (Int) -> Void = { _ in }) { self.noteRows = noteRows }

  /// The number of rows between two checks for cancellation.
  package static var stride: Int { 256 }

  /// Whether ``cancel()`` was called.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Stops the fetch as soon as possible.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.interrupt?()
    }
  }

  /// Records progress. The store calls it every ``stride`` rows and at the end.
  /// - Throws: `CancellationError`.
  package func note(_ rows: Int) throws {
    let all = try state.withLock { state in
      guard !state.isCancelled else { throw CancellationError() }
      state.rows = rows
      return state.before + rows
    }
    noteRows(all)
  }

  /// The next rows come from another store.
  func passStore() {
    state.withLock { state in
      state.before += state.rows
      state.rows = 0
    }
  }

  /// All stores have been read.
  func leaveStores() {
    state.withLock { state in (state.rows, state.before) = (0, 0) }
  }

  /// Runs a read. `interrupt`, which may be called on any thread, must make it fail.
  /// - Throws: `CancellationError` when the fetch was cancelled.
  package func watching<T>(interrupt: @escaping @Sendable () -> Void, _ read: () throws -> T) throws -> T {
    try state.withLock { state in
      guard !state.isCancelled else { throw CancellationError() }
      state.interrupt = interrupt
    }
    defer { state.withLock { $0.interrupt = nil } }
    do {
      return try read()
    } catch {
      throw isCancelled ? CancellationError() : error
    }
  }
}
