import Foundation
import ManagedObjects
import PostgreSQL
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite(
  "A store behind a pooler of transactions", .onPostgres,
  .enabled(if: TransactionPooler.program != nil, "\(TransactionPooler.absence)"), .timeLimit(.minutes(10)))
struct PoolerTests {
  /// As many sessions as each pooler has.
  private static let size = 4

  private let server: PostgresCluster
  private let pooler: TransactionPooler
  private let store: ShopStore

  init() throws {
    server = try PostgresCluster.shared()
    pooler = try server.pooler(size: Self.size)
    store = ShopStore(server, address: pooler.address())
  }

  private func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  private func addCustomer(_ name: String, _ coordinator: PersistentStoreCoordinator) throws {
    let context = context(coordinator)
    try context.insert("Customer").setValue(.string(name), forKey: "name")
    try context.save()
  }

  /// What the pooler's sessions have that a new one hasn't.
  private func leftOver(_ pooler: TransactionPooler? = nil) throws -> [String] {
    let state = """
      SELECT 'search_path ' || current_setting('search_path') WHERE current_setting('search_path') <> '"$user", public'
      UNION ALL SELECT name || ' ' || setting FROM pg_settings
      WHERE name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'client_min_messages',
        'synchronous_commit', 'default_statistics_target') AND setting <> reset_val
      UNION ALL SELECT 'statement ' || statement FROM pg_prepared_statements
      UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
      UNION ALL SELECT 'channel ' || pg_listening_channels()
      UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
      UNION ALL SELECT 'lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
      """
    // All sessions at once, so that none is looked at twice.
    var connections: [PostgresConnection] = []
    var found: [String] = []
    for _ in 0..<Self.size {
      let connection = try PostgresConnection((pooler ?? self.pooler).address(), password: nil)
      try connection.run("BEGIN")
      connections.append(connection)
      try connection.beginText(state, nil)
      while let row = try connection.nextRow() { found.append(row.text(0) ?? "") }
    }
    for connection in connections { try connection.run("COMMIT") }
    return found
  }

