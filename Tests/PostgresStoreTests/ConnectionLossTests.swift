import Foundation
import ManagedObjects
import PostgresStore
import TestSupport
import Testing

@Suite("A store whose server or connection goes away", .onPostgres, .timeLimit(.minutes(10)))
struct ConnectionLossTests {
  private func coordinator(
    _ address: String, _ schema: String, timeout: TimeInterval = 30
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    var description = PersistentStoreDescription.postgres(address, schema: schema)
    description.timeout = timeout
    try coordinator.addPersistentStore(description)
    return coordinator
  }

  // Each makes a context of the thread that calls it: tests go from thread to thread.

  private func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  private func save(_ name: String, in coordinator: PersistentStoreCoordinator) throws {
    let context = context(coordinator)
    _ = try context.person(name)
    try context.save()
  }

  private func names(in coordinator: PersistentStoreCoordinator) throws -> [String?] {
    try context(coordinator).all(Person.self, sortedBy: "name").map(\.name)
  }

  @Test("reads and saves on after all of its connections were ended")
  func ended() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    let end =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'"
    for round in 1...5 {
      try save("Ada \(round)", in: coordinator)
      try await server.sql(end)
      #expect(try names(in: coordinator).count == round)
      try await server.sql(end)
    }
    try coordinator.close()
  }

  @Test("goes on after the server was restarted")
  func restarted() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    try save("Ada", in: coordinator)
    try await server.stop()
    try await server.start()
    try save("Bob", in: coordinator)
    #expect(try names(in: coordinator) == ["Ada", "Bob"])
    try coordinator.close()
  }

  @Test("says once of each time that the server can't be reached, while those who ask it wait")
  func outages() async throws {
    let server = try PostgresCluster()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    var description = PersistentStoreDescription.postgres(server.address(), schema: "shop")
    let (told, telling) = AsyncStream<StoreFailure>.makeStream()
    description.backgroundFailureHandler = { telling.yield($0) }
    try coordinator.addPersistentStore(description)
    var failures = told.makeAsyncIterator()
    for round in 1...2 {
      try await server.stop()
      let saves = (1...3).map { number in
        Task(executorPreference: QueueExecutor()) { try save("\(round) \(number)", in: coordinator) }
      }
      let failure = await failures.next()
      #expect(
        failure?.message.hasSuffix("; trying again for up to 30 seconds") == true, "\(String(describing: failure))")
      try await server.start()
      for save in saves { try await save.value }
    }
    telling.finish()
    #expect(await failures.next() == nil)
    #expect(try names(in: coordinator).count == 6)
    try coordinator.close()
  }

  @Test("begins a transaction of several saves on a new connection after the server was restarted")
  func transactionAfterRestart() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    func saveTwo(_ name: String) throws {
      try coordinator.inOneTransaction(of: coordinator.persistentStores[0]) {
        try save(name, in: coordinator)
        try save("\(name) 2", in: coordinator)
        return ((), .commit)
      }
    }
    try saveTwo("Ada")
    try await server.stop()
    try await server.start()
    try saveTwo("Bob")
    #expect(try names(in: coordinator) == ["Ada", "Ada 2", "Bob", "Bob 2"])
    try coordinator.close()
  }

  @Test("says so when a transaction can't be committed, because a failure in it was passed over")
  func failedTransaction() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    try save("Ada", in: coordinator)
    try await server.sql(#"ALTER TABLE shop."Company" RENAME COLUMN name TO former"#)
    var readsCompanies = true
    #expect(throws: StoreTransactionError.self) {
      try coordinator.inOneTransaction(of: coordinator.persistentStores[0]) {
        try save("Bob", in: coordinator)
        readsCompanies = (try? context(coordinator).all(Company.self, sortedBy: "name")) != nil
        return ((), .commit)
      }
    }
    #expect(!readsCompanies)
    #expect(try names(in: coordinator) == ["Ada"])
    try coordinator.close()
  }

  @Test("fails with the server's absence when that lasts")
  func gone() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop", timeout: 0.5)
    try await server.stop()
    #expect {
      try save("Ada", in: coordinator)
    } throws: { error in
      if case ManagedObjectError.store(let failure) = error { failure.kind == .io } else { false }
    }
    try await server.start()
    try save("Ada", in: coordinator)
    #expect(try names(in: coordinator) == ["Ada"])
    try coordinator.close()
  }

  @Test(
    "a save is written once when the connection is cut at its commit",
    arguments: [CuttingProxy.Cut.beforeCommit, .afterCommit])
  func cut(_ cut: CuttingProxy.Cut) throws {
    let server = try PostgresCluster.shared()
    let proxy = try CuttingProxy(to: server.folder)
    defer { proxy.stop() }
    let coordinator = try coordinator("host=\(proxy.folder) user=lade dbname=postgres", PostgresCluster.newSchema())
    let context = context(coordinator)
    _ = try context.person("Ada")
    try context.save()
    proxy.cutNext(cut)
    _ = try context.person("Bob")
    try context.save()
    #expect(proxy.count == 1)
    #expect(try self.context(coordinator).all(Person.self, sortedBy: "name").map(\.name) == ["Ada", "Bob"])
    try coordinator.close()
  }
}
