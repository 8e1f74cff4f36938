import Foundation
import ManagedObjects
import PostgresStore
import TestSupport
import Testing

@Suite("A store's tables in PostgreSQL", .onPostgres)
struct ReadableTablesTests {
  private let schema = PostgresCluster.newSchema()

  private func open(_ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.postgres(PostgresCluster.shared().address(), schema: schema))
    return coordinator
  }

  @Test("are made in a schema that the role was given, and otherwise it is said how it gets one")
  func givenSchema() async throws {
    let server = try PostgresCluster()
    try await server.sql("CREATE ROLE poor LOGIN")
    let address = server.direct() + " user=poor"
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    let description = PersistentStoreDescription.postgres(address, schema: "given")
    #expect {
      try coordinator.addPersistentStore(description)
    } throws: { error in
      let text = "\(error)"
      return text.contains("permission denied")
        && text.contains("TO \"poor\", or make the schema: CREATE SCHEMA \"given\"")
    }
    try await server.sql("CREATE SCHEMA given AUTHORIZATION poor")
    try coordinator.addPersistentStore(description)
    try coordinator.close()
  }

  @Test("have the model's names and PostgreSQL's own types")
  func types() async throws {
    try open(PredicateFixture.model).close()
    let columns = try await PostgresCluster.shared().sql(
      "SELECT column_name || ' ' || data_type FROM information_schema.columns "
        + "WHERE table_schema = '\(schema)' AND table_name = 'City'")
    for column in [
      "id bigint", "name text", "population bigint", "area double precision", "price numeric", "isCapital boolean",
      "founded timestamp with time zone", "uid uuid", "flag bytea", "country_id bigint",
    ] {
      #expect(columns.split(separator: "\n").map(String.init).contains(column))
    }
  }

  @Test("have foreign keys, unique indexes and join tables that the server keeps")
  func constraints() async throws {
    let coordinator = try open(CompanyModel.model)
    let context = ContextQueue(.privateQueue, coordinator: coordinator)
    try await context.perform { context in
      try context.person("Ada").email = "a@x"
      try context.save()
    }
    let server = try PostgresCluster.shared()
    for statement in [
      "UPDATE \"Person\" SET employer_id = 4711",
      "INSERT INTO \"Person\" (entity, name, email) VALUES ('Person', 'B', 'a@x')",
      "INSERT INTO \"Person_projects\" VALUES (4711, 4712)",
    ] {
      await #expect(throws: ProgramFailure.self, "\(statement)") {
        try await server.sql("SET search_path = \(schema); \(statement)")
      }
    }
    try await server.sql("SET search_path = \(schema); INSERT INTO \"Person\" (entity, name) VALUES ('Person', 'Bob')")
    let names = try await context.perform { try $0.all(Person.self, sortedBy: "name").map(\.name) }
    #expect(names == ["Ada", "Bob"])
    try coordinator.close()
  }

  @Test("hold no text with a zero, which is refused with its reason")
  func zero() throws {
    let coordinator = try open(CompanyModel.model)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    _ = try context.person("A\u{0}da")
    #expect {
      try context.save()
    } throws: { error in
      if case ManagedObjectError.store(let failure) = error { failure.kind == .outOfRange } else { false }
    }
    try coordinator.close()
  }
}
