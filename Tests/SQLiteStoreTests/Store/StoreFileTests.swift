import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Destroying, replacing and moving the file of a store")
struct StoreFileTests {
  private let directory: ScratchDirectory
  private let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)

  init() throws { directory = try ScratchDirectory() }

  /// A file with a person of each name, which is closed.
  private func file(_ name: String, _ people: String...) throws -> URL {
    let file = directory.file(name)
    let coordinator = try opened(file)
    try add(people, in: coordinator)
    try coordinator.close()
    return file
  }

  private func opened(_ file: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: file))
    return coordinator
  }

  private func add(_ people: [String], in coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for name in people { _ = try context.person(name) }
    try context.save()
  }

  private func names(_ coordinator: PersistentStoreCoordinator) throws -> [String] {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    return try context.all(Person.self).compactMap(\.name).sorted()
  }

  private func names(in file: URL) throws -> [String] {
    let coordinator = try opened(file)
    defer { #expect(throws: Never.self) { try coordinator.close() } }
    return try names(coordinator)
  }

  private func entries() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
  }

  private func isBusy(_ error: any Error, _ file: URL) -> Bool {
    guard case ManagedObjectError.store(let failure) = error else { return false }
    return failure.kind == .busy && failure.path == file.path && failure.message.contains("remove it")
  }

  @Test("a destroyed store leaves nothing, and one that isn't there, or is damaged, can be destroyed")
  func destroying() throws {
    let file = try file("a.sqlite", "Ada")
    try coordinator.destroyPersistentStore(at: file)
    #expect(try entries() == [])
    try coordinator.destroyPersistentStore(at: file)
    try Data(repeating: 7, count: 8192).write(to: file)
    try coordinator.destroyPersistentStore(at: file)
    #expect(try entries() == [])
  }

  @Test("a store that a coordinator or another program has open is neither destroyed nor replaced")
  func open() throws {
    let (file, other) = (try file("a.sqlite", "Ada"), try file("b.sqlite", "Alan"))
    let owner = try opened(file)
    #expect {
      try coordinator.destroyPersistentStore(at: file)
    } throws: { isBusy($0, file) }
    #expect {
      try coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: other)
    } throws: { isBusy($0, file) }
    #expect(try entries().allSatisfy { !$0.contains("replacing") })
    try add(["Grace"], in: owner)
    #expect(try names(owner) == ["Ada", "Grace"])
    try owner.close()
    let program = try DatabaseQueue(path: file.path)
    try program.read { db in
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM Person")
      #expect {
        try coordinator.destroyPersistentStore(at: file)
      } throws: { isBusy($0, file) }
    }
    try program.close()
    try coordinator.destroyPersistentStore(at: file)
    #expect(try entries().allSatisfy { $0.hasPrefix("b.sqlite") })
  }

  @Test("a store is replaced by one state of another that is open, with what stands in its log only")
  func replacing() throws {
    let target = try file("a.sqlite", "Ada")
    let source = directory.file("b.sqlite")
    let owner = try opened(source)
    try add(["Alan", "Grace"], in: owner)
    try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source)
    #expect(try names(in: target) == ["Alan", "Grace"])
    let identifier = try PersistentStoreCoordinator.metadataForPersistentStore(at: target).storeIdentifier
    #expect(identifier == owner.persistentStores[0].identifier)
    try add(["Barbara"], in: owner)
    let new = directory.file("c.sqlite")
    try coordinator.replacePersistentStore(at: new, withPersistentStoreFrom: source)
    #expect(try names(in: new).count == 3)
    #expect(try names(in: target).count == 2)
    try owner.close()
  }

  @Test("a file that is no store replaces nothing")
  func wrongSource() throws {
    let target = try file("a.sqlite", "Ada")
    let other = directory.file("other.sqlite")
    try DatabaseQueue(path: other.path).write { try $0.execute(sql: "CREATE TABLE a (b)") }
    #expect(throws: ManagedObjectError.self) {
      try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: other)
    }
    #expect(throws: ManagedObjectError.self) {
      try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: directory.file("none"))
    }
    #expect(try names(in: target) == ["Ada"])
    #expect(try entries().allSatisfy { !$0.contains("replacing") })
  }

  @Test("a store moves to another file while it is open, and objects that contexts hold stay theirs")
  func moving() throws {
    let owner = try opened(directory.file("a.sqlite"))
    try add(["Ada"], in: owner)
    let context = ManagedObjectContext(.confinement, coordinator: owner)
    let ada = try #require(try context.named("Ada", Person.self))
    let old = try #require(owner.persistentStores.first)
    let new = try owner.migratePersistentStore(old, to: .sqlite(at: directory.file("b.sqlite")))
    #expect(owner.persistentStores == [new] && new.identifier == old.identifier)
    ada.age = 36
    try context.save()
    try owner.close()
    #expect(try names(in: directory.file("a.sqlite")) == ["Ada"], "the old file stays")
    let moved = try opened(directory.file("b.sqlite"))
    let reader = ManagedObjectContext(.confinement, coordinator: moved)
    #expect(try reader.named("Ada", Person.self)?.age == 36)
    try moved.close()
  }

  @Test("a store in memory becomes a file, and a file a store in memory, with relationships and numbers")
  func types() throws {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    let memory = try coordinator.addPersistentStore(.inMemory())
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let boss = try context.insert(Manager.self)
    boss.name = "Grace"
    let (ada, alan) = (try context.person("Ada"), try context.person("Alan"))
    ada.friends = [alan, boss]
    try context.save()
    let file = directory.file("a.sqlite")
    let store = try coordinator.migratePersistentStore(memory, to: .sqlite(at: file))
    #expect(try entries().contains("a.sqlite") && coordinator.persistentStores == [store])
    let reader = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try reader.named("Ada", Person.self)?.friends.compactMap(\.name).sorted() == ["Alan", "Grace"])
    _ = try reader.person("New")
    try reader.save()
    let back = try coordinator.migratePersistentStore(store, to: .inMemory())
    #expect(back.type == .inMemory && coordinator.persistentStores == [back])
    #expect(try names(coordinator) == ["Ada", "Alan", "Grace", "New"])
    #expect(throws: PersistentStoreError.exists(path: file.path)) {
      try coordinator.migratePersistentStore(back, to: .sqlite(at: file))
    }
    try coordinator.close()
  }
}
