import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// Indexes, triggers and views that other programs have put on a store's tables.
@Suite("What others have on migrated tables")
struct ThirdPartyObjectsTests {
  private let store: MigratedStore
  private static let before = [
    EntityDefinition(
      "Person", attributes: [AttributeDefinition("name", .string), AttributeDefinition("age", .integer64)])
  ]
  /// Rebuilt, with everything there was.
  private static let more = [
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("name", .string), AttributeDefinition("age", .integer64),
        AttributeDefinition("code", .integer64, isOptional: false, defaultValue: .int(1)),
      ])
  ]
  /// Rebuilt, without the ages.
  private static let less = [EntityDefinition("Person", attributes: [AttributeDefinition("name", .string)])]

  init() throws {
    store = try MigratedStore()
    try store.open(Self.before) { context in
      try context.add("Person", ["name": .string("Ada"), "age": .int(36)])
    }
    try DatabaseQueue(path: store.file.path).write { db in
      try db.execute(
        sql: """
          CREATE TABLE log (text TEXT);
          CREATE INDEX others_age ON Person (age);
          CREATE UNIQUE INDEX others_name ON Person (upper(name));
          CREATE TRIGGER others_names AFTER UPDATE OF name ON Person BEGIN INSERT INTO log VALUES (new.name); END;
          CREATE TRIGGER others_ages AFTER INSERT ON Person BEGIN INSERT INTO log VALUES (new.age); END;
          CREATE VIEW others_people AS SELECT name FROM Person;
          CREATE VIEW others_years AS SELECT age FROM Person;
          """)
    }
  }

  private func names() throws -> [String] {
    try store.column("SELECT name FROM sqlite_master WHERE name LIKE 'others%' ORDER BY name")
  }

  private static let all = [
    "others_age", "others_ages", "others_name", "others_names", "others_people", "others_years",
  ]

  /// By inference, and by a mapping model, which makes the new version in another file.
  private func migrate(
    to entities: [EntityDefinition], byMapping: Bool, _ change: (inout PersistentStoreDescription) -> Void = { _ in }
  ) throws {
    let model = try ManagedObjectModel(entities: entities)
    let mapping = try MappingModel.inferred(from: ManagedObjectModel(entities: Self.before), to: model)
    try store.open(model) { description in
      if byMapping { description.mappingModels = [mapping] }
      change(&description)
    } _: { context in
      try context.every("Person").first?.setValue(.string("Eve"), forKey: "name")
    }
  }

  @Test("is there and works as before", arguments: [false, true])
  func kept(_ byMapping: Bool) throws {
    let told = Recorder<String>()
    try migrate(to: Self.more, byMapping: byMapping) { $0.migrationWarningHandler = { told.note($0) } }
    #expect(try names() == Self.all)
    #expect(told.items.isEmpty)
    #expect(try store.column("SELECT text FROM log") == ["Eve"], "the migration itself sets no trigger off")
    #expect(try store.column("SELECT name FROM others_people") == ["Eve"])
  }

  @Test("is reported where it can't be kept, and leaves a store that can be written", arguments: [false, true])
  func lost(_ byMapping: Bool) throws {
    let told = Recorder<String>()
    try migrate(to: Self.less, byMapping: byMapping) { $0.migrationWarningHandler = { told.note($0) } }
    #expect(try names() == ["others_name", "others_names", "others_people", "others_years"])
    #expect(told.items.count == 3)
    for name in ["Person.others_age is a index", "Person.others_ages is a trigger", "others_years is a view"] {
      #expect(told.items.contains { $0.contains(name.replacing("a index", with: "an index")) }, "\(name)")
    }
    #expect(try store.column("SELECT text FROM log") == ["Eve"])
    try store.open(Self.less) { try $0.add("Person", ["name": .string("Bo")]) }
  }

  @Test("is kept where a trigger stands for one kind of change of a view", arguments: [false, true])
  func viewTriggers(_ byMapping: Bool) throws {
    try DatabaseQueue(path: store.file.path).write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER others_view INSTEAD OF INSERT ON others_people
            BEGIN INSERT INTO log VALUES (new.name || '!'); END;
          CREATE TRIGGER others_view_2 INSTEAD OF DELETE ON others_people
            BEGIN INSERT INTO log VALUES (old.name || '?'); END;
          """)
    }
    try migrate(to: Self.more, byMapping: byMapping) { $0.refusesLossyMigration = true }
    #expect(try names() == (Self.all + ["others_view", "others_view_2"]).sorted())
    try DatabaseQueue(path: store.file.path).write { db in
      try db.execute(sql: "INSERT INTO others_people VALUES ('Bo')")
      try db.execute(sql: "DELETE FROM others_people")
    }
    #expect(try store.column("SELECT text FROM log") == ["Eve", "Bo!", "Eve?"])
  }

  @Test("is an obstacle where losses are refused, unless they are meant")
  func refused() throws {
    let error = #expect(throws: MigrationError.self) {
      try migrate(to: Self.less, byMapping: false) {
        $0.refusesLossyMigration = true
        $0.permittedMigrationLosses = ["Person.age", "Person.others_age"]
      }
    }
    guard case .cannotInfer(let obstacles)? = error else { throw try #require(error) }
    #expect(Set(obstacles.map(\.property)) == ["others_ages", "others_years"])
    #expect("\(obstacles)".contains("permittedMigrationLosses") && "\(obstacles)".contains("allow_loss"))
    #expect(try names() == Self.all)
    #expect(try store.column("SELECT age FROM Person") == ["36"])
    try migrate(to: Self.less, byMapping: false) {
      $0.refusesLossyMigration = true
      $0.permittedMigrationLosses = ["Person", "others_years"]
    }
    #expect(try names().count == 4)
  }
}
