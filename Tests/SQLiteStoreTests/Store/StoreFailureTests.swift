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

  @Test("a file that was replaced while it was open is called that, and not one that may not be written")
  func replaced() {
    let error = DatabaseError(
      resultCode: .SQLITE_READONLY_DBMOVED, message: "attempt to write a readonly database")
    #expect(StoreFailure(error, path: file.path).message.contains("was removed or replaced while it was open"))
  }

  @Test(
    "a query beyond SQLite's limits is too complex, which has no code",
    arguments: [
      "too many FROM clause terms, max: 200", "too many terms in ORDER BY clause", "at most 64 tables in a join",
      "Expression tree is too large (maximum depth 1000)", "too many columns in result set", "parser stack overflow",
    ])
  func limits(_ message: String) {
    #expect(StoreFailure(DatabaseError(resultCode: .SQLITE_ERROR, message: message), path: "").kind == .tooComplex)
  }

  @Test("a code comes with its own words where the connection's message is about something else")
  func words() throws {
    let write = ResultCode(rawValue: 778)
    #expect(
      "\(StoreFailure(DatabaseError(resultCode: write, message: "not an error"), path: "/a"))"
        == "/a: disk I/O error (SQLite code 778)")
    #expect(
      StoreFailure(DatabaseError(resultCode: .SQLITE_FULL, message: nil), path: "/a").message
        == "database or disk is full")
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
