import Foundation
import GRDB
import ManagedObjects
import Synchronization
import TestSupport

@testable import SQLiteStore

/// A file with a table of texts, whose log is copied by a checkpointer of the test's own from sixteen pages on.
final class CheckpointedFile: Sendable {
  static let size = 16
  static let page = 4096

  let url: URL
  let pool: DatabasePool
  let checkpointer: WALCheckpointer
  /// The failures that were reported.
  let reported: Recorder<StoreFailure>
  private let written = Mutex(0)
  private let directory = try? ScratchDirectory()

  /// - Parameter open: makes what copies, of what copies truly.
  init(open: (@Sendable (URL) throws -> WALCheckpointer.Checkpoint)? = nil) throws {
    guard let directory else { throw CocoaError(.fileWriteUnknown) }
    let url = directory.file("texts.sqlite")
    self.url = url
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(CheckpointedFile.page)") }
    pool = try DatabasePool(path: url.path, configuration: configuration)
    let reported = Recorder<StoreFailure>()
    self.reported = reported
    let opening: @Sendable () throws -> WALCheckpointer.Checkpoint = {
      try open?(url) ?? CheckpointConnections(path: url.path).checkpoint
    }
    let checkpointer = WALCheckpointer(path: url.path, from: Self.size, open: opening, report: { reported.note($0) })
    self.checkpointer = checkpointer
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "CREATE TABLE Text (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
      try db.execute(sql: "PRAGMA journal_size_limit = \(4 * Self.size * Self.page)")
      checkpointer.follow(db)
    }
  }

  deinit { checkpointer.stop() }

  /// Saves so many times, each time some pages, and says how large the log has been at most.
  @discardableResult
  func save(_ times: Int, _ saved: () -> Void = {}) throws -> Int {
    var largest = 0
    for _ in 0..<times {
      let number = written.withLock { written in
        written += 1
        return written
      }
      try pool.write { db in
        try db.execute(
          sql: "INSERT INTO Text VALUES (?, ?)", arguments: [number, String(repeating: "\(number) ", count: 2000)])
      }
      largest = max(largest, try Self.logSize(url))
      saved()
    }
    return largest
  }

  /// The size of a file's log, in bytes.
  static func logSize(_ url: URL) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int ?? 0
  }

  /// The pages of the file itself, without what only its log has.
  func fileSize() throws -> Int { try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0 }

  /// Whether a program that opens the file finds every save in it, and nothing broken.
  func isWhole() throws -> Bool {
    let expected = written.withLock { $0 }
    let queue = try DatabaseQueue(path: url.path)
    return try queue.read { db in
      let check = try String.fetchOne(db, sql: "PRAGMA integrity_check")
      let numbers = try Int.fetchAll(db, sql: "SELECT id FROM Text WHERE text LIKE id || ' ' || id || ' %' ORDER BY id")
      return check == "ok" && numbers == Array(1..<expected + 1)
    }
  }
}
