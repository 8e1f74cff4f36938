import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Migration by a mapping model of the program's own", .onEveryStore)
struct PolicyMigrationTests {
  private let store: MigratedStore
  private let old: ManagedObjectModel
  private let new: ManagedObjectModel

  init() throws {
    store = try MigratedStore()
    let team = RelationshipDefinition("members", to: "Person", inverse: "team", isToMany: true)
    old = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person", attributes: [AttributeDefinition("name", .string), AttributeDefinition("age", .string)],
        relationships: [RelationshipDefinition("team", to: "Team", inverse: "members")]),
      EntityDefinition("Team", attributes: [AttributeDefinition("name", .string)], relationships: [team]),
    ])
    new = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person",
        attributes: [
          AttributeDefinition("first", .string, isOptional: false), AttributeDefinition("last", .string),
          AttributeDefinition("age", .integer16, maximumValue: .int(150)),
        ],
        relationships: [RelationshipDefinition("team", to: "Team", inverse: "members")]),
      EntityDefinition("Team", attributes: [AttributeDefinition("name", .string)], relationships: [team]),
    ])
    try store.open(old) { context in
      let team = try context.add("Team", ["name": .string("A")])
      for (name, age) in [("Ada Lovelace", "36"), ("Alan Turing", "41"), ("Plato", "80")] {
        try context.add(
          "Person", ["name": .string(name), "age": .string(age), "team": age == "80" ? .null : .object(team.objectID)])
      }
    }
  }

  /// A mapping with a value for each new attribute.
  private func mapping(
    policy: EntityMigrationPolicy.Type? = nil, age: (@Sendable (ManagedObject) throws -> Value)? = nil
  ) throws -> MappingModel {
    func word(_ index: Int) -> PropertyMapping.Source {
      .custom { person, _ in
        let words = (person.value(forKey: "name")?.plainText ?? "").split(separator: " ")
        return index < words.count ? .string(String(words[index])) : .null
      }
    }
    let person = EntityMapping(
      from: old.entitiesByName["Person"], to: new.entitiesByName["Person"],
      attributeMappings: [
        PropertyMapping("first", word(0)), PropertyMapping("last", word(1)),
        PropertyMapping(
          "age",
          .custom { person, _ in
            if let age { return try age(person) }
            return .int(Int64(person.value(forKey: "age")?.plainText ?? "") ?? 0)
          }),
      ], relationshipMappings: [PropertyMapping("team", .property("team"))], policy: policy)
    let team = EntityMapping(
      from: old.entitiesByName["Team"], to: new.entitiesByName["Team"],
      attributeMappings: [PropertyMapping("name", .property("name"))],
      relationshipMappings: [PropertyMapping("members", .property("members"))])
    return MappingModel(from: old, to: new, entityMappings: [person, team])
  }

  private func open<T>(_ mapping: MappingModel, _ body: (ManagedObjectContext) throws -> T) throws -> T {
    try store.open(new, { $0.mappingModels = [mapping] }, body)
  }

  /// The store is as it was, and nothing lies beside it.
  private func expectUnchanged() throws {
    try store.open(old, { $0.shouldMigrateStoreAutomatically = false }) {
      try $0.expect("Person", "age", ["36", "41", "80"].map(Value.string))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.url.path).count <= 3)
  }

  @Test("values are computed, and objects keep their IDs and references")
  func values() throws {
    let identifiers = try store.open(old) { try $0.every("Person").map(\.objectID.uriRepresentation) }
    try open(mapping()) { context in
      try context.expect("Person", "first", ["Ada", "Alan", "Plato"].map(Value.string))
      try context.expect("Person", "last", [.string("Lovelace"), .string("Turing"), .null])
      try context.expect("Person", "age", [.int(36), .int(41), .int(80)])
      let people = try context.every("Person").map(\.objectID)
      try context.expect("Team", "members", [.objects([people[0], people[1]])])
      #expect(people.map(\.uriRepresentation) == identifiers)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.url.path).count <= 3)
    try store.open(new, { $0.shouldMigrateStoreAutomatically = false }) {
      try $0.add("Person", ["first": .string("x")])
    }
    let numbers = try store.column("SELECT id FROM \"Person\" ORDER BY id")
    #expect(numbers.count == 4 && numbers.prefix(3) == ["1", "2", "3"])
  }

  @Test("what programs noted in the file, and tables of their own, stay")
  func others() throws {
    try store.run(
      "CREATE TABLE mine (a int); INSERT INTO mine VALUES (1); CREATE VIEW ages AS SELECT age FROM \"Person\"")
    let coordinator = PersistentStoreCoordinator(model: old)
    let identifier = try coordinator.addPersistentStore(store.description()).identifier
    try coordinator.setMetadata(["a": .int(1)], for: identifier)
    try coordinator.close()
    try open(mapping()) { _ in }
    #expect(try store.column("SELECT a FROM mine") == ["1"])
    #expect(try store.column("SELECT age FROM ages ORDER BY age") == ["36", "41", "80"])
    if store.isPostgres { return }
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: store.file)
    #expect(metadata.storeIdentifier == identifier && metadata.userInfo == ["a": .int(1)])
  }

  @Test("a policy leaves objects out and makes several of one")
  func policy() throws {
    try open(mapping(policy: TwinsPolicy.self)) { context in
      let names = try context.values("Person", "first").map(\.plainText)
      #expect(names == ["Ada", "Alan", "Ada's twin", "Alan's twin"], "numbers of the old store aren't given to others")
      let members = try context.values("Team", "members").first?.objectIDs
      #expect(members?.count == 4)
    }
  }

  @Test("an error in a value or a policy leaves the store as it was")
  func failures() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try open(
        mapping { person in
          if person.value(forKey: "age") == .string("41") { throw Stop() }
          return .null
        }
      ) { _ in }
    }
    try expectUnchanged()
    #expect(throws: TwinsPolicy.Cancelled.self) { try open(mapping(policy: CancellingPolicy.self)) { _ in } }
    try expectUnchanged()
    #expect {
      try open(mapping { _ in .int(200) }) { _ in }
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.count == 3 && failures[0].property == "age"
    }
    try expectUnchanged()
    #expect(throws: MigrationError.self) { try store.open(new) { _ in } }
    try expectUnchanged()
  }

  @Test("more objects than a batch are migrated, with their references")
  func batches() throws {
    try store.open(old) { context in
      let team = try context.every("Team")[0].objectID
      for number in 0..<2500 {
        try context.add("Person", ["name": .string("P\(number)"), "age": .string("1"), "team": .object(team)])
      }
    }
    try open(mapping()) { context in
      let members = try context.values("Team", "members").first?.objectIDs
      #expect(members?.count == 2502)
    }
    #expect(try store.column("SELECT count(*) FROM \"Person\"") == ["2503"])
    if !store.isPostgres { #expect(try store.column("SELECT max(id) FROM Person") == ["2503"]) }
  }

  @Test("what a killed migration left beside the file is taken away")
  func leftovers() throws {
    // The schema beside a store in PostgreSQL has a test of its own.
    if store.isPostgres { return }
    let side = store.file.path + ".migrating"
    for suffix in ["", "-wal"] { try Data("x".utf8).write(to: URL(fileURLWithPath: side + suffix)) }
    try store.open(old) { _ in }
    #expect(!FileManager.default.fileExists(atPath: side) && !FileManager.default.fileExists(atPath: side + "-wal"))
  }
}

/// Leaves out who is in no team, and gives the others a twin.
private class TwinsPolicy: EntityMigrationPolicy {
  struct Cancelled: Error {}

  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard source.value(forKey: "team") != .null else { return }
    let first = try manager.createDestinationInstance(for: source, in: mapping)
    let twin = try manager.destinationContext.insert("Person")
    try twin.setValue(.string("\(first?.value(forKey: "first")?.plainText ?? "")'s twin"), forKey: "first")
    try manager.associate(source: source, withDestination: twin, for: mapping)
  }
}

/// Ends the migration after the first object.
private final class CancellingPolicy: TwinsPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    manager.cancelMigration(with: Cancelled())
  }
}
