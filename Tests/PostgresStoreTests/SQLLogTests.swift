import Foundation
import Logging
import ManagedObjects
import PostgresStore
import SQLSchema
import Synchronization
import TestSupport
import Testing

@Suite("The SQL log of a store in PostgreSQL", .onPostgres)
struct SQLLogTests {
  /// Keeps what is logged.
  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.message)") } }
  }

  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  private func lines(_ level: SQLLogLevel, of format: String) throws -> [String] {
    let store = try ShopStore()
    try store.fill()
    let lines = Lines()
    let coordinator = PersistentStoreCoordinator(model: try ShopStore.first())
    try coordinator.addPersistentStore(
      .postgres(
        store.address, schema: store.schema, options: PostgresStoreOptions(sqlLog: level),
        sqlLogger: Logger(label: "test") { _ in Handler(lines: lines) }))
    let request = FetchRequest<ManagedObject>(entityName: "Order", predicate: try FetchPredicate(format: format))
    _ = try ManagedObjectContext(.confinement, coordinator: coordinator).fetch(request)
    try coordinator.close()
    return lines.all.withLock { $0 }
  }

  @Test("shows each statement with its rows, and its arguments or its plan where they are asked for")
  func statements() throws {
    let format = "name == 'O1'"
    let plain = try lines(.statements, of: format)
    #expect(plain.contains { $0.hasPrefix("SELECT") && $0.contains("$1") && $0.contains("(1 row, ") }, "\(plain)")
    #expect(!plain.contains { $0.contains("'O1'") })
    #expect(try lines(.arguments, of: format).contains { $0.contains("'O1'") })
    #expect(try lines(.plans, of: format).contains { $0.hasPrefix("  plan: ") && $0.contains("Scan") })
    #expect(try lines(.off, of: format) == [])
  }

  @Test("shows that a page is read in the order of an index, with no sort", arguments: [true, false])
  func page(_ isAscending: Bool) async throws {
    let schema = PostgresCluster.newSchema()
    let server = try PostgresCluster.shared()
    let lines = Lines()
    var item = EntityDefinition("Item", attributes: [AttributeDefinition("rank", .integer16)])
    item.indexes = [FetchIndexDefinition("byRank", elements: [.init(property: "rank", isAscending: isAscending)])]
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: [item]))
    try coordinator.addPersistentStore(
      .postgres(
        server.address(), schema: schema, options: PostgresStoreOptions(sqlLog: .plans),
        sqlLogger: Logger(label: "test") { _ in Handler(lines: lines) }))
    // All alike but for their numbers.
    try await server.sql(
      #"INSERT INTO "\#(schema)"."Item" (rank) SELECT 1 FROM generate_series(1, 20000); ANALYZE "\#(schema)"."Item""#)
    let pages: [[FetchSortDescriptor]] = [
      [.init("rank", ascending: isAscending), .init("SELF")], [.init("SELF", ascending: isAscending)],
    ]
    for sort in pages {
      lines.all.withLock { $0 = [] }
      let request = FetchRequest<ManagedObject>(entityName: "Item", sortDescriptors: sort, fetchLimit: 2)
      let found = try ManagedObjectContext(.confinement, coordinator: coordinator).fetch(request).map(\.objectID.number)
      #expect(found == (sort.count == 1 && !isAscending ? [20000, 19999] : [1, 2]))
      let plan = lines.all.withLock { $0.filter { $0.hasPrefix("  plan: ") } }
      #expect(!plan.isEmpty && !plan.contains { $0.contains("Sort") }, "\(plan)")
    }
    try coordinator.close()
  }

  @Test("says what is done in memory, among how many rows")
  func memory() throws {
    let lines = try lines(.statements, of: "amount > 0 AND name LIKE[c] 'o1'")
    #expect(lines.contains("the rest of the fetch of Order is done in memory, among 2 rows"), "\(lines)")
    #expect(lines.contains { $0.contains("\"amount\" > $1") })
  }
}
