import Synchronization

/// Watches one fetch from another thread: how many rows have come, and whether it is to stop.
package final class FetchMonitor: Sendable {
  private struct State {
    var isCancelled = false
    /// Stops the statement that runs now, for it may take long before its first row.
    var interrupt: (@Sendable () -> Void)?
    /// How many rows of the store that is being read have come, and of those that were read before.
    var rows = 0
    var before = 0
  }
  private let state = Mutex(State())
  private let noteRows: @Sendable (Int) -> Void

  /// - Parameter noteRows: told, on the thread that reads, how many rows have come so far.
  package init(noteRows: @escaping @Sendable (Int) -> Void = { _ in }) { self.noteRows = noteRows }

  /// How many rows come between two looks at whether to stop.
  package static var stride: Int { 256 }

  /// Whether the fetch is to stop.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Stops the fetch as soon as it can be.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.interrupt?()
    }
  }

  /// To be called every ``stride`` rows and at the end.
  /// - Throws: `CancellationError`.
  package func note(_ rows: Int) throws {
    let all = try state.withLock { state in
      guard !state.isCancelled else { throw CancellationError() }
      state.rows = rows
      return state.before + rows
    }
    noteRows(all)
  }

  /// The next rows are of another store.
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

  /// Runs a read that `interrupt`, called on any thread, makes fail.
  /// - Throws: `CancellationError` when it was stopped.
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
