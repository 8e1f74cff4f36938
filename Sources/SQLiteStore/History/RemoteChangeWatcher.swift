// Others' commits are noticed by the file: inotify tells that the write-ahead log was written, and SQLite's
// `data_version` on the connection that writes for this store changes only when another connection committed. What this
// store writes itself wakes the watcher, too, and is then nobody's business. The log is written a moment before the
// commit counts, and what makes it count is memory that inotify doesn't see: when to look is ``RemoteChangeSchedule``'s to
// say. A file that can't be read is looked at again until it can be, or until the store is closed.

import Dispatch
import Foundation
import GRDB
import Glibc
import ManagedObjects

/// Tells when another process, or another store object of this one, has committed to a file.
final class RemoteChangeWatcher: @unchecked Sendable {
  // Sendable: `dataVersion` and `schedule` are touched on `queue` only; the rest is constant.
  private let writer: WriterConnection
  private let names: Set<String>
  private let tracksHistory: Bool
  private let handler: @Sendable (Int64?) -> Void
  private let queue = DispatchQueue(label: "lade.store.remote-changes")
  private let source: any DispatchSourceRead
  private let descriptor: Int32
  private var dataVersion: Int64
  private var schedule = RemoteChangeSchedule()
  private let path: String

  /// - Throws: what SQLite or inotify says.
  init(
    _ writer: WriterConnection, file: URL, tracksHistory: Bool, handler: @escaping @Sendable (Int64?) -> Void
  ) throws {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { throw Self.failure("inotify_init1", file) }
    // The directory, not the log: that one comes and goes.
    let folder = file.resolvingSymlinksInPath().deletingLastPathComponent().path
    guard inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0 else {
      let error = Self.failure("inotify_add_watch", file)
      Glibc.close(descriptor)
      throw error
    }
    self.writer = writer
    self.tracksHistory = tracksHistory
    self.handler = handler
    path = file.path
    self.descriptor = descriptor
    let name = file.resolvingSymlinksInPath().lastPathComponent
    names = [name, name + "-wal"]
    do {
      dataVersion = try writer.withoutTransaction { try Self.dataVersion($0) }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.hear() }
    source.setCancelHandler { Glibc.close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  func stop() { source.cancel() }

  private func hear() {
    guard isConcerned() else { return }
    let last = schedule.heard()
    make(.quick)
    expect(last)
  }

  private func expect(_ step: RemoteChangeSchedule.Step) {
    queue.asyncAfter(deadline: .now() + .milliseconds(step.delay)) { [weak self] in
      // A later event makes looks of its own.
      if let self, self.schedule.number == step.number { self.make(step.look) }
    }
  }

  private func make(_ look: RemoteChangeSchedule.Look) {
    guard !source.isCancelled else { return }
    var outcome = RemoteChangeSchedule.Outcome.read
    var failure: (any Error)?
    do {
      try tellChanges(look)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      outcome = .isWritten
    } catch {
      (outcome, failure) = (.failed, error)
    }
    let next = schedule.looked(look, outcome)
    // The store may have been closed meanwhile, which is no failure.
    guard !source.isCancelled else { return }
    if let failure, schedule.isFirstFailure, next != nil {
      MagicalRecord.log(.error, "\(path) can't be read, to see what others have changed: \(failure)")
    }
    if let next { expect(next) }
  }

  /// Looks whether somebody else has committed, and tells it.
  private func tellChanges(_ look: RemoteChangeSchedule.Look) throws {
    let (version, number) = try writer.withoutTransaction { db in
      switch look {
      case .quick: return try state(db)
      case .last: return try db.withoutWaiting { try db.whileNobodyCommits { try state(db) } }
      }
    }
    guard version != dataVersion else { return }
    dataVersion = version
    handler(number)
  }

  private func state(_ db: Database) throws -> (version: Int64, lastTransaction: Int64?) {
    (try Self.dataVersion(db), tracksHistory ? try SQLiteStore.lastTransactionNumber(db) : nil)
  }

  /// Reads the events that wait, and says whether one is of the file.
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

  private static func dataVersion(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0
  }

  private static func failure(_ call: String, _ file: URL) -> ManagedObjectError {
    .store(path: file.path, code: errno, message: "\(call): \(String(cString: strerror(errno)))")
  }
}

extension Database {
  /// Runs `body` while no other connection has the lock for writing, under that lock.
  fileprivate func whileNobodyCommits<T>(_ body: () throws -> T) throws -> T {
    var result: Result<T, any Error>?
    try inTransaction(.immediate) {
      result = Result(catching: body)
      return .rollback
    }
    guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return try result.get()
  }
}
