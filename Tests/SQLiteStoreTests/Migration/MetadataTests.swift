import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("A store's metadata")
struct MetadataTests {
  private let directory: ScratchDirectory
  private let model = CompanyModel.model

  init() throws { directory = try ScratchDirectory() }

  private func open(_ kind: StoreKind) throws -> (PersistentStoreCoordinator, String) {
    let coordinator = PersistentStoreCoordinator(model: model)
    return (coordinator, try coordinator.addPersistentStore(kind.store(at: directory.file("a.sqlite"))).identifier)
  }

  @Test("says which model made it", arguments: StoreKind.allCases)
  func versions(kind: StoreKind) throws {
    let (coordinator, identifier) = try open(kind)
    let metadata = try coordinator.metadata(for: identifier)
    #expect(metadata.storeIdentifier == identifier)
    #expect(metadata.modelVersionHashes == model.entityVersionHashesByName)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: "samples", compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: "nothing", compatibleWithStoreMetadata: metadata))
    #expect(!CompanyModel.older.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }

  @Test("keeps what a program notes", arguments: StoreKind.allCases)
  func userInfo(kind: StoreKind) throws {
    let (coordinator, identifier) = try open(kind)
    try coordinator.setMetadata(["a": .int(1), "b": .null], for: identifier)
    try coordinator.setMetadata(["b": .string("x")], for: identifier)
    #expect(try coordinator.metadata(for: identifier).userInfo == ["b": .string("x")])
    #expect(throws: MigrationError.unstorableMetadata(key: "c")) {
      try coordinator.setMetadata(["c": .objects([])], for: identifier)
    }
    #expect(throws: ManagedObjectError.self) { try coordinator.metadata(for: "nobody") }
  }

  @Test("of a later format, the file is refused and what it holds stays; one from before formats were noted is taken")
  func formats() throws {
    let file = directory.file("a.sqlite")
    try open(.sqlite).0.close()
    func write(_ sql: String) throws { try DatabaseQueue(path: file.path).write { try $0.execute(sql: sql) } }
    try write("UPDATE lade_metadata SET value = '3' WHERE key = 'format'")
    func contents() throws -> [String] {
      try DatabaseQueue(path: file.path).read {
        try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master UNION ALL SELECT key || value FROM lade_metadata")
      }
    }
    let before = try contents()
    let error = #expect(throws: ManagedObjectError.self) { try open(.sqlite) }
    #expect(error?.description.contains("a later version of Lade made it (format 3") == true, "\(error as Any)")
    #expect(try contents() == before)
    try write("DELETE FROM lade_metadata WHERE key = 'format'")
    try open(.sqlite).0.close()
    let format = try DatabaseQueue(path: file.path).read {
      try String.fetchOne($0, sql: "SELECT value FROM lade_metadata WHERE key = 'format'")
    }
    #expect(format == "1")
  }

  @Test("is read from a file without a model, with the model that made it")
  func files() throws {
    let (coordinator, identifier) = try open(.sqlite)
    try coordinator.setMetadata(["a": .int(1)], for: identifier)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: directory.file("a.sqlite"))
    #expect(try metadata == coordinator.metadata(for: identifier))
    let kept = try #require(try metadata.managedObjectModel())
    #expect(kept.entities.map(\.definition) == model.entities.map(\.definition))
    #expect(throws: ManagedObjectError.self) {
      try PersistentStoreCoordinator.metadataForPersistentStore(at: directory.file("nothing"))
    }
    try DatabaseQueue(path: directory.file("plain").path).write { try $0.execute(sql: "CREATE TABLE a (b)") }
    #expect(throws: ManagedObjectError.self) {
      try PersistentStoreCoordinator.metadataForPersistentStore(at: directory.file("plain"))
    }
  }

  @Test("a file from before versions were kept is adopted when its tables fit")
  func adoption() throws {
    let file = directory.file("a.sqlite")
    let (coordinator, identifier) = try open(.sqlite)
    try coordinator.close()
    try DatabaseQueue(path: file.path).write {
      try $0.execute(sql: "DELETE FROM lade_metadata WHERE key LIKE 'model%'")
    }
    #expect(try PersistentStoreCoordinator.metadataForPersistentStore(at: file).modelVersionHashes.isEmpty)
    #expect(try open(.sqlite).1 == identifier)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: file)
    #expect(metadata.modelVersionHashes == model.entityVersionHashesByName)
  }
}
