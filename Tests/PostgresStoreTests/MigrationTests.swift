import Foundation
import ManagedObjects
import PostgreSQL
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite("A migration in PostgreSQL", .onPostgres, .timeLimit(.minutes(10)))
struct MigrationTests {
  private let store: ShopStore

  init() throws { store = try ShopStore() }

  private func place(_ table: String) throws -> String? {
    try store.sql("SELECT pg_relation_filenode('\"\(table)\"'::regclass)")
  }

  @Test("changes columns where they are, and keeps grants, indexes and triggers of others")
  func inPlace() throws {
    try store.fill()
    try store.sql(
      """
      CREATE INDEX others_index ON "Customer" (lower(name));
      CREATE FUNCTION others_work() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER others_trigger BEFORE UPDATE ON "Customer" FOR EACH ROW EXECUTE FUNCTION others_work();
      GRANT SELECT ON "Customer" TO PUBLIC
      """)
    let place = try place("Customer")
    #expect(try store.orders(ShopStore.second(), name: "title") == ShopStore.expected())
    #expect(try self.place("Customer") == place)
    #expect(try store.sql("SELECT min(code) || ' ' || max(code) FROM \"Customer\"") == "7 7")
    #expect(try store.sql("SELECT to_regclass('others_index')") != nil)
    #expect(try store.count("pg_trigger", where: "tgrelid = '\"Customer\"'::regclass AND NOT tgisinternal") == 1)
    #expect(try store.sql("SELECT has_table_privilege('pg_monitor', '\"Customer\"', 'SELECT')") == "t")
  }

  @Test("makes tables again with their references, numbers, and what others had on them")
  func rebuilding() throws {
    try store.fill()
    try store.sql(
      """
      CREATE VIEW others_view AS SELECT amount FROM "Order"; GRANT SELECT ON others_view TO PUBLIC;
      CREATE INDEX others_index ON "Order" (amount); GRANT SELECT ON "Order" TO PUBLIC
      """)
    var description: (inout PersistentStoreDescription) -> Void = { $0.refusesLossyMigration = true }
    // The table's name isn't Order any more, which the view, the index and the grant can't follow.
    let error = #expect(throws: MigrationError.self) { _ = try store.open(ShopStore.third(), description) }
    guard case .cannotInfer(let obstacles)? = error else { throw try #require(error) }
    #expect(obstacles.contains { $0.property?.contains("others_view") == true }, "\(obstacles)")
    #expect(obstacles.contains { $0.property == "others_index" }, "\(obstacles)")
    #expect(try store.orders(ShopStore.first(), migrates: false) == ShopStore.expected())
    #expect(try store.sql("SELECT count(*) FROM others_view") == "3")

    description = { $0.migrationWarningHandler = { _ in } }
    try store.open(ShopStore.third(), description).close()
    #expect(try store.orders(ShopStore.third()) == ShopStore.expected())
    #expect(try store.count("pg_constraint", where: "contype = 'f' AND conrelid = '\"Record\"'::regclass") == 1)
    #expect(throws: PostgresError.self) { try store.sql("UPDATE \"Record\" SET customer_id = 4711") }
    #expect(try store.sql("INSERT INTO \"Record\" (entity) VALUES ('Customer') RETURNING id > 6") == "t")
    #expect(try store.count("pg_tables", where: "schemaname = '\(store.schema)' AND tablename LIKE 'lade\\_new%'") == 0)
  }

  @Test("a view over a table that is made again is made again, too, with its grants")
  func views() throws {
    try store.fill()
    try store.open(ShopStore.third()).close()
    try store.sql("CREATE VIEW others_view AS SELECT name FROM \"Record\"; GRANT SELECT ON others_view TO PUBLIC")
    try store.open(ShopStore.first()) {
      // There is no table Record any more.
      $0.migrationWarningHandler = { _ in }
    }.close()
    #expect(try store.sql("SELECT to_regclass('others_view')") == nil)
    try store.sql("CREATE VIEW others_view AS SELECT amount FROM \"Order\"; GRANT SELECT ON others_view TO PUBLIC")
    try store.open(ShopStore.second()).close()
    #expect(try store.sql("SELECT sum(amount) FROM others_view") == "3")
    #expect(try store.sql("SELECT has_table_privilege('pg_monitor', 'others_view', 'SELECT')") == "t")
  }

  @Test("another program's reference to a table that is made again is kept, though a reference elsewhere has its name")
  func references() throws {
    try store.fill()
    try store.open(ShopStore.third()).close()
    let (notes, twin) = (PostgresCluster.newSchema(), PostgresCluster.newSchema())
    try store.sql(
      """
      CREATE SCHEMA \(notes); CREATE TABLE \(notes).note (record bigint CONSTRAINT others_key REFERENCES "Record");
      CREATE SCHEMA \(twin); CREATE TABLE \(twin).record (id bigint PRIMARY KEY);
      CREATE TABLE \(twin).note (record bigint CONSTRAINT others_key REFERENCES \(twin).record)
      """)
    let place = try place("Record")
    try store.open(ShopStore.fourth()).close()
    #expect(try self.place("Record") != place, "it was made again")
    let isKept =
      "conname = 'others_key' AND conrelid = '\(notes).note'::regclass AND confrelid = '\"Record\"'::regclass"
    #expect(try store.count("pg_constraint", where: isKept) == 1)
  }

  @Test("ends what other programs do with the earlier version, and tells them so", arguments: [false, true])
  func others(isRebuilt: Bool) throws {
    try store.fill()
    let other = try store.open(ShopStore.first())
    let context = ManagedObjectContext(.confinement, coordinator: other)
    let customer = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Customer")).first)
    try customer.setValue(.string("changed"), forKey: "name")
    // A reader of an earlier state would keep the tables from being changed.
    let pinned = ManagedObjectContext(.confinement, coordinator: other)
    try pinned.setQueryGenerationFrom(.current)
    _ = try pinned.count(for: FetchRequest<ManagedObject>(entityName: "Order"))
    let new = try isRebuilt ? ShopStore.third() : ShopStore.second()
    try store.open(new).close()
    let isTold = { (error: any Error) -> Bool in
      if case MigrationError.migratedElsewhere = error { true } else { false }
    }
    #expect(performing: { try context.save() }, throws: isTold)
    #expect(performing: { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Order")) }, throws: isTold)
    #expect(try store.orders(new, name: isRebuilt ? "name" : "title") == ShopStore.expected())
    try other.close()
    #expect(throws: MigrationError.self) {
      try store.open(ShopStore.first()) { $0.shouldMigrateStoreAutomatically = false }.close()
    }
  }

