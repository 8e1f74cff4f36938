import Foundation
import ManagedObjects
import PostgreSQL
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite("Backups of a store in PostgreSQL", .onPostgres, .timeLimit(.minutes(10)))
struct BackupTests {
  private let directory: ScratchDirectory
  private let store: ShopStore

  init() throws {
    directory = try ScratchDirectory()
    store = try ShopStore()
    try store.fill()
  }

  private func maintenance(_ coordinator: PersistentStoreCoordinator) throws -> any StoreMaintenance {
    try coordinator.maintenance(of: try #require(coordinator.persistentStores.first))
  }

  private func backup(_ coordinator: PersistentStoreCoordinator) throws -> URL {
    let url = directory.file("copy.pgdump")
    try maintenance(coordinator).copyContent(to: url, MaintenanceWatch())
    return url
  }

  private func restore(
    _ url: URL, _ coordinator: PersistentStoreCoordinator, migration: MigrationOptions = .init()
  ) throws {
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.prepareCopy(at: url, for: store, migration: migration, mark: "job 1", MaintenanceWatch())
    try coordinator.replaceContent(of: store, with: url, MaintenanceWatch())
  }

  private func problems(_ url: URL, _ coordinator: PersistentStoreCoordinator) throws -> [StoreProblem] {
    let found = Mutex<[StoreProblem]>([])
    _ = try maintenance(coordinator).checkCopy(at: url, .full, MaintenanceWatch()) { problem in
      found.withLock { $0.append(problem) }
    }
    return found.withLock { $0 }
  }

  @Test("don't become the content when another program has prepared one since, or has replaced the content")
  func superseded() throws {
    let (slow, fast) = (try store.open(ShopStore.first()), try store.open(ShopStore.first()))
    let url = try backup(slow)
    let (kept, theirs) = (try #require(slow.persistentStores.first), try #require(fast.persistentStores.first))
    try slow.prepareCopy(at: url, for: kept, migration: .init(), mark: "job 1", MaintenanceWatch())
    try fast.prepareCopy(at: url, for: theirs, migration: .init(), mark: "job 1", MaintenanceWatch())
    #expect {
      try slow.replaceContent(of: kept, with: url, MaintenanceWatch())
    } throws: { "\($0)".contains("another program has prepared a copy") }
    try fast.replaceContent(of: theirs, with: url, MaintenanceWatch())
    let context = ManagedObjectContext(.confinement, coordinator: fast)
    try context.insert("Customer").setValue(.string("later"), forKey: "name")
    try context.save()
    #expect {
      try slow.replaceContent(of: kept, with: url, MaintenanceWatch())
    } throws: { "\($0)".contains("wasn't prepared") }
    #expect(try store.count("\"Customer\"", where: "name = 'later'") == 1)
    try slow.close()
    try fast.close()
  }

  @Test("bring everything back, whatever its texts, while no number is given twice and programs stay connected")
  func restoring() throws {
    let options = PostgresStoreOptions(persistentHistoryTracking: true)
    let coordinator = try store.open(ShopStore.first(), options: options)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let texts = ["\\.", "a\tb\nc\\d\r", "", "\\N", "x\"'y", String(repeating: "long ", count: 40_000), "Ä€𝄞"]
    for text in texts { try context.insert("Customer").setValue(.string(text), forKey: "name") }
    try context.save()
    let identifier = coordinator.persistentStores.first?.identifier
    let url = try backup(coordinator)
    #expect(try Data(contentsOf: url).starts(with: Data("PGDMP".utf8)))
    #expect(try problems(url, coordinator) == [])
    let token = try coordinator.currentPersistentHistoryToken()

    let other = try store.open(ShopStore.first(), options: options)
    let late = try context.insert("Customer")
    try late.setValue(.string("late"), forKey: "name")
    for order in try context.fetch(FetchRequest<ManagedObject>(entityName: "Order")) { context.delete(order) }
    try context.save()
    let number = late.objectID.number
    try store.sql("CREATE VIEW others_view AS SELECT name FROM \"Order\"; GRANT SELECT ON \"Order\" TO PUBLIC")

    try restore(url, coordinator)
    for coordinator in [coordinator, other] {
      let fresh = ManagedObjectContext(.confinement, coordinator: coordinator)
      let names = try fresh.fetch(FetchRequest<ManagedObject>(entityName: "Customer")).map {
        $0.value(forKey: "name")?.plainText ?? "nil"
      }
      #expect(Set(names) == Set(texts + ["C0", "C1", "C2"]))
      let new = try fresh.insert("Customer")
      try fresh.save()
      #expect(new.objectID.number > number)
      fresh.delete(new)
      try fresh.save()
    }
    #expect(try store.orders(ShopStore.first(), migrates: false) == ShopStore.expected())
    #expect(coordinator.persistentStores.first?.identifier == identifier)
    #expect(try maintenance(coordinator).contentMark() == "job 1")
    #expect(try store.sql("SELECT count(*) FROM others_view") == "3")
    #expect(try store.sql("SELECT has_table_privilege('pg_monitor', '\"Order\"', 'SELECT')") == "t")
    #expect(throws: PostgresError.self) { try store.sql("UPDATE \"Order\" SET customer_id = 4711") }
    let history = try context.execute(.fetchHistory(after: token))
    #expect(!history.transactions.isEmpty)
    try other.close()
    try coordinator.close()
  }

