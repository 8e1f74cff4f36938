// A load doesn't wait while its write-ahead log is copied into the file: that is done on a queue beside it, by connections
// of its own, while the writer goes on committing.
//   1. What a commit answers is as it ever was: only who copies has changed, and SQLite's checkpoints wait for the disk
//      whoever runs them.
//   2. The copier and the writer never copy at the same time, and the log isn't begun anew under the copier:
//      `LogConnections`.
//   3. The log stays within four times the size from which it is copied, for the writer waits when the copier falls behind:
//      `LogSchedule`. Only readers of an old state make it grow further, as they always do.
//   4. What the copier can't do is told once, and the writer does it.
//   5. There is a thread only while there is something to copy, and none after `stop()`.

import Dispatch
import GRDB
import GRDBSQLite
import ManagedObjects
import Synchronization

/// Copies the write-ahead log of a store into its file, beside the saves. Safe from any thread.
final class LogCopier: Sendable {
  /// Copies what has been committed.
  typealias Copy = @Sendable () throws -> Void

  private struct State {
    var schedule: LogSchedule
    /// What copies; made when it is first needed.
    var copy: Copy?
    var isStopped = false
    /// Whether it was told that copying fails.
    var isTold = false
  }

  private let path: String
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "lade.store.log")
  private let open: @Sendable () throws -> Copy
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - path: the file.
  ///   - frames: how many pages the log has when it is to be copied.
  ///   - open: makes what copies, for the file as it is now.
  ///   - report: tells what failed.
  init(
    path: String, from frames: Int, open: (@Sendable () throws -> Copy)? = nil,
    report: @escaping @Sendable (String) -> Void = { message in MagicalRecord.log(.error, message) }
  ) {
    self.path = path
    self.open = open ?? { try LogConnections(path: path).copy }
    self.report = report
    state = Mutex(State(schedule: LogSchedule(size: frames)))
  }

  /// Has itself told of a connection's commits, in the place of what SQLite does after them by itself. It is to live for as
  /// long as that commits.
  func follow(_ db: Database) {
    let copier = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_wal_hook(
      db.sqliteConnection,
      { copier, connection, name, frames in
        if let copier, let connection, let name, String(cString: name) == "main" {
          Unmanaged<LogCopier>.fromOpaque(copier).takeUnretainedValue().committed(Int(frames), on: connection)
        }
        return SQLITE_OK
      }, copier)
  }

  /// Waits until what is being copied is. On the connection that it follows nothing is begun before the next commit.
  func rest() { queue.sync {} }

  /// Waits until what is being copied is, and copies nothing more. Saves that still come copy by themselves.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.schedule.endCopying()
    }
    rest()
    // Its connections close.
    state.withLock { $0.copy = nil }
  }

  // MARK: The writer's thread

  private func committed(_ frames: Int, on connection: OpaquePointer) {
    switch state.withLock({ $0.schedule.committed(frames) }) {
    case .nothing: return
    case .begin:
      do {
        if try !begin(copyOfFile(connection)) { finish(connection) }
      } catch {
        fail(error)
        finish(connection)
      }
    case .finish: finish(connection)
    }
  }

  /// What copies, made for the very file that the writer has open: another that has taken its name must not get its pages.
  private func copyOfFile(_ connection: OpaquePointer) throws -> Copy {
    if let copy = state.withLock({ $0.copy }) { return copy }
    try checkName(of: connection)
    let copy = try open()
    try checkName(of: connection)
    state.withLock { state in
      if !state.isStopped { state.copy = copy }
    }
    return copy
  }

  private func checkName(of connection: OpaquePointer) throws {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard code == SQLITE_OK, hasMoved == 0 else {
      throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED, message: "the file has another name now")
    }
  }

  /// Has the queue copy; false if it is all over. What `stop()` waits for is on the queue before it says so.
  private func begin(_ copy: @escaping Copy) -> Bool {
    state.withLock { state in
      if !state.isStopped { queue.async { self.run(copy) } }
      return !state.isStopped
    }
  }

  private func finish(_ connection: OpaquePointer) {
    rest()
    switch sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil) {
    case SQLITE_OK:
      state.withLock { state in
        state.isTold = false
        // What couldn't even be opened isn't tried again.
        if state.copy != nil, !state.isStopped { state.schedule.allowCopying() }
      }
    // Another process is copying, or somebody still reads on this connection.
    case SQLITE_BUSY, SQLITE_LOCKED: return
    case let code:
      fail(DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection))))
    }
  }

  // MARK: The queue

  private func run(_ copy: Copy) {
    do {
      repeat { try copy() } while state.withLock { $0.schedule.copied() }
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) {
    let isNews = state.withLock { state in
      state.schedule.endCopying()
      defer { state.isTold = true }
      return !state.isTold
    }
    guard isNews else { return }
    report("\(path): its write-ahead log couldn't be copied into it, and grows until that can be done: \(error)")
  }
}
