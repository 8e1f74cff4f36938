import Foundation
import Jobs
import Logging
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("Migrating a store whose daemon runs", .timeLimit(.minutes(20)))
struct MigrateJobTests {
  /// A configuration with one store, its stores opened, and a model that can be rewritten.
  private final class House {
    let directory: ScratchDirectory
    let configuration: DaemonConfiguration
    let stores: DataStores

    init(recipes: String = "", migration: String = "{}") throws {
      directory = try ScratchDirectory()
      try ModelText(
        ModelText.entity("Member", unique: ["number"], [.attribute("number", "Integer 64"), .attribute("name")])
      )
      .write(to: directory.file("Model.xcdatamodeld").path)
      let file = directory.file("lade.yaml")
      try Data(
        """
        state: \(directory.url.path)
        stores: {main: {path: main.sqlite, model: Model.xcdatamodeld, migration: \(migration)}}
        \(recipes)
        """.utf8
      ).write(to: file)
      configuration = try DaemonConfiguration.load(path: file.path)
      stores = try DataStores(configuration.stores, Logger(label: "test"))
    }

    func model(_ properties: ModelText.Property...) throws {
      try ModelText(ModelText.entity("Member", unique: ["number"], [.attribute("number", "Integer 64")] + properties))
        .write(to: directory.file("Model.xcdatamodeld").path)
    }

    var migrate: @Sendable (MaintenanceWatch) throws -> MigrationReport {
      get throws {
        let current = CurrentConfiguration(.init(SubmissionPlan(configuration: configuration, stores: stores)))
        return try #require(StoreUpkeep.of(current, stores, Logger(label: "test"))["main"]?.migrate)
      }
    }

    func context() throws -> ManagedObjectContext {
      ManagedObjectContext(.confinement, coordinator: try #require(stores["main"]).coordinator)
    }

    func fill() throws {
      let context = try context()
      for number in 1...5 {
        let member = try context.insert("Member")
        try member.setValue(.int(Int64(number)), forKey: "number")
        try member.setValue(.string("M\(number)"), forKey: "name")
      }
      try context.save()
    }
  }

  @Test("what is asked for afterwards has the new model, and what was there")
  func grown() throws {
    let house = try House()
    try house.fill()
    let old = try #require(house.stores["main"])
    try house.model(.attribute("name"), .attribute("mail", optional: true))
    let report = try house.migrate(MaintenanceWatch())
    #expect(report.differences.map(\.entity) == ["Member"] && report.remarks == [])
    let context = try house.context()
    let members = try context.fetch(FetchRequest<ManagedObject>(entityName: "Member"))
    #expect(members.count == 5)
    try members[0].setValue(.string("m@example.org"), forKey: "mail")
    try context.save()
    #expect(house.stores.coordinators["main"] === house.stores["main"]?.coordinator)
    #expect(old.coordinator.persistentStores == [], "the old model isn't used for writing any more")
    #expect(try house.migrate(MaintenanceWatch()).differences == [])
  }

  @Test("the saves that were merged before go on being counted")
  func merges() async throws {
    let house = try House()
    try house.fill()
    let former = try #require(house.stores["main"]).main
    await former.catchUp()
    #expect(former.status.savesMerged == 1 && former.status.lag != nil)
    try house.model(.attribute("name"), .attribute("mail", optional: true))
    _ = try house.migrate(MaintenanceWatch())
    let migrated = try #require(house.stores["main"]).main
    #expect(migrated.status.savesMerged == 1 && migrated.status.lag != nil)
    let context = try house.context()
    let member = try context.insert("Member")
    try member.setValue(.int(6), forKey: "number")
    try member.setValue(.string("M6"), forKey: "name")
    try context.save()
    await migrated.catchUp()
    #expect(migrated.status.savesMerged == 2)
  }

  @Test("what would be lost is refused, and everything is as it was")
  func lossy() throws {
    let house = try House()
    try house.fill()
    let old = try #require(house.stores["main"]).coordinator
    try house.model(.attribute("title", optional: true))
    #expect(throws: MigrationError.self) { try house.migrate(MaintenanceWatch()) }
    #expect(house.stores["main"]?.coordinator === old)
    #expect(try house.context().count(for: FetchRequest<ManagedObject>(entityName: "Member")) == 5)
  }

  @Test("what may be lost is lost, and reported")
  func allowed() throws {
    let house = try House(migration: "{allow_loss: [Member.name]}")
    try house.fill()
    try house.model(.attribute("title", optional: true))
    #expect(try house.migrate(MaintenanceWatch()).differences.count == 1)
    #expect(try house.context().count(for: FetchRequest<ManagedObject>(entityName: "Member")) == 5)
  }

  @Test("a model that a recipe couldn't be followed with is refused, as at the start")
  func recipe() throws {
    let house = try House(recipes: "recipes: {members: {store: main, entity: Member}}")
    try house.fill()
    let old = try #require(house.stores["main"]).coordinator
    try ModelText(ModelText.entity("Person", [.attribute("name")])).write(
      to: house.directory.file("Model.xcdatamodeld").path)
    do {
      _ = try house.migrate(MaintenanceWatch())
      Issue.record("it was migrated")
    } catch let error as DaemonError {
      #expect(error.jobFailure.code == "configuration" && !error.jobFailure.isRetryable)
      #expect(error.description.contains("recipe members"), "\(error)")
    }
    #expect(house.stores["main"]?.coordinator === old)
  }

  @Test("one that is stopped leaves the store as it was")
  func stopped() throws {
    let house = try House()
    try house.fill()
    let old = try #require(house.stores["main"]).coordinator
    try house.model(.attribute("name"), .attribute("mail", optional: true))
    #expect(throws: MaintenanceStopped.self) { try house.migrate(MaintenanceWatch(shouldStop: { true })) }
    #expect(house.stores["main"]?.coordinator === old)
    #expect(try house.context().count(for: FetchRequest<ManagedObject>(entityName: "Member")) == 5)
    #expect(try house.migrate(MaintenanceWatch()).differences.count == 1)
  }
}
