import Foundation
import ManagedObjects
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite("Maintenance of a store in PostgreSQL", .onPostgres, .timeLimit(.minutes(10)))
struct MaintenanceTests {
  private let store: ShopStore
  private let coordinator: PersistentStoreCoordinator
  private let maintenance: any StoreMaintenance

  init() throws {
    store = try ShopStore()
    try store.fill(200)
    coordinator = try store.open(ShopStore.first())
    maintenance = try coordinator.maintenance(of: try #require(coordinator.persistentStores.first))
  }

  private func problems(_ depth: CheckDepth) throws -> [StoreProblem] {
    let found = Mutex<[StoreProblem]>([])
    try maintenance.checkIntegrity(depth, MaintenanceWatch()) { problem in found.withLock { $0.append(problem) } }
    return found.withLock { $0 }
  }

  @Test("knows the store's size, which a vacuum makes less")
  func vacuum() throws {
    // On a server of its own: what the transactions of others may still see stays.
    let server = try PostgresCluster()
    let store = ShopStore(server)
    try store.fill(200)
    let coordinator = try store.open(ShopStore.first())
    let maintenance = try coordinator.maintenance(of: try #require(coordinator.persistentStores.first))
    try store.sql("UPDATE \"Order\" SET name = repeat(md5(id::text), 60); UPDATE \"Order\" SET name = 'x'")
    let before = try maintenance.sizes()
    #expect(before.content > 100_000)
    let result = try maintenance.compact(.whole(), MaintenanceWatch())
    #expect(result.bytesBefore == before.content && result.bytesAfter < result.bytesBefore)
    #expect(try maintenance.sizes().content == result.bytesAfter)
    _ = try maintenance.compact(.incremental(atOnce: 1000), MaintenanceWatch())
    #expect(throws: MaintenanceError.self) {
      try maintenance.compact(.whole(isIncrementalAfterwards: true), MaintenanceWatch())
    }
    try coordinator.close()
  }

  @Test("updates the server's statistics of every table")
  func optimise() throws {
    let tables = try maintenance.updateStatistics(sampling: 1000, MaintenanceWatch())
    #expect(tables >= 3)
    #expect(try store.sql("SELECT reltuples FROM pg_class WHERE oid = '\"Order\"'::regclass") == "200")
    #expect(try maintenance.updateStatistics(sampling: nil, MaintenanceWatch()) == tables)
  }

  @Test("rebuilds indexes while others write, and makes missing ones")
  func reindex() throws {
    let index = try #require(
      try store.sql(
        "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = '\"Order\"'::regclass AND NOT indisprimary"))
    try store.sql("DROP INDEX \(index)")
    #expect(try problems(.quick).map(\.kind) == [.schema])
    #expect(try maintenance.rebuildIndexes(nil, MaintenanceWatch()) >= 4)
    #expect(try problems(.full) == [])
    let orders = try #require(coordinator.model.entitiesByName["Order"])
    #expect(try maintenance.rebuildIndexes([orders], MaintenanceWatch()) == 2)
  }

  @Test("finds lost foreign keys with the rows that they would have refused, and rows of no entity")
  func check() throws {
    let keys = "SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = '\"Order\"'::regclass"
    let key = try #require(try store.sql(keys))
    try store.sql("ALTER TABLE \"Order\" DROP CONSTRAINT \"\(key)\"")
    try store.sql("UPDATE \"Order\" SET customer_id = 4711 WHERE name = 'O1'")
    let found = try problems(.quick)
    #expect(found.map(\.kind) == [.schema, .reference])
    #expect(found.last?.entity == "Order" && found.last?.property == "customer_id" && found.last?.number != nil)
    try store.sql("UPDATE lade_metadata SET value = 'another' WHERE key = 'identifier'")
    #expect(try problems(.quick).contains { $0.kind == .metadata })
  }

  @Test("compares indexes by amcheck where that is installed")
  func amcheck() throws {
    try store.sql("CREATE SCHEMA IF NOT EXISTS checks; CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA checks")
    #expect(try problems(.full) == [])
  }

  @Test("stops when it isn't wanted any more")
  func stopping() throws {
    let watch = MaintenanceWatch(shouldStop: { true })
    #expect(throws: MaintenanceStopped.self) { _ = try maintenance.updateStatistics(sampling: nil, watch) }
    #expect(throws: MaintenanceStopped.self) { _ = try maintenance.compact(.whole(), watch) }
  }

  @Test("refuses a checkpoint, which is the server's, by name")
  func checkpoint() {
    #expect {
      _ = try maintenance.flushLog(.full, timeout: .zero, MaintenanceWatch())
    } throws: { "\($0)".contains("checkpointer") }
  }
}
