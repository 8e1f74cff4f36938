import Foundation
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// A container as programs subclass it: its directory, and contexts of its own.
private final class CompanyContainer: PersistentContainer, @unchecked Sendable {
  private static let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("lade-container-\(UUID().uuidString)/data", isDirectory: true)
  private let made = Mutex(0)
  private let tasks = Mutex(0)
  var numberOfContexts: Int { made.withLock { $0 } }
  var numberOfTasks: Int { tasks.withLock { $0 } }

  init() {
    super.init(name: "Company", managedObjectModel: CompanyModel.model, viewQueue: .privateQueue)
  }

  override class func defaultDirectoryURL() -> URL { directory }

  override func newBackgroundContext() -> ContextQueue {
    made.withLock { $0 += 1 }
    let context = super.newBackgroundContext()
    context.transactionAuthor = "company"
    return context
  }

  override func performBackgroundTask<T: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> T
  ) async throws(Failure) -> T {
    tasks.withLock { $0 += 1 }
    return try await super.performBackgroundTask(block)
  }

  static func remove() throws { try FileManager.default.removeItem(at: directory.deletingLastPathComponent()) }
}

@Suite("A persistent container in Core Data's steps")
struct ContainerTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  private func container(_ name: String = "Company") -> PersistentContainer {
    let container = PersistentContainer(
      name: name, managedObjectModel: CompanyModel.model, viewQueue: .privateQueue)
    container.persistentStoreDescriptions[0].url = directory.file("\(name).sqlite")
    return container
  }

  @Test("a subclass has its own directory, where loading makes the file, and makes its contexts itself")
  func subclass() async throws {
    let container = CompanyContainer()
    let description = try #require(container.persistentStoreDescriptions.first)
    #expect(container.persistentStoreDescriptions.count == 1 && description.type == .sqlite)
    #expect(description.url == CompanyContainer.defaultDirectoryURL().appendingPathComponent("Company.sqlite"))
    #expect(container.managedObjectModel === CompanyModel.model)
    // As in Core Data.
    let merges = container.viewContext.performAndWait { viewContext in viewContext.automaticallyMergesChangesFromParent
    }
    #expect(!merges)
    let outcomes = Recorder<String>()
    container.loadPersistentStores { outcomes.note("\($0.url?.lastPathComponent ?? ""): \(String(describing: $1))") }
    #expect(outcomes.items == ["Company.sqlite: nil"])
    let author = try await container.performBackgroundTask { context in
      _ = try context.person("Ada")
      try context.save()
      return context.transactionAuthor
    }
    #expect(author == "company" && container.numberOfContexts == 1)
    #expect(container.numberOfTasks == 1, "the subclass runs tasks in the background itself")
    let names = try await container.viewContext.perform { viewContext in
      try viewContext.all(Person.self).compactMap(\.name)
    }
    #expect(names == ["Ada"])
    try container.persistentStoreCoordinator.close()
    try CompanyContainer.remove()
  }

  @Test("each description is loaded and reported by itself, and the throwing form throws the first error")
  func failures() async throws {
    let container = container()
    try Data("no database, but long enough to be looked at as one".utf8).write(to: directory.file("broken.sqlite"))
    container.persistentStoreDescriptions.insert(
      PersistentStoreDescription(url: directory.file("broken.sqlite")), at: 0)
    let outcomes = Recorder<Bool>()
    container.loadPersistentStores { outcomes.note($1 == nil) }
    #expect(outcomes.items == [false, true])
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.url?.lastPathComponent) == ["Company.sqlite"])
    let other = self.container("Other")
    other.persistentStoreDescriptions = [PersistentStoreDescription(url: directory.file("broken.sqlite"))]
    await #expect(throws: ManagedObjectError.self) { try await other.loadPersistentStores() }
    other.persistentStoreDescriptions = []
    try await other.loadPersistentStores()
  }

  @Test("a description that says so is loaded in the background")
  func asynchronously() async throws {
    let container = container()
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let error = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
      container.loadPersistentStores { continuation.resume(returning: $1.map { "\($0)" }) }
    }
    #expect(error == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test("a description whose type is changed is of that type, and an unknown type is named")
  func types() throws {
    let container = container()
    container.persistentStoreDescriptions[0].type = .inMemory
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [nil])
    #expect(PersistentStoreCoordinator.registeredStoreTypes.isSuperset(of: [.sqlite, .inMemory]))
    let own = PersistentStore.StoreType(rawValue: "Own of \(UUID().uuidString)")
    var description = PersistentStoreDescription.inMemory()
    description.type = own
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    #expect {
      try coordinator.addPersistentStore(description)
    } throws: { error in
      guard case PersistentStoreError.unknownType(own, let known) = error else { return false }
      return known.contains(.sqlite)
    }
    let sqlite = directory.file("own.sqlite")
    PersistentStoreCoordinator.registerStoreType(own) { model, entities, _ in
      try PersistentStoreDescription(url: sqlite).open(model, entities)
    }
    defer { PersistentStoreCoordinator.registerStoreType(own, open: nil) }
    #expect(try coordinator.addPersistentStore(description).url == sqlite)
    #expect(coordinator.persistentStores.map(\.type) == [own])
  }

  @Test("a store without a place is refused by name")
  func noPlace() throws {
    var description = PersistentStoreDescription.inMemory()
    description.type = .sqlite
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    #expect(throws: PersistentStoreError.noURL(.sqlite)) { try coordinator.addPersistentStore(description) }
  }

  @Test("a lock is waited for as long as the description says")
  func timeout() throws {
    let container = container()
    container.persistentStoreDescriptions[0].timeout = 0.05
    try container.loadPersistentStores()
    let other = PersistentStoreCoordinator(model: CompanyModel.model)
    let store = try other.addPersistentStore(.sqlite(at: directory.file("Company.sqlite")))
    let context = ManagedObjectContext(.confinement, coordinator: container.persistentStoreCoordinator)
    _ = try context.person("Ada")
    try other.inOneTransaction(of: store) {
      #expect {
        try context.save()
      } throws: { error in
        guard case ManagedObjectError.store(let failure) = error else { return false }
        return failure.kind == .busy
      }
      return ((), .rollBack)
    }
    try context.save()
  }
}
