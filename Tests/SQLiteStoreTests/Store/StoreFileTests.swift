import Foundation
import GRDB
import Glibc
import ManagedObjects
import SQLiteStore
import Synchronization
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

  private func permissions(_ file: URL) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int ?? -1
  }

  @Test("a replaced file keeps its permissions, and a new one has those of the file that it is a copy of")
  func permissions() throws {
    let (target, source) = (try file("a.sqlite", "Ada"), try file("b.sqlite", "Alan"))
    try #require(chmod(target.path, 0o600) == 0 && chmod(source.path, 0o640) == 0)
    let seen = Mutex<[Int]>([])
    let path = target.path + ".replacing"
    try MigrationProbe.$onStep.withValue({ _ in
      guard let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int else {
        return
      }
      seen.withLock { $0.append(mode) }
    }) {
      try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source)
    }
    #expect(try permissions(target) == 0o600)
    #expect(Set(seen.withLock { $0 }) == [0o600], "nobody may read it before it is complete")
    let new = directory.file("c.sqlite")
    try coordinator.replacePersistentStore(at: new, withPersistentStoreFrom: source)
    #expect(try permissions(new) == 0o640)
    try #require(chmod(source.path, 0o400) == 0)
    let writable = directory.file("d.sqlite")
    try coordinator.replacePersistentStore(at: writable, withPersistentStoreFrom: source)
    #expect(try permissions(writable) == 0o600, "its owner may write it")
    try #require(chmod(source.path, 0o600) == 0)
    let owner = try opened(source)
    let moved = directory.file("e.sqlite")
    try owner.migratePersistentStore(owner.persistentStores[0], to: .sqlite(at: moved))
    #expect(try permissions(moved) == 0o600)
    try owner.close()
  }

  @Test("a store for reading only, whose file has no lock, refuses to read a file that was replaced or destroyed")
  func readers() throws {
    let (target, source) = (directory.file("a.sqlite"), try file("b.sqlite", "Alan"))
    // A copy has no log.
    try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source)
    let changes: [() throws -> Void] = [
      { try self.coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source) },
      { try self.coordinator.destroyPersistentStore(at: target) },
    ]
    for change in changes {
      let reading = PersistentStoreCoordinator(model: CompanyModel.model)
      var description = PersistentStoreDescription(url: target)
      description.isReadOnly = true
      try reading.addPersistentStore(description)
      #expect(try names(reading) == ["Alan"])
      try change()
      #expect {
        try names(reading)
      } throws: { error in
        guard case ManagedObjectError.store(let failure) = error else { return false }
        return failure.kind == .busy && failure.message.contains("removed or replaced")
      }
      try reading.close()
    }
  }

  @Test("a store is replaced by one in a directory that the process can't write")
  func unwritableSource() throws {
    let folder = directory.url.appendingPathComponent("bundle")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let source = folder.appendingPathComponent("seed.sqlite")
    try FileManager.default.moveItem(at: file("a.sqlite", "Ada"), to: source)
    let target = directory.file("b.sqlite")
    try #require(chmod(folder.path, 0o555) == 0 && chmod(source.path, 0o444) == 0)
    defer { chmod(folder.path, 0o755) }
    try #require(chmod(directory.url.path, 0o777) == 0)
    try Unprivileged.run { try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source) }
    #expect(try names(in: target) == ["Ada"])
  }

  @Test("a process that is killed at any step of a replacement leaves the old content or the new")
  func killed() async throws {
    let (old, new) = (try file("old.sqlite", "Ada"), try file("new.sqlite", "Alan"))
    let steps = Mutex(0)
    let counted = directory.file("counted.sqlite")
    try FileManager.default.copyItem(at: old, to: counted)
    try MigrationProbe.$onStep.withValue({ _ in steps.withLock { $0 += 1 } }) {
      try coordinator.replacePersistentStore(at: counted, withPersistentStoreFrom: new)
    }
    let count = steps.withLock { $0 }
    #expect(count > 8)
    for point in 1...count {
      let target = directory.file("\(point).sqlite")
      try FileManager.default.copyItem(at: old, to: target)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = target.path as String, source = new.path as String, point = point as Int] in
        let left = Mutex(point)
        try MigrationProbe.$onStep.withValue({ _ in
          if left.withLock({
            $0 -= 1
            return $0 == 0
          }) {
            kill(getpid(), SIGKILL)
          }
        }) {
          try PersistentStoreCoordinator(model: CompanyModel.model).replacePersistentStore(
            at: URL(fileURLWithPath: path), withPersistentStoreFrom: URL(fileURLWithPath: source))
        }
      }
      let found = try names(in: target)
      #expect(found == ["Ada"] || found == ["Alan"], "step \(point)")
      try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: new)
      #expect(try names(in: target) == ["Alan"])
    }
    #expect(try entries().allSatisfy { !$0.contains("replacing") })
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

  @Test("a store is opened at another place, where its file was moved to, and objects that contexts hold stay its own")
  func settingURL() throws {
    let (file, other) = (try file("a.sqlite", "Ada"), directory.file("b.sqlite"))
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: file)
    let owner = try opened(file)
    let store = owner.persistentStores[0]
    let context = ManagedObjectContext(.confinement, coordinator: owner)
    let ada = try #require(try context.all(Person.self).first)
    #expect(throws: ManagedObjectError.self) { try owner.setURL(directory.file("none.sqlite"), for: store) }
    try Data(repeating: 7, count: 8192).write(to: directory.file("damaged.sqlite"))
    #expect(throws: (any Error).self) { try owner.setURL(directory.file("damaged.sqlite"), for: store) }
    #expect(owner.persistentStores.map(\.url) == [file])
    let present = owner.persistentStores[0]
    let new = try owner.setURL(other, for: present)
    #expect(owner.persistentStores == [new] && new.url == other && new.identifier == store.identifier)
    #expect(throws: PersistentStoreError.unknownStore(identifier: store.identifier)) {
      try owner.setURL(file, for: present)
    }
    ada.name = "Ada Lovelace"
    try context.save()
    try owner.close()
    #expect(try names(in: other) == ["Ada Lovelace"])
    #expect(try names(in: file) == ["Ada"])
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