  @Test("of an earlier version of the model are migrated, or refused with what would be lost")
  func migrating() throws {
    let first = try store.open(ShopStore.first())
    let url = try backup(first)
    try first.close()
    try store.sql("DELETE FROM \"Order\"")
    let second = try store.open(ShopStore.second())
    try restore(url, second)
    #expect(try store.orders(ShopStore.second(), name: "title", migrates: false) == ShopStore.expected())
    try second.close()

    var entities = try ShopStore.first().entities.map(\.definition)
    entities[1].attributes.removeLast()
    let less = try store.open(ManagedObjectModel(entities: entities))
    var options = MigrationOptions()
    options.refusesLossyMigration = true
    #expect(throws: MigrationError.self) { try restore(url, less, migration: options) }
    #expect(
      try ManagedObjectContext(.confinement, coordinator: less).count(
        for: FetchRequest<ManagedObject>(entityName: "Order")) == 3)
    try less.close()
  }

  @Test("that are damaged, or none, are told from others")
  func damaged() throws {
    let coordinator = try store.open(ShopStore.first())
    let url = try backup(coordinator)
    let whole = try Data(contentsOf: url)
    try whole.dropLast(whole.count / 3).write(to: url)
    let isFound: Bool
    do {
      isFound = try !problems(url, coordinator).isEmpty
    } catch ManagedObjectError.incompatibleStore {
      isFound = true
    }
    #expect(isFound)
    try Data("PGDMP and nothing else".utf8).write(to: url)
    #expect(throws: ManagedObjectError.self) { try problems(url, coordinator) }
    try coordinator.close()
  }

  @Test("whose restore is killed before its end leave the store as it was")
  func killed() async throws {
    let coordinator = try store.open(ShopStore.first())
    let url = try backup(coordinator)
    try store.sql("UPDATE \"Customer\" SET name = 'new' || name")
    try coordinator.close()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [address = store.address as String, schema = store.schema as String, path = url.path as String] in
      let coordinator = try ShopStore(address, schema).open(ShopStore.first())
      let store = try #require(coordinator.persistentStores.first)
      let url = URL(fileURLWithPath: path)
      try coordinator.prepareCopy(at: url, for: store, migration: .init(), mark: "job 1", MaintenanceWatch())
      try MigrationProbe.$onStep.withValue({ if $0 == "COMMIT" { kill(getpid(), SIGKILL) } }) {
        try coordinator.replaceContent(of: store, with: url, MaintenanceWatch())
      }
    }
    #expect(try Set(store.orders(ShopStore.first(), migrates: false).values) == ["newC0", "newC1", "newC2"])
    let again = try store.open(ShopStore.first())
    try restore(url, again)
    try again.close()
    #expect(try store.orders(ShopStore.first(), migrates: false) == ShopStore.expected())
  }

  @Test("connect with a password that stands in no argument")
  func password() throws {
    let text = "host=/run/x user=a dbname=b sslmode=require"
    let environment = PostgresAddress.environment(of: text, password: "sesame")
    #expect(environment["PGHOST"] == "/run/x" && environment["PGUSER"] == "a" && environment["PGDATABASE"] == "b")
    #expect(environment["PGSSLMODE"] == "require" && environment["PGPASSWORD"] == "sesame")
    #expect(PostgresAddress.environment(of: "postgresql://u@h:5433/d", password: nil)["PGPORT"] == "5433")
  }
}
