import Foundation
import GRDB
import Glibc
import ManagedObjects
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Failures of a store have a kind")
struct StoreFailureTests {
  private let file = URL(fileURLWithPath: "/data/main.sqlite")

  @Test(
    "SQLite's result codes, extended ones included",
    arguments: [
      (.SQLITE_FULL, .full), (.SQLITE_BUSY_SNAPSHOT, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_PROTOCOL, .busy),
      (.SQLITE_CORRUPT_VTAB, .corrupt), (.SQLITE_NOTADB, .notAStore), (.SQLITE_IOERR_FSYNC, .io),
      (.SQLITE_CANTOPEN, .cannotOpen), (.SQLITE_PERM, .permission), (.SQLITE_READONLY_DBMOVED, .readOnly),
      (.SQLITE_CONSTRAINT_UNIQUE, .constraint), (.SQLITE_TOOBIG, .outOfRange), (.SQLITE_INTERRUPT, .interrupted),
      (.SQLITE_NOMEM, .outOfMemory), (.SQLITE_ERROR, .other), (.SQLITE_ABORT, .other),
    ] as [(ResultCode, StoreFailure.Kind)])
  func codes(_ code: ResultCode, _ kind: StoreFailure.Kind) {
    let failure = StoreFailure(DatabaseError(resultCode: code, message: "words"), path: file.path)
    #expect(failure.kind == kind)
    #expect("\(failure)" == "/data/main.sqlite: words (SQLite code \(code.rawValue))")
  }

  @Test(
    "an error of the system is none of SQLite's: EACCES has the number of SQLITE_FULL",
    arguments: [(EACCES, .permission), (ENOSPC, .other), (EMFILE, .other), (ENOMEM, .outOfMemory)]
      as [(Int32, StoreFailure.Kind)])
  func watching(_ code: Int32, _ kind: StoreFailure.Kind) throws {
    guard case .store(let failure) = RemoteChangeWatcher.failure(code, of: "inotify_add_watch", file) else {
      Issue.record("it is no failure of the store")
      return
    }
    #expect(failure.kind == kind)
    #expect(failure.detail == nil && failure.message.hasPrefix("inotify_add_watch: "))
  }
}