  @Test("is saved to by programs at the same time, read in one state, and leaves nothing behind in sessions")
  func sessions() async throws {
    let coordinators = try (0..<6).map { _ in
      try store.open(ShopStore.first(), options: PostgresStoreOptions(persistentHistoryTracking: true))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, coordinator) in coordinators.enumerated() {
        group.addTask {
          let queue = ContextQueue(.privateQueue, coordinator: coordinator)
          for round in 0..<20 {
            try await queue.perform { context in
              let customer = try context.insert("Customer")
              try customer.setValue(.string("C\(number)-\(round)"), forKey: "name")
              for place in 0..<20 {
                let order = try context.insert("Order")
                try order.setValue(.string("O\(place)"), forKey: "name")
                try order.setValue(.object(customer.objectID), forKey: "customer")
              }
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try {
      let pinned = context(coordinators[0])
      try pinned.setQueryGenerationFrom(.current)
      let orders = FetchRequest<ManagedObject>(entityName: "Order")
      #expect(try pinned.count(for: orders) == 2400)
      let other = context(coordinators[1])
      var update = BatchUpdateRequest(entityName: "Customer")
      update.propertiesToUpdate = ["name": "same"]
      update.resultType = .count
      #expect(try other.execute(update).count == 120)
      #expect(
        try pinned.count(
          for: FetchRequest<ManagedObject>(
            entityName: "Customer", predicate: try FetchPredicate(format: "name == 'same'"))) == 0)
      #expect(
        try pinned.fetch(
          FetchRequest<ManagedObject>(
            entityName: "Order", predicate: try FetchPredicate(format: "name LIKE[c] 'o1?'"))
        ).count == 1200)
      try pinned.setQueryGenerationFrom(nil)
      let history = try other.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
      #expect(history.transactions.count == 121)
    }()
    let maintenance = try coordinators[0].maintenance(of: try #require(coordinators[0].persistentStores.first))
    #expect(try maintenance.updateStatistics(sampling: 60_000, MaintenanceWatch()) > 0)
    #expect(try maintenance.rebuildIndexes(nil, MaintenanceWatch()) > 0)
    _ = try maintenance.compact(.incremental(atOnce: 1000), MaintenanceWatch())
    try maintenance.checkIntegrity(.full, MaintenanceWatch()) { Issue.record("\($0)") }
    for coordinator in coordinators { try coordinator.close() }
    #expect(try leftOver() == [])
  }

  @Test("is made once by programs that open it at the same time, behind a pooler or not", arguments: [true, false])
  func opening(isPooled: Bool) throws {
    for _ in 1...8 {
      let store = ShopStore(server, address: isPooled ? pooler.address() : server.direct())
      let model = try ShopStore.first()
      let failures = Mutex<[String]>([])
      let threads = DispatchGroup()
      for _ in 1...5 {
        threads.enter()
        Thread.detachNewThread {
          defer { threads.leave() }
          do {
            try store.open(model, options: PostgresStoreOptions(persistentHistoryTracking: true)).close()
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      threads.wait()
      #expect(failures.withLock { $0 } == [])
    }
  }

  @Test("is migrated while another program saves and a third reads, neither of which meets the new tables")
  func migration() async throws {
    // Its own: indexes of other tests' stores wait for the reader.
    let server = try PostgresCluster()
    let pooler = try server.pooler(size: Self.size)
    let store = ShopStore(server, address: pooler.address())
    try store.fill()
    let (old, reading) = (try store.open(ShopStore.first()), try store.open(ShopStore.first()))
    let pinned = ContextQueue(.privateQueue, coordinator: reading)
    let orders = try await pinned.perform { context in
      try context.setQueryGenerationFrom(.current)
      return try context.count(for: FetchRequest<ManagedObject>(entityName: "Order"))
    }
    #expect(orders == 3)
    let begun = AsyncStream<Void>.makeStream()
    async let saved = ContextQueue(.privateQueue, coordinator: old).perform { context in
      for count in 0... {
        do {
          try context.insert("Customer").setValue(.string("C"), forKey: "name")
          try context.save()
          if count == 10 { begun.continuation.finish() }
        } catch MigrationError.migratedElsewhere {
          return count
        }
      }
      return 0
    }
    for await _ in begun.stream {}
    try store.open(ShopStore.second()).close()
    #expect(try await store.count("\"Customer\"", where: "title = 'C' AND code = 7") == saved)
    await #expect(throws: (any Error).self) {
      try await pinned.perform { try $0.count(for: FetchRequest<ManagedObject>(entityName: "Order")) }
    }
    try old.close()
    try reading.close()
    #expect(try leftOver(pooler) == [])
  }

  @Test("hears of commits by looking for them, with a history and without one", arguments: [true, false])
  func remoteChanges(tracksHistory: Bool) async throws {
    let options = PostgresStoreOptions(
      persistentHistoryTracking: tracksHistory, remoteChangeNotifications: true)
    let (mine, theirs) = (
      try store.open(ShopStore.first(), options: options), try store.open(ShopStore.first(), options: options)
    )
    let (changes, continuation) = AsyncStream<Void>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.remoteChangeNotification, object: mine, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    let writing = Task {
      // What was committed before it looked for the first time isn't news.
      for number in 0... {
        try Task.checkCancellation()
        try addCustomer("C\(number)", theirs)
        try await Task.sleep(for: .milliseconds(200))
      }
    }
    for await _ in changes { break }
    writing.cancel()
    _ = await writing.result
    try mine.close()
    try theirs.close()
    #expect(try leftOver() == [])
  }

  @Test("listens past the pooler where a way is named, and says whether anything is heard", arguments: [true, false])
  func listening(isDirect: Bool) async throws {
    let options = PostgresStoreOptions(direct: isDirect ? server.direct() : pooler.address())
    let coordinator = try store.open(ShopStore.first(), options: options)
    let shared = try #require(coordinator.persistentStores.first?.content as? any SharedStore)
    let (news, hear) = AsyncStream<StoreNews>.makeStream()
    try shared.listen { hear.yield($0) }
    var heard = news.makeAsyncIterator()
    #expect(await heard.next() == (isDirect ? .connected : .disconnected))
    if isDirect {
      shared.announce()
      #expect(await heard.next() == .announcement)
    }
    try coordinator.close()
    #expect(try leftOver() == [])
  }

  @Test("is copied past the pooler where a way is named, and refused otherwise")
  func backup() throws {
    try store.fill()
    let directory = try ScratchDirectory()
    func copy(_ direct: String?) throws {
      let coordinator = try store.open(ShopStore.first(), options: PostgresStoreOptions(direct: direct))
      defer { _ = Result { try coordinator.close() } }
      let kept = try #require(coordinator.persistentStores.first)
      let url = directory.file("copy.pgdump")
      try coordinator.maintenance(of: kept).copyContent(to: url, MaintenanceWatch())
      try addCustomer("new", coordinator)
      try coordinator.prepareCopy(at: url, for: kept, migration: .init(), mark: "job 1", MaintenanceWatch())
      try coordinator.replaceContent(of: kept, with: url, MaintenanceWatch())
    }
    #expect {
      try copy(nil)
    } throws: { "\($0)".contains("`direct`") }
    try copy(server.direct())
    #expect(try store.orders(ShopStore.first()) == ShopStore.expected())
    #expect(try store.count("\"Customer\"") == 3)
    #expect(try leftOver() == [])
  }

  @Test(
    "writes a save once when the connection to the pooler is cut at its commit",
    arguments: [CuttingProxy.Cut.beforeCommit, .afterCommit])
  func cut(_ cut: CuttingProxy.Cut) throws {
    let proxy = try CuttingProxy(to: pooler.folder)
    defer { proxy.stop() }
    let store = ShopStore(server, address: "host=\(proxy.folder) user=lade dbname=postgres")
    let coordinator = try store.open(ShopStore.first())
    try addCustomer("Ada", coordinator)
    proxy.cutNext(cut)
    try addCustomer("Bob", coordinator)
    #expect(proxy.count == 1)
    #expect(try store.sql("SELECT string_agg(name, ' ' ORDER BY name) FROM \"Customer\"") == "Ada Bob")
    try coordinator.close()
  }

  @Test("is saved to and read on after the pooler, or the server's sessions, are gone")
  func restarts() async throws {
    // Its sessions are this test's alone.
    let server = try PostgresCluster()
    let pooler = try server.pooler(size: Self.size)
    let coordinator = try ShopStore(server, address: pooler.address()).open(ShopStore.first())
    for number in 1...5 {
      try addCustomer("C\(number)", coordinator)
      if number.isMultiple(of: 2) {
        pooler.stop()
        try pooler.start()
      } else {
        try await server.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
      }
      #expect(try count("Customer", coordinator) == number)
    }
    try coordinator.close()
  }

  private func count(_ entity: String, _ coordinator: PersistentStoreCoordinator) throws -> Int {
    try context(coordinator).count(for: FetchRequest<ManagedObject>(entityName: entity))
  }
}
