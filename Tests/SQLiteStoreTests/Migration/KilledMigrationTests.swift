import Foundation
import Glibc
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// Two versions of a model, and the ways between them.
private enum Killing: String, Codable, CaseIterable {
  case inference
  case mapping
  case stages

  static func old() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Person", attributes: [AttributeDefinition("name", .string)],
          relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owner", isToMany: true)]),
        EntityDefinition(
          "Pet", attributes: [AttributeDefinition("name", .string)],
          relationships: [RelationshipDefinition("owner", to: "Person", inverse: "pets")]),
      ])
  }

  static func new() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Being", isAbstract: true,
          attributes: [
            AttributeDefinition("name", .string), AttributeDefinition("code", .integer16, defaultValue: .int(7)),
          ]),
        EntityDefinition(
          "Person", parent: "Being",
          relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owners", isToMany: true)]),
        EntityDefinition(
          "Pet", parent: "Being",
          relationships: [RelationshipDefinition("owners", to: "Person", inverse: "pets", isToMany: true)]),
      ])
  }

  func description(_ file: URL) throws -> PersistentStoreDescription {
    var description = PersistentStoreDescription.sqlite(at: file)
    let (old, new) = (try Self.old(), try Self.new())
    switch self {
    case .inference: break
    case .mapping: description.mappingModels = [try MappingModel.inferred(from: old, to: new)]
    case .stages:
      description.stagedMigrationManager = StagedMigrationManager([
        .custom(
          from: .init(old), to: .init(new),
          willMigrate: { context in
            for pet in try context.fetch(FetchRequest<ManagedObject>(entityName: "Pet")) {
              try pet.setValue(pet.value(forKey: "name") ?? .null, forKey: "name")
            }
          })
      ])
    }
    return description
  }

  /// Opens the file with the new model, and calls `step` before each statement of the migration.
  func open(_ file: URL, _ step: @escaping @Sendable (String) -> Void) throws {
    try MigrationProbe.$onStep.withValue(step) {
      let coordinator = PersistentStoreCoordinator(model: try Self.new())
      try coordinator.addPersistentStore(description(file))
      try coordinator.close()
    }
  }

  /// Opens the file and ends the program before a statement.
  func die(_ path: String, at point: Int) throws {
    let count = Atomic(0)
    try open(URL(fileURLWithPath: path)) { _ in
      if count.add(1, ordering: .relaxed).newValue == point { kill(getpid(), SIGKILL) }
    }
  }
}

@Suite("A migration that is killed")
struct KilledMigrationTests {
  private let directory: ScratchDirectory
  private let file: URL

  init() throws {
    directory = try ScratchDirectory()
    file = directory.file("before.sqlite")
    let coordinator = PersistentStoreCoordinator(model: try Killing.old())
    try coordinator.addPersistentStore(.sqlite(at: file))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for number in 0..<40 {
      let person = try context.add("Person", ["name": .string("P\(number)")])
      try context.add("Pet", ["name": .string("Q\(number)"), "owner": .object(person.objectID)])
    }
    try context.save()
    try coordinator.close()
  }

  private func copy(_ name: String) throws -> URL {
    let url = directory.file(name)
    try FileManager.default.copyItem(at: file, to: url)
    return url
  }

  /// The names of all persons with those of their pets.
  private func pets(_ file: URL, _ model: ManagedObjectModel, migrates: Bool) throws -> [String: [String]] {
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = PersistentStoreDescription.sqlite(at: file)
    description.shouldMigrateStoreAutomatically = migrates
    try coordinator.addPersistentStore(description)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let found = try context.every("Person").map { person in
      let ids = person.value(forKey: "pets")?.objectIDs ?? []
      return (
        person.value(forKey: "name")?.plainText ?? "",
        try ids.map { try context.existingObject(with: $0).value(forKey: "name")?.plainText ?? "" }
      )
    }
    try coordinator.close()
    return Dictionary(uniqueKeysWithValues: found)
  }

  @Test("leaves the old store or the new one, whole, and goes through the next time", arguments: Killing.allCases)
  private func kills(way: Killing) async throws {
    let steps = Atomic(0)
    try way.open(copy("counted.sqlite")) { _ in steps.add(1, ordering: .relaxed) }
    let count = steps.load(ordering: .relaxed)
    #expect(count > 8)
    let (old, new) = (try Killing.old(), try Killing.new())
    let expected = Dictionary(uniqueKeysWithValues: (0..<40).map { ("P\($0)", ["Q\($0)"]) })
    for point in stride(from: 1, through: count, by: max(1, count / 10)) {
      let file = try copy("\(point).sqlite")
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, point = point as Int, way = way as Killing] in
        try way.die(path, at: point)
      }
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: file)
      let isOld = old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      #expect(isOld || new.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      if isOld { #expect(try pets(file, old, migrates: false) == expected) }
      #expect(try pets(file, new, migrates: true) == expected)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(names.allSatisfy { !$0.contains("migrating") })
  }
}
