import Foundation
import GRDB
import GRDBSQLite
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

  @Test("a file that may be written, and was opened for reading only, may be opened the next time")
  func openedForReading() throws {
    let directory = try ScratchDirectory()
    let file = directory.file("main.sqlite")
    try Data().write(to: file)
    for code in [ResultCode.SQLITE_READONLY, .SQLITE_READONLY_ROLLBACK] {
      let error = DatabaseError(resultCode: code, message: "attempt to write a readonly database")
      #expect(StoreFailure(error, path: file.path).kind == .cannotOpen)
      #expect(StoreFailure(error, path: directory.file("none").path).kind == .readOnly)
    }
  }

  @Test("a page that couldn't be read is no damage that a check has found")
  func failedReads() {
    let lines: [(String, ResultCode?)] = [
      ("On tree page 4 cell 1: Rowid 7 out of order", nil),
      ("On tree page 4 cell 1: invalid page number 900", nil),
      ("Page 12: unable to get the page. error code=11", nil),
      ("Page 12: unable to get the page. error code=7", .SQLITE_NOMEM),
      ("Tree 2 page 12: unable to get the page. error code=266", .SQLITE_IOERR_READ),
      ("On tree page 4 cell 0: failed to get page 3", .SQLITE_IOERR_READ),
    ]
    for (line, code) in lines { #expect(FailedReads.error(inCheck: line)?.extendedResultCode == code, "\(line)") }
  }

  @Test("a value that SQLite refuses to take ends the save, and isn't written as null", arguments: [3_000, 100_000])
  func refusedValues(_ length: Int) throws {
    let directory = try ScratchDirectory()
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Note", attributes: [AttributeDefinition("bytes", .binaryData), AttributeDefinition("text", .string)])
    ])
    let store = try SQLiteStore(at: directory.file("main.sqlite"), model: model, entities: model.entities)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(PersistentStoreDescription { _, _ in store })
    let limit = try store.writer.withoutTransaction { db in
      sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(length - 1))
    }
    let values: [(String, Value)] = [
      ("bytes", .data(Data(count: length))), ("text", .string(String(repeating: "x", count: length))),
    ]
    for (name, value) in values {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      try context.insert("Note").setValue(value, forKey: name)
      #expect {
        try context.save()
      } throws: { error in
        guard case ManagedObjectError.store(let failure) = error else { return false }
        return failure.kind == .outOfRange
      }
    }
    try store.writer.withoutTransaction { db in _ = sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, limit) }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 0)
    try coordinator.close()
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
