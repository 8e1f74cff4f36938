import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import Jobs

@Suite("Restoring a store", .timeLimit(.minutes(20)))
struct RestoreTests {
  @Test(
    "puts back what the backup has, however it is packed, and gives no number twice",
    arguments: ["none", "gzip", "zstd"])
  func roundTrip(_ compression: String) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 500)
    #expect(try await queue.run(.upkeep("backup", #"{"compress": "\#(compression)"}"#)).state == .completed)
    try await house.fill(queue, 300, from: 500)
    let lost = try house.withContext { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map(\.objectID.number).max() ?? 0
    }
    let end = try await queue.run(.upkeep("restore", #"{"backup": "latest"}"#))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    #expect(try house.count() == 500)
    try house.withContext { context in
      let new = try context.insert("Person")
      try new.setValue(.int(10_000), forKey: "number")
      try context.save()
      #expect(new.objectID.number > lost)
    }
    try await house.fill(queue, 300, from: 500)
    #expect(try house.count() == 801)
    #expect(try house.names(in: "backups").count == 1, "the workspace is gone")
    await queue.drain(timeout: .seconds(10))
  }

  @Test("readers see the old content or the new, and a fetched results controller fetches again")
  func readers() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    func add(_ count: Int) throws {
      try house.withContext { context in
        for number in 0..<count {
          let person = try context.insert("Person")
          try person.setValue(.int(Int64(number + 100_000)), forKey: "number")
          let pet = try context.insert("Pet")
          try pet.setValue(.object(person.objectID), forKey: "owner")
        }
        try context.save()
      }
    }
    try add(400)
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    try house.withContext { context in
      for entity in ["Pet", "Person"] {
        _ = try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: entity)))
      }
    }
    try await house.fill(queue, 50)
    let list = try await WatchedList(house.data)
    let isDone = Atomic(false)
    let wrong = Shared<String>()
    let reader = Task.detached {
      while !isDone.load(ordering: .relaxed) {
        let counts = try house.withContext { context in
          try context.setQueryGenerationFrom(.current)
          return try ["Person", "Pet"].map { try context.count(for: FetchRequest<ManagedObject>(entityName: $0)) }
        }
        if counts != [50, 0] && counts != [400, 400] { wrong.append("\(counts)") }
      }
    }
    let end = try await queue.run(.upkeep("restore", #"{"backup": "latest"}"#))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    isDone.store(true, ordering: .relaxed)
    try await reader.value
    #expect(wrong.all == [])
    #expect(try await list.counts() == [50, 400])
    await queue.drain(timeout: .seconds(10))
  }

  /// A fetched results controller over all people, in a context that merges by itself.
  private final class WatchedList: @unchecked Sendable, FetchedResultsControllerDelegate {
    // Sendable: everything is touched on the context's queue.
    private let context: ContextQueue
    private var controller: FetchedResultsController<ManagedObject>?
    private var told: [Int] = []

    init(_ coordinator: PersistentStoreCoordinator) async throws {
      context = ContextQueue(.privateQueue, coordinator: coordinator)
      try await context.perform { context in
        context.automaticallyMergesChangesFromParent = true
        let controller = FetchedResultsController<ManagedObject>(
          fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("number")]),
          managedObjectContext: context)
        controller.delegate = self
        try controller.performFetch()
        self.told = [controller.fetchedObjects?.count ?? -1]
        // Values that were read are read again.
        _ = controller.fetchedObjects?.map { $0.value(forKey: "name") }
        self.controller = controller
      }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      told.append(controller.fetchedObjects?.count ?? -1)
    }

    /// How many there were, at each notification.
    func counts() async throws -> [Int] {
      await context.perform { _ in
        #expect(self.controller?.fetchedObjects?.allSatisfy { $0.value(forKey: "name") == .null } == true)
        return self.told
      }
    }
  }

  @Test("a backup of an older version of the model is migrated")
  func olderModel() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    let old = try ManagedObjectModel(entities: [
      EntityDefinition("Person", attributes: [AttributeDefinition("number", .integer64)])
    ])
    try make(house.path("backups/old.sqlite"), old) { context in
      for number in 0..<5 { try context.insert("Person").setValue(.int(Int64(number)), forKey: "number") }
    }
    let end = try await queue.run(.upkeep("restore", #"{"backup": "old.sqlite"}"#))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    #expect(try house.count() == 5 && house.count("Pet") == 0)
    try await house.fill(queue, 10, from: 3)
    #expect(try house.count() == 13, "those of the same numbers were found")
    await queue.drain(timeout: .seconds(10))
  }

  private func make(
    _ file: URL, _ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.sqlite(at: file))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    try body(context)
    try context.save()
    try coordinator.close()
  }

  @Test("what would lose something by the model as it is now is refused")
  func lossy() async throws {
    let house = try UpkeepHouse()
    let newer = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person", attributes: [AttributeDefinition("number", .integer64), AttributeDefinition("age", .integer16)])
    ])
    try make(house.path("backups/newer.sqlite"), newer) { _ = try $0.insert("Person") }
    let queue = try await house.queue(environment: { $0.upkeep["main"]?.migration.refusesLossyMigration = true })
    try await house.fill(queue, 10)
    let refused = try await queue.run(.upkeep("restore", #"{"backup": "newer.sqlite"}"#))
    #expect(refused.state == .discarded && refused.failureCode == "migration", "\(refused.reason ?? "")")
    #expect(refused.reason?.contains("age") == true)
    #expect(try house.count() == 10)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("what is no backup of this store is refused, and the store is as it was")
  func refused() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 2_000)
    let made = try await queue.run(.upkeep("backup", #"{"compress": "none"}"#))
    let name = try #require(try house.names(in: "backups").first)
    #expect(made.state == .completed)
    let other = try ManagedObjectModel(entities: [EntityDefinition("Ship", attributes: [])])
    try make(house.path("backups/ships.sqlite"), other) { _ = try $0.insert("Ship") }
    try await DatabaseQueue(path: house.path("backups/plain.sqlite").path).write { db in
      try db.execute(sql: "CREATE TABLE a (b)")
    }
    try Data("number,name\n".utf8).write(to: house.path("backups/people.csv"))
    try Data().write(to: house.path("backups/empty.sqlite"))
    try FileManager.default.createSymbolicLink(
      at: house.path("backups/link.sqlite"), withDestinationURL: house.path("backups/ships.sqlite"))
    var bytes = try Data(contentsOf: house.path("backups/\(name)"))
    bytes.replaceSubrange(40_000..<60_000, with: Data(repeating: 0x5A, count: 20_000))
    try bytes.write(to: house.path("backups/damaged.sqlite"))
    let packed = house.path("backups/whole.zst")
    try BackupPacking.pack(
      house.path("backups/\(name)"), of: SQLiteStore.copyForm, into: packed, .zstd, MaintenanceWatch())
    try Data(contentsOf: packed).dropLast(5_000).write(to: house.path("backups/short.zst"))
    let zipped = house.path("backups/whole.gz")
    try BackupPacking.pack(
      house.path("backups/\(name)"), of: SQLiteStore.copyForm, into: zipped, .gzip, MaintenanceWatch())
    try Data(contentsOf: zipped).dropLast(3).write(to: house.path("backups/short.gz"))
    for (backup, code) in [
      ("ships.sqlite", "other_model"), ("plain.sqlite", "not_a_backup"), ("people.csv", "not_a_backup"),
      ("empty.sqlite", "not_a_backup"), ("link.sqlite", "file"), ("damaged.sqlite", "damaged"),
      ("short.zst", "damaged"), ("short.gz", "damaged"), ("gone.sqlite", "no_backup"),
      ("../main.sqlite", "bad_options"),
      (".hidden", "bad_options"), ("", "bad_options"),
    ] {
      let end = try await queue.run(.upkeep("restore", #"{"backup": "\#(backup)"}"#))
      #expect(
        end.state == .discarded && end.failureCode == code, "\(backup): \(end.failureCode ?? "") \(end.reason ?? "")")
    }
    let missing = try await queue.run(.upkeep("restore"))
    #expect(missing.failureCode == "bad_options" && missing.reason?.contains("backup is missing") == true)
    #expect(try house.count() == 2_000)
    #expect(try house.names(in: "backups").allSatisfy { !$0.hasPrefix(".") })
    await queue.drain(timeout: .seconds(10))
  }

  @Test(
    "a cancelled one leaves the store as it was, wherever it was", arguments: ["unpacking", "verifying", "restoring"])
  func cancelled(phase: String) async throws {
    let house = try UpkeepHouse()
    let gate = Gate()
    let queue = try await house.queue(hearing: "restore") { if $0.phase == phase { gate.pass() } }
    try await house.fill(queue, 5_000)
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    try await house.fill(queue, 1_000, from: 5_000)
    let job = try await queue.submit(.upkeep("restore", #"{"backup": "latest"}"#))
    await gate.arrivals(1)
    _ = try await queue.cancel(job.id, by: "root")
    gate.open(1000)
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
    #expect(try house.count() == 6_000)
    #expect(try house.names(in: "backups").count == 1)
    #expect(try await queue.run(.upkeep("restore", #"{"backup": "latest"}"#)).state == .completed)
    #expect(try house.count() == 5_000)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("takes the store alone")
  func access() { #expect(RestoreOperation.access == .exclusive && MigrateOperation.access == .exclusive) }
}
