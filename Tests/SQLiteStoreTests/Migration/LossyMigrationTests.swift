import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("A migration that would lose values")
struct LossyMigrationTests {
  private func open(_ file: URL, _ model: ManagedObjectModel, refusing: Bool) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = PersistentStoreDescription.sqlite(at: file)
    description.refusesLossyMigration = refusing
    try coordinator.addPersistentStore(description)
    return coordinator
  }

  private func fill(_ file: URL) throws {
    let coordinator = try open(file, CompanyModel.model, refusing: true)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    try context.person("Ada", email: "ada@example.org")
    try context.save()
    try coordinator.close()
  }

  @Test("is refused where that was asked for, with all that would go, and everything is still there")
  func refused() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("company.sqlite")
    try fill(file)
    let error = #expect(throws: MigrationError.self) { try open(file, CompanyModel.older, refusing: true) }
    guard case .cannotInfer(let obstacles)? = error else { throw try #require(error) }
    let gone = Set(obstacles.map { $0.entity + ($0.property.map { "." + $0 } ?? "") })
    // A desk's occupant is the person's to-one end, and goes with the desks' own.
    #expect(gone == ["Desk", "Person.email", "Person.desk", "Manager.email", "Manager.desk"])
    #expect(obstacles.allSatisfy { $0.description.contains("lost") })

    let context = ManagedObjectContext(.confinement, coordinator: try open(file, CompanyModel.model, refusing: true))
    #expect(try context.named("Ada", Person.self)?.email == "ada@example.org")
  }

  @Test("succeeds where losses aren't refused, and one that only adds succeeds everywhere")
  func allowed() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("company.sqlite")
    try fill(file)
    try open(file, CompanyModel.older, refusing: false).close()
    let context = ManagedObjectContext(.confinement, coordinator: try open(file, CompanyModel.model, refusing: true))
    #expect(try context.all(Person.self).map(\.name) == ["Ada"])
    #expect(try context.all(Person.self).map(\.email) == [nil])
  }
}
