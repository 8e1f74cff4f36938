import Foundation
import Importing
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Jobs

/// The model changes between a job and its undo.
@Suite("Undoing jobs after a migration", .timeLimit(.minutes(20)))
struct UndoMigrationTests {
  private func person(
    phone: String = "phone", age: Int64 = 1, key: String? = nil, old: String? = nil
  ) -> EntityDefinition {
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("code", .integer64, isOptional: false), AttributeDefinition(phone, .string),
        AttributeDefinition("age", .integer32, defaultValue: .int(age)),
      ], uniquenessConstraints: [["code"]], userInfo: key.map { ["primaryKey": $0] } ?? [:])
  }

  private let town = EntityDefinition(
    "Town", attributes: [AttributeDefinition("name", .string, isOptional: false)], uniquenessConstraints: [["name"]])

  private func model(_ entities: EntityDefinition...) throws -> ManagedObjectModel {
    try ImportModel.adding(to: ManagedObjectModel(entities: entities))
  }

  /// The house's file, opened with another model.
  private func reopened(_ house: Warehouse, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
    try house.data.close()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.sqlite(at: house.folder.file("data.sqlite")))
    return ManagedObjectContext(.confinement, coordinator: coordinator, name: "test")
  }

  /// Takes back the only save of a job that changed something.
  private func takeBack(_ job: Job, _ context: ManagedObjectContext) throws -> JobReversal.Step {
    let reversal = JobReversal(context, job: "queue/\(job.id)", isForced: false)
    let save = try #require(try reversal.save(before: nil))
    let step = try reversal.takeBack(save, 0..<1000, except: [:]).step
    try context.save()
    return step
  }

  @Test("a row whose property or entity is gone stays as it is, and is listed")
  func renamed() async throws {
    let house = try await Warehouse(model: try model(person(), town))
    _ = try await house.load("code,phone\n1,11\n2,22\n", into: "Person")
    _ = try await house.load("name\nBern\n", as: "t.csv", into: "Town")
    let people = try await house.load("code,phone\n1,99\n", as: "p.csv", into: "Person", .synchronise) {
      $0.batchSize = 100
    }
    let towns = try await house.load("name\nRome\n", as: "u.csv", into: "Town", .synchronise)
    #expect(people.progress.deleted == 1 && towns.progress.deleted == 1)
    let context = try reopened(house, try model(person(phone: "telephone")))
    let step = try takeBack(people, context)
    #expect(step.inserted == 0 && step.kept.map(\.detail) == ["its phone isn't in the model any more"], "\(step.kept)")
    context.reset()
    let other = try takeBack(towns, context)
    #expect(other.deleted == 0 && other.kept.map(\.detail) == ["Town isn't in the model any more"], "\(other.kept)")
  }

  @Test("a deleted row has its own values again where the model now presets others")
  func presets() async throws {
    let house = try await Warehouse(model: try model(person()))
    _ = try await house.load("code,phone\n1,11\n2,22\n", into: "Person")
    let job = try await house.load("code\n1\n", as: "p.csv", into: "Person", .synchronise)
    let context = try reopened(house, try model(person(age: 5)))
    #expect(try takeBack(job, context).inserted == 1)
    let ages = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map { $0.value(forKey: "age") }
    #expect(ages == [.int(1), .int(1)])
  }

  @Test("what was recorded of rows that get other numbers is forgotten, and the undo is refused")
  func renumbered() async throws {
    let house = try await Warehouse(model: try model(person(), town))
    let towns = try await house.load("name\nBern\n", as: "t.csv", into: "Town")
    let job = try await house.load("code,phone\n2,22\n1,11\n", into: "Person")
    let context = try reopened(house, try model(person(key: "code"), town))
    #expect(try JobReversal.record(of: "queue/\(job.id)", in: context)?.lacksValues == true)
    #expect(try JobReversal.record(of: "queue/\(towns.id)", in: context)?.lacksValues == false)
    for row in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
      #expect(try RowHistory.steps(of: row.objectID, in: context).isEmpty)
    }
    #expect(try JobReversal(context, job: "queue/\(job.id)", isForced: true).save(before: nil) == nil)
  }
}