  @Test("a migration that is refused leaves other programs at work")
  func refused() throws {
    try store.fill()
    let other = try store.open(ShopStore.first())
    var entities = try ShopStore.first().entities.map(\.definition)
    entities[1].attributes.removeLast()
    let model = try ManagedObjectModel(entities: entities)
    #expect(throws: MigrationError.self) { _ = try store.open(model) { $0.refusesLossyMigration = true } }
    let context = ManagedObjectContext(.confinement, coordinator: other)
    try context.insert("Customer").setValue(.string("C3"), forKey: "name")
    try context.save()
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Customer")) == 4)
    try other.close()
  }

  @Test("an entity that another program adds to the store ends no connection")
  func wider() throws {
    try store.fill()
    let other = try store.open(ShopStore.first())
    let context = ManagedObjectContext(.confinement, coordinator: other)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Order")) == 3)
    try store.open(ShopStore.wider()).close()
    try context.insert("Customer").setValue(.string("C3"), forKey: "name")
    try context.save()
    #expect(try store.sql("SELECT count(*) FROM \"Ware\"") == "0")
    try other.close()
  }

  @Test("a program's own mapping model and its stages work on other connections, and leave no schema behind")
  func byObjects() throws {
    let (first, second) = (try ShopStore.first(), try ShopStore.second())
    try store.fill()
    let mapping = try MappingModel.inferred(from: first, to: second)
    try store.open(second) { $0.mappingModels = [mapping] }.close()
    #expect(try store.orders(second, name: "title", migrates: false) == ShopStore.expected())
    let third = try ShopStore.third()
    let manager = StagedMigrationManager([.lightweight([.init(second), .init(first), .init(third)])])
    try store.open(third) { $0.stagedMigrationManager = manager }.close()
    #expect(try store.orders(third, migrates: false) == ShopStore.expected())
    #expect(try store.count("pg_tables", where: "schemaname LIKE 'lade\\_side\\_%' AND tablename = 'Record'") == 0)
  }

  /// The ways to a new version.
  enum Way: String, Codable, CaseIterable {
    case inPlace, rebuilding, mapping, stages

    var model: ManagedObjectModel {
      get throws { try self == .rebuilding ? ShopStore.third() : ShopStore.second() }
    }

    var name: String { self == .rebuilding ? "name" : "title" }

    /// Opens the store with the new model, and calls `step` before each statement of the migration.
    func open(_ store: ShopStore, _ step: @escaping @Sendable (String) -> Void) throws {
      let (first, model) = (try ShopStore.first(), try model)
      let mapping = try MappingModel.inferred(from: first, to: model)
      try MigrationProbe.$onStep.withValue(step) {
        try store.open(model) {
          if self == .mapping { $0.mappingModels = [mapping] }
          if self == .stages {
            $0.stagedMigrationManager = StagedMigrationManager([.lightweight([.init(first), .init(model)])])
          }
        }.close()
      }
    }

    func die(_ store: ShopStore, at point: Int) throws {
      let count = Atomic(0)
      try open(store) { _ in
        if count.add(1, ordering: .relaxed).newValue == point { kill(getpid(), SIGKILL) }
      }
    }
  }

  @Test("that is killed leaves the old store, whole, and goes through the next time", arguments: Way.allCases)
  func kills(way: Way) async throws {
    let counted = try ShopStore()
    try counted.fill()
    let steps = Atomic(0)
    try way.open(counted) { _ in steps.add(1, ordering: .relaxed) }
    let count = steps.load(ordering: .relaxed)
    #expect(count >= 3)
    for point in stride(from: 1, through: count, by: max(1, count / 6)) {
      let store = try ShopStore()
      try store.fill()
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [address = store.address as String, schema = store.schema as String, point = point as Int, way = way as Way] in
        try way.die(ShopStore(address, schema), at: point)
      }
      #expect(try store.orders(ShopStore.first(), migrates: false) == ShopStore.expected())
      try way.open(store) { _ in }
      #expect(try store.orders(way.model, name: way.name, migrates: false) == ShopStore.expected())
    }
  }
}
