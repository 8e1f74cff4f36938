import Foundation
import GRDB
import Glibc
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("A store that is opened for reading only")
struct ReadOnlyTests {
  private let directory: ScratchDirectory
  private let file: URL

  init() throws {
    directory = try ScratchDirectory()
    file = directory.file("company.sqlite")
  }

  private func coordinator(isReadOnly: Bool, _ model: ManagedObjectModel = CompanyModel.model) throws
    -> PersistentStoreCoordinator
  {
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = PersistentStoreDescription(url: file)
    description.isReadOnly = isReadOnly
    description.sqliteOptions.persistentHistoryTracking = !isReadOnly
    try coordinator.addPersistentStore(description)
    return coordinator
  }

  private func add(_ names: String..., in coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for name in names { _ = try context.person(name) }
    try context.save()
  }

  private func names(in coordinator: PersistentStoreCoordinator) throws -> [String] {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    return try context.all(Person.self).compactMap(\.name).sorted()
  }

  @Test("everything that would write is refused, and the error names the store")
  func refusals() throws {
    let writing = try coordinator(isReadOnly: false)
    try add("Ada", in: writing)
    try writing.close()
    let before = try Data(contentsOf: file)
    let reading = try coordinator(isReadOnly: true)
    let store = try #require(reading.persistentStores.first)
    #expect(store.isReadOnly && store.type == .sqlite)
    let context = ManagedObjectContext(.confinement, coordinator: reading)
    let ada = try #require(try context.named("Ada", Person.self))
    ada.age = 36
    func refused(_ operation: String, _ body: () throws -> Void) {
      #expect(throws: PersistentStoreError.readOnly(store: file.path, operation: operation), performing: body)
    }
    refused("save") { try context.save() }
    #expect(ada.hasChanges, "a refused save leaves the changes")
    context.rollback()
    let new = try context.person("Alan")
    refused("give permanent IDs") { try context.obtainPermanentIDs(for: [new]) }
    refused("save") { try context.save() }
    context.reset()
    var update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": .constant(.int(1))]
    refused("run a batch update") { try context.execute(update) }
    refused("run a batch delete") {
      try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Person")))
    }
    refused("set metadata") { try reading.setMetadata(["a": .int(1)], for: store) }
    #expect("\(PersistentStoreError.readOnly(store: file.path, operation: "save"))".contains(file.path))
    try reading.close()
    #expect(try Data(contentsOf: file) == before)
  }

  @Test("a writer beside it is seen, also what stands in its log only, and a pinned context keeps its state")
  func besideAWriter() throws {
    let writing = try coordinator(isReadOnly: false)
    try add("Ada", in: writing)
    let reading = try coordinator(isReadOnly: true)
    #expect(try names(in: reading) == ["Ada"])
    let pinned = ManagedObjectContext(.confinement, coordinator: reading)
    try pinned.setQueryGenerationFrom(.current)
    #expect(try pinned.all(Person.self).count == 1)
    try add("Alan", in: writing)
    #expect(try names(in: reading) == ["Ada", "Alan"])
    #expect(try pinned.all(Person.self).count == 1)
    try reading.close()
    try add("Grace", in: writing)
    #expect(try names(in: writing).count == 3)
  }

  @Test("a log that a killed writer left is read")
  func leftLog() throws {
    let writing = try coordinator(isReadOnly: false)
    try add("Ada", in: writing)
    // The file with its log as a crash would leave them.
    let copy = directory.file("copy.sqlite")
    for ending in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: file.path + ending, toPath: copy.path + ending)
    }
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    var description = PersistentStoreDescription(url: copy)
    description.isReadOnly = true
    try coordinator.addPersistentStore(description)
    #expect(try names(in: coordinator) == ["Ada"])
  }

  @Test("a missing file isn't created, and a file of another version isn't migrated")
  func unfit() throws {
    #expect {
      try coordinator(isReadOnly: true)
    } throws: { error in
      guard case ManagedObjectError.store(let failure) = error else { return false }
      return failure.kind == .cannotOpen && failure.path == file.path
    }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try coordinator(isReadOnly: false, CompanyModel.older).close()
    #expect {
      try coordinator(isReadOnly: true)
    } throws: { error in
      guard case MigrationError.incompatibleVersion(file.path, let differences) = error else { return false }
      return !differences.isEmpty
    }
  }

  @Test("new objects go to the first store that can be written")
  func home() throws {
    try coordinator(isReadOnly: false).close()
    let both = try coordinator(isReadOnly: true)
    let other = try both.addPersistentStore(.inMemory())
    try add("Ada", in: both)
    #expect(try names(in: both) == ["Ada"])
    let context = ManagedObjectContext(.confinement, coordinator: both)
    let ada = try #require(try context.named("Ada", Person.self))
    #expect(both.persistentStore(for: ada.objectID) == other)
  }

  @Test("a file in a directory that the process can't write is read, until another process begins to write to it")
  func unwritable() async throws {
    let writing = try coordinator(isReadOnly: false)
    try add("Ada", in: writing)
    try writing.close()
    try #require(chmod(directory.url.path, 0o555) == 0 && chmod(file.path, 0o444) == 0)
    defer { chmod(directory.url.path, 0o755) }
    let (name, later) = try Unprivileged.run {
      let reading = try coordinator(isReadOnly: true)
      let name = try names(in: reading)
      return (name, reading)
    }
    #expect(name == ["Ada"])
    chmod(directory.url.path, 0o755)
    chmod(file.path, 0o644)
    let again = try coordinator(isReadOnly: false)
    try add("Alan", in: again)
    #expect {
      try names(in: later)
    } throws: { error in
      guard case ManagedObjectError.store(let failure) = error else { return false }
      return failure.kind == .busy && failure.message.contains("add it again")
    }
    try later.close()
    try again.close()
  }
}
