import Foundation
import ManagedObjects
import SQLiteStore

/// Opens a store of an earlier version of the model, and so migrates it.
struct MigrationWork: Work {
  /// How the rows come from one version to the next.
  enum Way: String, CaseIterable {
    case inferred, mapped, staged
  }

  fileprivate let way: Way
  var name: String { "migration-\(way)" }

  static let all: [any Work] = Way.allCases.map { MigrationWork(way: $0) }

  func prepare(_ folder: URL) throws {
    let session = try Session(folder, Versions().first)
    let context = ManagedObjectContext(.confinement, coordinator: session.coordinator)
    var last: ManagedObject?
    for number in 0..<120 {
      let note = try context.insert("Note")
      try note.setValue(.string("The title of the note number \(number)"), forKey: "title")
      if let last, number % 3 > 0 { try note.setValue(.object(last.objectID), forKey: "parent") }
      last = note
    }
    try context.save()
    try session.close()
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    let versions = try Versions()
    return try Session(folder, versions.last) { description in
      switch way {
      case .inferred: break
      case .mapped: description.mappingModels = [versions.mapping()]
      case .staged: description.stagedMigrationManager = versions.stages()
      }
    }
  }

  func contents(_ folder: URL) throws -> [String] {
    let contents = StoreContents(folder: folder)
    return try contents.files() + contents.everything()
  }

  private struct Session: WorkSession {
    let coordinator: PersistentStoreCoordinator

    init(
      _ folder: URL, _ model: ManagedObjectModel, _ change: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws {
      coordinator = PersistentStoreCoordinator(model: model)
      var description = PersistentStoreDescription.sqlite(
        at: folder.appendingPathComponent("main.sqlite"),
        options: .init(pageSize: 4096, writerCache: 64 << 10, readerCache: 64 << 10, checkpointSize: 64 << 10))
      description.backgroundFailureHandler = { _ in }
      change(&description)
      try coordinator.addPersistentStore(description)
    }

    func work() throws -> String {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      return "\(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))) notes"
    }

    func close() throws { try coordinator.close() }
  }

  /// A title, that becomes a heading, and an importance.
  private struct Versions {
    let first, middle, last: ManagedObjectModel

    init() throws {
      var heading = AttributeDefinition("heading", .string)
      heading.renamingIdentifier = "title"
      let importance = AttributeDefinition("importance", .integer32, isOptional: false, defaultValue: .int(3))
      first = try Self.model([AttributeDefinition("title", .string)], isIndexed: false)
      middle = try Self.model([heading], isIndexed: true)
      last = try Self.model([heading, importance], isIndexed: true)
    }

    private static func model(_ attributes: [AttributeDefinition], isIndexed: Bool) throws -> ManagedObjectModel {
      let index = FetchIndexDefinition("byHeading", elements: [.init(property: "heading")])
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Note", attributes: attributes,
          relationships: [
            RelationshipDefinition("parent", to: "Note", inverse: "children"),
            RelationshipDefinition("children", to: "Note", inverse: "parent", isToMany: true),
          ], indexes: isIndexed ? [index] : [])
      ])
    }

    func mapping() -> MappingModel {
      MappingModel(
        from: first, to: last,
        entityMappings: [
          EntityMapping(
            from: first.entitiesByName["Note"], to: last.entitiesByName["Note"],
            attributeMappings: [PropertyMapping("heading", .property("title"))],
            relationshipMappings: [
              PropertyMapping("parent", .property("parent")), PropertyMapping("children", .property("children")),
            ])
        ])
    }

    func stages() -> StagedMigrationManager {
      StagedMigrationManager([
        .lightweight([.init(first), .init(middle)]),
        .custom(
          from: .init(middle), to: .init(last),
          willMigrate: nil,
          didMigrate: { context in
            for note in try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")) {
              try note.setValue(.int(4), forKey: "importance")
            }
          }),
      ])
    }
  }
}
