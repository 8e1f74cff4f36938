// A load doesn't wait for checkpoints. A queue of the store's own checkpoints the write-ahead log, on its own connections,
// while the writer goes on committing.
//   1. Durability is unchanged: SQLite's checkpoints sync the disk whichever thread runs them.
//   2. The checkpointer and the writer never checkpoint at the same time, and the log isn't reset under the checkpointer:
//      `CheckpointConnections`.
//   3. The log stays within four times the size at which a checkpoint starts, because the writer waits when the
//      checkpointer falls behind: `CheckpointSchedule`. Only readers of an old state make it grow further, as with SQLite's
//      own checkpoints.
//   4. A failure is reported once, and the writer then checkpoints by itself.
//   5. A thread exists only while there is something to checkpoint, and none after `stop()`.

import Dispatch
import GRDB
import GRDBSQLite
import ManagedObjects
import Synchronization

/// Checkpoints a store's write-ahead log beside the saves. Safe from any thread.
final class WALCheckpointer: Sendable {
  /// Checkpoints what has been committed.
  typealias Checkpoint = @Sendable () throws -> Void

  private struct State {
    var schedule: CheckpointSchedule
    /// Made when it is first needed.
    var checkpoint: Checkpoint?
    var isStopped = false
    /// Whether a failure has been reported since the last success.
    var hasReported = false
  }

  private let path: String
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "lade.store.log")
  private let open: @Sendable () throws -> Checkpoint
  private let report: @Sendable (StoreFailure) -> Void

  /// - Parameters:
  ///   - path: the file.
  ///   - frames: the length of the log, in pages, at which a checkpoint starts.
  ///   - open: makes what checkpoints the file as it is now.
  ///   - report: receives failures, on any thread.
  init(
    path: String, from frames: Int, open: (@Sendable () throws -> Checkpoint)? = nil,
    report: @escaping @Sendable (StoreFailure) -> Void
  ) {
    self.path = path
    self.open = open ?? { try CheckpointConnections(path: path).checkpoint }
    self.report = report
    state = Mutex(State(schedule: CheckpointSchedule(size: frames)))
  }

  /// Hooks into a connection's commits, in place of SQLite's automatic checkpoints. The checkpointer must live for as long
  /// as the connection commits.
  func follow(_ db: Database) {
    let checkpointer = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_wal_hook(
      db.sqliteConnection,
      { checkpointer, connection, name, frames in
        if let checkpointer, let connection, let name, String(cString: name) == "main" {
          Unmanaged<WALCheckpointer>.fromOpaque(checkpointer).takeUnretainedValue()
            .committed(Int(frames), on: connection)
        }
        return SQLITE_OK
      }, checkpointer)
  }

  /// Waits for a checkpoint in progress. The next one starts only after a commit on the followed connection.
  func waitUntilIdle() { queue.sync {} }

  /// Waits for a checkpoint in progress, and starts no more. Later saves checkpoint by themselves.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.schedule.fallBack()
    }
    waitUntilIdle()
    // Closes its connections.
    state.withLock { $0.checkpoint = nil }
  }

  // MARK: The writer's thread

  private func committed(_ frames: Int, on connection: OpaquePointer) {
    switch state.withLock({ $0.schedule.committed(frames) }) {
    case .nothing: return
    case .begin:
      do {
        if try !begin(checkpointOfFile(connection)) { finish(connection) }
      } catch {
        fail(error)
        finish(connection)
      }
    case .finish: finish(connection)
    }
  }

  /// Opens exactly the file that the writer has open. Another file that took its name must not get its pages.
  private func checkpointOfFile(_ connection: OpaquePointer) throws -> Checkpoint {
    if let checkpoint = state.withLock({ $0.checkpoint }) { return checkpoint }
    try checkName(of: connection)
    let checkpoint = try open()
    try checkName(of: connection)
    state.withLock { state in
      if !state.isStopped { state.checkpoint = checkpoint }
    }
    return checkpoint
  }

  private func checkName(of connection: OpaquePointer) throws {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard code == SQLITE_OK, hasMoved == 0 else {
      throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED, message: "the file has been renamed or replaced")
    }
  }

  /// Starts a checkpoint on the queue. Returns false once the checkpointer is stopped. Under the lock, so that `stop()` waits
  /// for everything that was queued before it.
  private func begin(_ checkpoint: @escaping Checkpoint) -> Bool {
    state.withLock { state in
      if !state.isStopped { queue.async { self.run(checkpoint) } }
      return !state.isStopped
    }
  }

  private func finish(_ connection: OpaquePointer) {
    waitUntilIdle()
    switch sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil) {
    case SQLITE_OK:
      state.withLock { state in
        state.hasReported = false
        // A file that couldn't even be opened isn't tried again.
        if state.checkpoint != nil, !state.isStopped { state.schedule.recover() }
      }
    // Another process checkpoints, or a statement on this connection still reads.
    case SQLITE_BUSY, SQLITE_LOCKED: return
    case let code:
      fail(DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection))))
    }
  }

  // MARK: The queue

  private func run(_ checkpoint: Checkpoint) {
    do {
      repeat { try checkpoint() } while state.withLock { $0.schedule.checkpointed() }
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) {
    let isFirst = state.withLock { state in
      state.schedule.fallBack()
      defer { state.hasReported = true }
      return !state.hasReported
    }
    guard isFirst else { return }
    report(StoreFailure(error, path: path, while: "the write-ahead log can't be checkpointed and grows"))
  }
}
