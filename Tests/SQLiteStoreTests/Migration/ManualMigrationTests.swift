import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Migration that a program runs itself")
struct ManualMigrationTests {
  private let store: MigratedStore
  private let versions: [ManagedObjectModel]

  init() throws {
    store = try MigratedStore()
    versions = try ["name", "title", "heading"].map { attribute in
      try ManagedObjectModel(entities: [
        EntityDefinition(
          "Note",
          attributes: [AttributeDefinition(attribute, .string)],
          relationships: [
            RelationshipDefinition("parent", to: "Note", inverse: "children"),
            RelationshipDefinition("children", to: "Note", inverse: "parent", isToMany: true),
          ])
      ])
    }
    try store.open(versions[0]) { context in
      let parent = try context.add("Note", ["name": .string("a")])
      try context.add("Note", ["name": .string("b"), "parent": .object(parent.objectID)])
    }
  }

  /// A mapping that renames the attribute, by a policy of the program's own where one is given.
  private func mapping(_ from: Int, policy: EntityMigrationPolicy.Type? = nil) throws -> MappingModel {
    let (old, new) = (versions[from], versions[from + 1])
    let (was, now) = (["name", "title", "heading"][from], ["name", "title", "heading"][from + 1])
    return MappingModel(
      from: old, to: new,
      entityMappings: [
        EntityMapping(
          from: old.entitiesByName["Note"], to: new.entitiesByName["Note"],
          attributeMappings: [PropertyMapping(now, .property(was))],
          relationshipMappings: [
            PropertyMapping("parent", .property("parent")), PropertyMapping("children", .property("children")),
          ], policy: policy)
      ])
  }

  private func entries() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store.directory.url.path).sorted()
  }

  @Test("goes through the versions one by one, and leaves the source as it was")
  func progressive() throws {
    let middle = store.directory.file("middle.sqlite")
    let last = store.directory.file("last.sqlite")
    let first = MigrationManager(sourceModel: versions[0], destinationModel: versions[1])
    try first.migrateStore(from: .sqlite(at: store.file), to: .sqlite(at: middle), with: mapping(0))
    #expect(first.migrationProgress == 1)
    let second = MigrationManager(sourceModel: versions[1], destinationModel: versions[2])
    try second.migrateStore(from: .sqlite(at: middle), to: .sqlite(at: last), with: mapping(1))
    #expect(try entries().filter { $0.contains("migrating") } == [])
    try store.open(versions[0], { $0.shouldMigrateStoreAutomatically = false }) {
      try $0.expect("Note", "name", [.string("a"), .string("b")])
    }
    try PersistentStoreCoordinator(model: versions[2])
      .replacePersistentStore(at: store.file, withPersistentStoreFrom: last)
    try store.open(versions[2], { $0.shouldMigrateStoreAutomatically = false }) { context in
      try context.expect("Note", "heading", [.string("a"), .string("b")])
      let notes = try context.every("Note")
      #expect(notes[1].value(forKey: "parent") == .object(notes[0].objectID))
      #expect(notes.map(\.objectID.uriRepresentation.lastPathComponent) == ["p1", "p2"])
    }
  }

  @Test("fails without a trace: a wrong source, a policy that throws, a destination that is there")
  func failures() throws {
    let place = store.directory.file("new.sqlite")
    let later = MigrationManager(sourceModel: versions[1], destinationModel: versions[2])
    #expect {
      try later.migrateStore(from: .sqlite(at: store.file), to: .sqlite(at: place), with: mapping(1))
    } throws: { error in
      guard case MigrationError.incompatibleVersion(store.file.path, _) = error else { return false }
      return true
    }
    let manager = MigrationManager(sourceModel: versions[0], destinationModel: versions[1])
    #expect(throws: RefusingPolicy.Refusal.self) {
      try manager.migrateStore(
        from: .sqlite(at: store.file), to: .sqlite(at: place), with: mapping(0, policy: RefusingPolicy.self))
    }
    #expect(try entries().filter { $0.hasPrefix("new") } == [])
    try manager.migrateStore(from: .sqlite(at: store.file), to: .sqlite(at: place), with: mapping(0))
    #expect(throws: PersistentStoreError.exists(path: place.path)) {
      try manager.migrateStore(from: .sqlite(at: store.file), to: .sqlite(at: place), with: mapping(0))
    }
  }
}

private final class RefusingPolicy: EntityMigrationPolicy {
  struct Refusal: Error {}

  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    throw Refusal()
  }
}
