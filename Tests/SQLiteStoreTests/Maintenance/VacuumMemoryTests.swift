import GRDB
import GRDBSQLite
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("The memory of a vacuum")
struct VacuumMemoryTests {
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator
  private let store: SQLiteStore

  /// A store of some MiB, all of them in its connection's cache.
  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(
      model: try ManagedObjectModel(entities: [
        EntityDefinition("Ship", attributes: [AttributeDefinition("log", .string)])
      ]))
    let added = try coordinator.addPersistentStore(
      .sqlite(at: directory.file("store.sqlite"), options: .init(writerCache: 64 << 20)))
    store = try #require(try coordinator.maintenance(of: added) as? SQLiteStore)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let text = String(repeating: "All is well. ", count: 50)
    for _ in 0..<20_000 { try context.add("Ship", ["log": .string(text)]) }
    try context.save()
  }

  @Test("doesn't grow with the cache of the connection, which has its own cache again afterwards")
  func bounded() throws {
    let connection = try store.writer.withoutTransaction { db in
      let logs = try String.fetchAll(db, sql: "SELECT log FROM Ship")
      #expect(logs.count == 20_000)
      return UInt(bitPattern: db.sqliteConnection)
    }
    /// What the connection's caches hold, the new file's among them.
    @Sendable func bytesHeld() -> Int {
      var (now, highest): (Int32, Int32) = (0, 0)
      sqlite3_db_status(OpaquePointer(bitPattern: connection), SQLITE_DBSTATUS_CACHE_USED, &now, &highest, 0)
      return Int(now)
    }
    #expect(bytesHeld() > 10 << 20, "the cache is full before")
    let samples = Mutex<[Int]>([])
    let watch = MaintenanceWatch(
      shouldStop: {
        samples.withLock { $0.append(bytesHeld()) }
        return false
      })
    _ = try store.compact(.whole(), watch)
    // It is asked once before it begins.
    let during = samples.withLock { $0.dropFirst() }
    #expect(!during.isEmpty && during.allSatisfy { $0 < 12 << 20 }, "\(Array(during)) bytes")
    let size = try store.writer.withoutTransaction { try $0.number("cache_size") }
    #expect(size == -(64 << 10))
  }
}
