import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@Suite("A store's content, copied and put back")
struct ContentCopyTests {
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: try Self.model())
    store = try coordinator.addPersistentStore(
      .sqlite(at: directory.file("store.sqlite"), options: .init(pageSize: 4096)))
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition("Ship", attributes: [AttributeDefinition("name", .string)])
    ])
  }

  private func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  private func add(_ names: String...) throws {
    let context = context()
    for name in names { try context.add("Ship", ["name": .string(name)]) }
    try context.save()
  }

  private func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.values("Ship", "name").map(\.plainText)
  }

  private func copy(_ name: String = "copy.sqlite") throws -> URL {
    let url = directory.file(name)
    try coordinator.maintenance(of: store).copyContent(to: url, MaintenanceWatch())
    return url
  }

  private func putBack(_ copy: URL, _ watch: MaintenanceWatch = MaintenanceWatch()) throws {
    try coordinator.prepareCopy(at: copy, for: store, migration: MigrationOptions(), mark: "mark", watch)
    try coordinator.replaceContent(of: store, with: copy, watch)
  }

  @Test("a pinned generation and an open read see the old content, others the new")
  func pinned() throws {
    try add("Argo")
    let copy = try copy()
    try add("Beagle")
    let before = context()
    try before.setQueryGenerationFrom(.current)
    #expect(try names(before) == ["Argo", "Beagle"])
    try putBack(copy)
    before.refreshAllObjects()
    #expect(try names(before) == ["Argo", "Beagle"])
    let after = context()
    #expect(try names(after) == ["Argo"])
    #expect(try coordinator.maintenance(of: store).contentMark() == "mark")
  }

  @Test("objects of a context that follows are those of the copy, and ones that are gone can't be saved over it")
  func followers() async throws {
    try add("Argo")
    let copy = try copy()
    try add("Beagle")
    let follower = ContextQueue(.privateQueue, coordinator: coordinator)
    try await follower.perform { follower in
      follower.automaticallyMergesChangesFromParent = true
      let ships = try follower.every("Ship")
      #expect(ships.compactMap { $0.value(forKey: "name")?.plainText } == ["Argo", "Beagle"])
      try ships[1].setValue(.string("Beagle II"), forKey: "name")
    }
    let told = Mutex(0)
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { note in
      if let save = ContextSave(note), save.isWholesale, save.changedEntityNames == ["Ship"] {
        told.withLock { $0 += 1 }
      }
    }
    try putBack(copy)
    NotificationCenter.default.removeObserver(observer)
    #expect(told.withLock { $0 } >= 1)
    try await follower.perform { follower in
      #expect(throws: ManagedObjectError.self) { try follower.save() }
      follower.rollback()
      let count = try follower.every("Ship").count
      #expect(count == 1)
    }
    try add("Calypso")
    #expect(try names(context()) == ["Argo", "Calypso"])
  }

  @Test("pages of another size are made to fit, and the store's identity stays")
  func pageSize() throws {
    try add("Argo")
    let other = PersistentStoreCoordinator(model: try Self.model())
    let theirs = try other.addPersistentStore(
      .sqlite(at: directory.file("other.sqlite"), options: .init(pageSize: 16384)))
    let writer = ManagedObjectContext(.confinement, coordinator: other)
    try writer.add("Ship", ["name": .string("Beagle")])
    try writer.save()
    let copy = directory.file("copy.sqlite")
    try other.maintenance(of: theirs).copyContent(to: copy, MaintenanceWatch())
    try putBack(copy)
    #expect(try names(context()) == ["Beagle"])
    try coordinator.close()
    let file = directory.file("store.sqlite")
    #expect(try DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 4096)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: file)
    #expect(metadata.storeIdentifier == store.identifier && store.identifier != theirs.identifier)
  }

  @Test("one that is stopped leaves everything as it was")
  func stopped() throws {
    try add("Argo")
    let copy = try copy()
    try add("Beagle")
    let stop = MaintenanceWatch(shouldStop: { true })
    #expect(throws: MaintenanceStopped.self) { try putBack(copy, stop) }
    #expect(throws: MaintenanceStopped.self) { try coordinator.replaceContent(of: store, with: copy, stop) }
    #expect(throws: MaintenanceStopped.self) {
      try coordinator.maintenance(of: store).copyContent(to: directory.file("half.sqlite"), stop)
    }
    #expect(throws: MaintenanceStopped.self) { try coordinator.maintenance(of: store).compact(.whole(), stop) }
    #expect(throws: MaintenanceStopped.self) { try coordinator.maintenance(of: store).rebuildIndexes(nil, stop) }
    #expect(throws: MaintenanceStopped.self) {
      try coordinator.maintenance(of: store).checkIntegrity(.full, stop) { Issue.record("\($0)") }
    }
    #expect(try names(context()) == ["Argo", "Beagle"])
  }

  @Test("history's numbers go on where they were, so that a token stays a place in it")
  func history() throws {
    let file = directory.file("history.sqlite")
    let coordinator = PersistentStoreCoordinator(model: try Self.model())
    let store = try coordinator.addPersistentStore(.sqlite(at: file, options: .init(persistentHistoryTracking: true)))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    func add() throws {
      try context.add("Ship")
      try context.save()
    }
    try add()
    let copy = directory.file("copy.sqlite")
    try coordinator.maintenance(of: store).copyContent(to: copy, MaintenanceWatch())
    try add()
    try add()
    try coordinator.prepareCopy(at: copy, for: store, migration: .init(), mark: "m", MaintenanceWatch())
    try coordinator.replaceContent(of: store, with: copy, MaintenanceWatch())
    context.reset()
    try add()
    let numbers = try DatabaseQueue(path: file.path).read {
      try Int.fetchAll($0, sql: "SELECT number FROM lade_history_transaction ORDER BY number")
    }
    #expect(numbers == [1, 4])
  }

  @Test("no maintenance runs within a transaction of several writes")
  func transaction() throws {
    let copy = try copy()
    let maintenance = try coordinator.maintenance(of: store)
    try coordinator.inOneTransaction(of: store) { () -> (Void, TransactionEnd) in
      let watch = MaintenanceWatch()
      #expect(throws: StoreTransactionError.self) { try maintenance.compact(.whole(), watch) }
      #expect(throws: StoreTransactionError.self) { try maintenance.updateStatistics(sampling: nil, watch) }
      #expect(throws: StoreTransactionError.self) { try maintenance.flushLog(.passive, timeout: .zero, watch) }
      #expect(throws: StoreTransactionError.self) { try maintenance.rebuildIndexes(nil, watch) }
      #expect(throws: StoreTransactionError.self) { try coordinator.replaceContent(of: store, with: copy, watch) }
      return ((), .rollBack)
    }
  }

  @Test("a store in memory has none, and says so")
  func inMemory() throws {
    let coordinator = PersistentStoreCoordinator(model: try Self.model())
    let memory = try coordinator.addPersistentStore(.inMemory())
    #expect(throws: MaintenanceError.self) { try coordinator.maintenance(of: memory) }
    #expect(throws: PersistentStoreError.self) { try coordinator.maintenance(of: store) }
  }
}
