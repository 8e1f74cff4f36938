// Commits are noticed through the file. inotify reports writes to the write-ahead log, and SQLite's `data_version` on the
// store's writing connection changes when another connection has committed. The store's own writes wake the watcher, too, and
// are known by what that connection has changed, or by the history. The log is written a moment before the commit counts, and what makes it count is shared
// memory, which inotify doesn't see: `RemoteChangeSchedule` decides when to look. A file that can't be read is tried again
// until it can be, or until the store is closed.

import Dispatch
import Foundation
import GRDB
import Glibc
import ManagedObjects

/// Notices commits to a file: by another process, by another store object of this one, and by the store itself.
final class RemoteChangeWatcher: @unchecked Sendable {
  // Sendable: `known` and `schedule` are touched on `queue` only; the rest is constant.
  private let writer: WriterConnection
  private let names: Set<String>
  private let lastTransaction: LastTransaction?
  private let handler: @Sendable (Int64?) -> Void
  private let report: @Sendable (StoreFailure) -> Void
  private let queue = DispatchQueue(label: "lade.store.remote-changes")
  private let source: any DispatchSourceRead
  private let descriptor: Int32
  private var known: State
  private var schedule = RemoteChangeSchedule()
  private let path: String

  /// Reads the number of the history's last transaction.
  typealias LastTransaction = @Sendable (Database) throws -> Int64

  /// - Parameters:
  ///   - lastTransaction: nil for a store that tracks no history.
  ///   - handler: called after a commit, or several, with the number of the history's last transaction.
  ///   - report: receives the first of several failures in a row to read the file.
  /// - Throws: ``ManagedObjectError/store(_:)`` when inotify refuses, SQLite's error.
  init(
    _ writer: WriterConnection, file: URL, lastTransaction: LastTransaction?,
    handler: @escaping @Sendable (Int64?) -> Void, report: @escaping @Sendable (StoreFailure) -> Void
  ) throws {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { throw Self.failure(errno, of: "inotify_init1", file) }
    // The directory, not the log, which comes and goes.
    let folder = file.resolvingSymlinksInPath().deletingLastPathComponent().path
    guard inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0 else {
      let error = Self.failure(errno, of: "inotify_add_watch", file)
      Glibc.close(descriptor)
      throw error
    }
    self.writer = writer
    self.lastTransaction = lastTransaction
    self.handler = handler
    self.report = report
    path = file.path
    self.descriptor = descriptor
    let name = file.resolvingSymlinksInPath().lastPathComponent
    names = [name, name + "-wal"]
    do {
      known = try writer.withoutTransaction { try Self.state($0, lastTransaction) }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.readEvents() }
    source.setCancelHandler { Glibc.close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  func stop() { source.cancel() }

  /// An error of inotify. Its ENOSPC is a limit of the kernel on watches, and says nothing about the disk: inotify(7).
  static func failure(_ code: Int32, of call: String, _ file: URL) -> ManagedObjectError {
    .store(StoreFailure(errno: code, of: call, path: file.path, meaning: [ENOSPC: .other]))
  }

  private func readEvents() {
    guard isConcerned() else { return }
    let last = schedule.heard()
    look(.quick)
    perform(last)
  }

  private func perform(_ step: RemoteChangeSchedule.Step) {
    queue.asyncAfter(deadline: .now() + .milliseconds(step.delay)) { [weak self] in
      // A later event schedules looks of its own.
      if let self, self.schedule.number == step.number { self.look(step.look) }
    }
  }

  private func look(_ look: RemoteChangeSchedule.Look) {
    guard !source.isCancelled else { return }
    var outcome = RemoteChangeSchedule.Outcome.read
    var failure: (any Error)?
    do {
      try deliverChanges(look)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      outcome = .isWritten
    } catch {
      (outcome, failure) = (.failed, error)
    }
    let next = schedule.looked(look, outcome)
    // The store may have been closed in between, which is no failure.
    guard !source.isCancelled else { return }
    if let failure, schedule.isFirstFailure, next != nil {
      report(StoreFailure(failure, path: path, while: "changes by others can't be read"))
    }
    if let next { perform(next) }
  }

  /// Calls the handler if somebody has committed.
  private func deliverChanges(_ look: RemoteChangeSchedule.Look) throws {
    let state = try writer.withoutTransaction { db in
      switch look {
      case .quick: return try Self.state(db, lastTransaction)
      case .last: return try db.withoutWaiting { try db.underWriteLock { try Self.state(db, lastTransaction) } }
      }
    }
    guard state != known else { return }
    known = state
    handler(state.lastTransaction)
  }

  /// What differs after a commit.
  private struct State: Equatable {
    /// Differs after commits of others.
    let dataVersion: Int64
    /// Differs after every commit, if the store tracks history.
    let lastTransaction: Int64?
    /// The rows that the store itself has changed, if it doesn't.
    let ownChanges: Int
  }

  private static func state(_ db: Database, _ lastTransaction: LastTransaction?) throws -> State {
    State(
      dataVersion: try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0,
      lastTransaction: try lastTransaction?(db), ownChanges: lastTransaction == nil ? db.totalChangesCount : 0)
  }

  /// Reads the events that wait. Returns whether one is of the file.
  private func isConcerned() -> Bool {
    var isConcerned = false
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
      let header = MemoryLayout<inotify_event>.size
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0, let base = buffer.baseAddress else { return }
        var offset = 0
        while offset + header <= count {
          let event = UnsafeRawBufferPointer(buffer).loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          if event.mask & UInt32(bitPattern: Int32(IN_Q_OVERFLOW)) != 0 { isConcerned = true }
          if event.len > 0 {
            let name = UnsafeRawPointer(base + offset + header).assumingMemoryBound(to: CChar.self)
            if names.contains(String(cString: name)) { isConcerned = true }
          }
          offset += header + Int(event.len)
        }
      }
    }
    return isConcerned
  }
}

extension Database {
  /// Runs `body` while this connection holds the write lock, and writes nothing. A connection that only reads can't have it,
  /// and does without.
  fileprivate func underWriteLock<T>(_ body: () throws -> T) throws -> T {
    if configuration.readonly { return try body() }
    var result: Result<T, any Error>?
    try inTransaction(.immediate) {
      result = Result(catching: body)
      return .rollback
    }
    guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return try result.get()
  }
}
