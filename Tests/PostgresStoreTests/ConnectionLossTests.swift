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

  private func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  @Test("reads and saves on after all of its connections were ended")
  func ended() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    let context = context(coordinator)
    for round in 1...5 {
      _ = try context.person("Ada \(round)")
      try context.save()
      try await server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
      #expect(try context.count(for: FetchRequest<Person>(entityName: "Person")) == round)
      try await server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
    }
    try coordinator.close()
  }

  @Test("goes on after the server was restarted")
  func restarted() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop")
    let context = context(coordinator)
    let ada = try context.person("Ada", age: 36)
    try context.save()
    try await server.stop()
    try await server.start()
    ada.age = 37
    try context.save()
    #expect(try self.context(coordinator).named("Ada", Person.self)?.age == 37)
    try coordinator.close()
  }

  @Test("fails with the server's absence when that lasts")
  func gone() async throws {
    let server = try PostgresCluster()
    let coordinator = try coordinator(server.address(), "shop", timeout: 0.5)
    let context = context(coordinator)
    _ = try context.person("Ada")
    try await server.stop()
    #expect {
      try context.save()
    } throws: { error in
      if case ManagedObjectError.store(let failure) = error { failure.kind == .io } else { false }
    }
    try await server.start()
    try context.save()
    #expect(try context.count(for: FetchRequest<Person>(entityName: "Person")) == 1)
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
