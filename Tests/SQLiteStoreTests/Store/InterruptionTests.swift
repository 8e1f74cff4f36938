import Foundation
import GRDB
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("A read that is interrupted")
struct InterruptionTests {
  /// A stack with as many people as make a product of four without end.
  private func stack() throws -> (ScratchDirectory, PersistentStoreCoordinator) {
    let directory = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: directory.file("store.sqlite")))
    return (directory, coordinator)
  }

  @Test("ends within its statement, and the next one on the connection is whole", .timeLimit(.minutes(20)))
  func statement() throws {
    let (directory, coordinator) = try stack()
    let store = try #require(
      try coordinator.persistentStores.first.flatMap { try coordinator.maintenance(of: $0) as? SQLiteStore })
    let endless = """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n
      """
    let deadline = ContinuousClock.now + .milliseconds(50)
    let interruption = Interruption { ContinuousClock.now > deadline ? .timedOut : nil }
    #expect(throws: Interrupted(cause: .timedOut)) {
      try interruption.limit { try store.read { try $0.execute(sql: endless) } }
    }
    let other = Interruption()
    Thread.detachNewThread { other.interrupt(.cancelled) }
    #expect(throws: Interrupted(cause: .cancelled)) {
      try other.limit { try store.read { try $0.execute(sql: endless) } }
    }
    #expect(try store.read { try $0.tableExists("lade_metadata") })
    withExtendedLifetime(directory) {}
  }

  @Test("maintenance and reads of one connection don't take each other's end away", .timeLimit(.minutes(20)))
  func afterMaintenance() throws {
    let (directory, coordinator) = try stack()
    let store = try #require(
      try coordinator.persistentStores.first.flatMap { try coordinator.maintenance(of: $0) as? SQLiteStore })
    _ = try store.compact(.whole(isIncrementalAfterwards: nil), MaintenanceWatch())
    let deadline = ContinuousClock.now + .milliseconds(50)
    #expect(throws: Interrupted(cause: .timedOut)) {
      try Interruption { ContinuousClock.now > deadline ? .timedOut : nil }.limit {
        try store.writer.withoutTransaction {
          try $0.execute(sql: "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")
        }
      }
    }
    withExtendedLifetime(directory) {}
  }

  @Test("concerns who asked for it, and the context is whole for the next one")
  func context() throws {
    let (directory, coordinator) = try stack()
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let saved = try context.person("Ada", age: 36)
    try context.save()
    let id = saved.objectID
    context.reset()
    let ada = try #require(context.object(with: id) as? Person)
    // An object whose class the row decides has been read.
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault)
    // A read of a fault can't throw: it is the interruption that does.
    let interruption = Interruption()
    #expect(throws: Interrupted(cause: .timedOut)) {
      try interruption.limit {
        interruption.interrupt(.timedOut)
        _ = ada.age
      }
    }
    #expect(ada.isFault)
    // Nor does it stand in the way of another's.
    let other = Interruption()
    #expect(try other.limit { try context.count(for: FetchRequest<Person>(entityName: "Person")) } == 1)
    #expect(ada.age == 36 && ada.name == "Ada")
    try context.save()
    withExtendedLifetime(directory) {}
  }

  /// A store whose file was made to return its free pages, and has some.
  private func storeWithFreePages() throws -> (ScratchDirectory, PersistentStoreCoordinator, SQLiteStore) {
    let directory = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(
      .sqlite(at: directory.file("store.sqlite"), options: SQLiteStoreOptions(pageSize: 4096, incrementalVacuum: true)))
    let store = try #require(
      try coordinator.persistentStores.first.flatMap { try coordinator.maintenance(of: $0) as? SQLiteStore })
    try store.writer.write { db in
      try db.execute(sql: "CREATE TABLE ballast (x BLOB)")
      for _ in 0..<200 { try db.execute(sql: "INSERT INTO ballast VALUES (randomblob(10000))") }
      try db.execute(sql: "DROP TABLE ballast")
    }
    return (directory, coordinator, store)
  }

  @Test("free pages of a file that was made for it are returned a few at a time")
  func freePages() throws {
    let (directory, coordinator, store) = try storeWithFreePages()
    let (free, isIncremental) = try store.freePages()
    #expect(isIncremental && free > 1 << 20)
    let result = try store.compact(.incremental(blocks: nil, atOnce: 64), MaintenanceWatch())
    #expect(result.bytesBefore - result.bytesAfter >= free)
    #expect(try store.freePages().bytes == 0)
    withExtendedLifetime((directory, coordinator)) {}
  }

  @Test("a writer gets in between two steps that return free pages", .timeLimit(.minutes(20)))
  func betweenSteps() throws {
    let (directory, coordinator, store) = try storeWithFreePages()
    let hasBegun = Atomic<Bool>(false)
    let isWritten = Atomic<Bool>(false)
    let end = DispatchSemaphore(value: 0)
    let watch = MaintenanceWatch(report: { _ in
      guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
      Thread.detachNewThread {
        do {
          try store.writer.write { try $0.execute(sql: "CREATE TABLE later (x)") }
        } catch {
          Issue.record(error)
        }
        isWritten.store(true, ordering: .sequentiallyConsistent)
        end.signal()
      }
    })
    // Hundreds of steps, each with the writer's lock.
    _ = try store.compact(.incremental(blocks: nil, atOnce: 1), watch)
    let wasBetween = isWritten.load(ordering: .sequentiallyConsistent)
    end.wait()
    #expect(wasBetween)
    withExtendedLifetime((directory, coordinator)) {}
  }
}
