import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Opening a store")
struct OpeningTests {
  private let directory: ScratchDirectory
  private let file: URL

  init() throws {
    directory = try ScratchDirectory()
    file = directory.file("company.sqlite")
  }

  @discardableResult
  private func open(_ model: ManagedObjectModel = CompanyModel.model) throws -> (PersistentStoreCoordinator, String) {
    let coordinator = PersistentStoreCoordinator(model: model)
    return (coordinator, try coordinator.addPersistentStore(.sqlite(at: file)).identifier)
  }

  @Test("a store that is opened again has its identifier and its rows")
  func reopening() throws {
    let (first, identifier) = try open()
    let writer = ManagedObjectContext(.confinement, coordinator: first)
    let ada = try writer.person("Ada")
    try writer.save()
    let (second, again) = try open()
    #expect(again == identifier)
    let reader = ManagedObjectContext(.confinement, coordinator: second)
    #expect(try reader.named("Ada", Person.self)?.objectID == ada.objectID)
    let uri = ada.objectID.uriRepresentation
    #expect(second.managedObjectID(forURIRepresentation: uri) == ada.objectID)
  }

  @Test("a store of another version of the model that isn't to be migrated is refused, and says how it differs")
  func anotherModel() throws {
    try open(CompanyModel.older)
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    var description = PersistentStoreDescription.sqlite(at: file)
    description.shouldMigrateStoreAutomatically = false
    #expect {
      try coordinator.addPersistentStore(description)
    } throws: { error in
      guard case MigrationError.incompatibleVersion(file.path, let differences) = error else { return false }
      return differences.map(\.entity) == ["Desk", "Manager", "Person"] && differences[0].kind == .added
        && "\(error)".contains("Person.email is new, Person.desk is new")
    }
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = false
    #expect {
      try coordinator.addPersistentStore(description)
    } throws: { error in
      guard case MigrationError.missingMappingModel(file.path, let differences) = error else { return false }
      return differences.count == 3
    }
    let tables = try DatabaseQueue(path: file.path).read { db in
      try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name = 'Desk'")
    }
    #expect(tables.isEmpty, "what is refused isn't changed")
  }

  @Test("a store from before files kept their model is refused with what it lacks")
  func unknownModel() throws {
    try open(CompanyModel.older).0.close()
    try DatabaseQueue(path: file.path).write {
      try $0.execute(sql: "DELETE FROM lade_metadata WHERE key LIKE 'model%'")
    }
    #expect {
      try open()
    } throws: { error in
      guard case ManagedObjectError.incompatibleStore(file.path, let reason) = error else { return false }
      return reason.contains("Person.desk_id, Person.email")
    }
  }

  @Test("a file that isn't a database is refused and left as it is")
  func notADatabase() throws {
    let text = Data("name,age\nAda,36\n".utf8) + Data(repeating: 0x20, count: 4096)
    try text.write(to: file)
    #expect {
      try open()
    } throws: { error in
      guard case ManagedObjectError.store(let failure) = error else { return false }
      return failure.kind == .notAStore && failure.path == file.path
    }
    #expect(try Data(contentsOf: file) == text)
  }

  @Test("several programs may create the file at the same time")
  func concurrentCreation() async throws {
    let file = file
    let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<6 {
        group.addTask {
          try PersistentStoreCoordinator(model: CompanyModel.model).addPersistentStore(.sqlite(at: file)).identifier
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(identifiers.count == 1)
  }

  @Test("a missing folder is an error that names the file")
  func noFolder() throws {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    let missing = directory.file("nowhere").appendingPathComponent("x.sqlite")
    #expect {
      try coordinator.addPersistentStore(.sqlite(at: missing))
    } throws: {
      "\($0)".contains(missing.path)
    }
  }

  @Test("a name that needs quotes in SQL is a name like any other")
  func strangeNames() throws {
    let definition = EntityDefinition(
      "Order", attributes: [AttributeDefinition("group", .string), AttributeDefinition("a\"b", .integer64)],
      relationships: [
        RelationshipDefinition("select", to: "Order", inverse: "from", isToMany: true),
        RelationshipDefinition("from", to: "Order", inverse: "select", isToMany: true),
      ], uniquenessConstraints: [["group"]])
    let (coordinator, _) = try open(ManagedObjectModel(entities: [definition]))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let (one, two) = (try context.insert("Order"), try context.insert("Order"))
    try one.setValue(.string("x"), forKey: "group")
    try two.setValue(.int(1), forKey: "a\"b")
    try one.setValue(.objects([two.objectID]), forKey: "select")
    try context.save()
    try two.setValue(.string("x"), forKey: "group")
    #expect(throws: ManagedObjectError.self) { try context.save() }
    try two.setValue(.string("y"), forKey: "group")
    try context.save()
    let reader = ManagedObjectContext(.confinement, coordinator: coordinator)
    let found = try reader.fetch(
      FetchRequest<ManagedObject>(entityName: "Order", predicate: .equal("group", .string("y"))))
    #expect(found.first?.value(forKey: "from") == .objects([one.objectID]))
  }
}
