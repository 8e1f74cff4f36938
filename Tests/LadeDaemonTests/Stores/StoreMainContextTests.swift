import ControlAPI
import Dispatch
import Foundation
import Logging
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("The main context of a data store", .timeLimit(.minutes(20)))
struct StoreMainContextTests {
  private final class House: Sendable {
    let directory: ScratchDirectory
    let stores: DataStores

    init(_ directory: ScratchDirectory? = nil) throws {
      let isNew = directory == nil
      self.directory = try directory ?? ScratchDirectory()
      let file = self.directory.file("lade.yaml")
      if isNew {
        try ModelText(
          ModelText.entity("Member", unique: ["number"], [.attribute("number", "Integer 64"), .attribute("name")])
        ).write(to: self.directory.file("Model.xcdatamodeld").path)
        try Data(
          """
          state: \(self.directory.url.path)
          stores: {main: {path: main.sqlite, model: Model.xcdatamodeld}}
          """.utf8
        ).write(to: file)
      }
      stores = try DataStores(try DaemonConfiguration.load(path: file.path).stores, Logger(label: "test"))
    }

    var store: DataStores.Store { get throws { try #require(stores["main"]) } }

    /// Saves as an operation does: in a private context of its own, batch by batch.
    func insert(_ numbers: Range<Int>, batch: Int) throws {
      let context = ManagedObjectContext(.confinement, coordinator: try store.coordinator)
      for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: batch) {
        for number in first..<min(first + batch, numbers.upperBound) {
          let member = try context.insert("Member")
          try member.setValue(.int(Int64(number)), forKey: "number")
          try member.setValue(.string("new"), forKey: "name")
        }
        try context.save()
        context.reset()
      }
    }

    func rename(_ number: Int64, _ names: [String]) throws {
      let context = ManagedObjectContext(.confinement, coordinator: try store.coordinator)
      let request = FetchRequest<ManagedObject>(entityName: "Member", predicate: .equal("number", .int(number)))
      let member = try #require(try context.fetch(request).first)
      for name in names {
        try member.setValue(.string(name), forKey: "name")
        try context.save()
      }
    }

    /// How far the main context is once it has merged what was saved.
    func status() async throws -> MainContextStatus {
      let main = try store.main
      await main.catchUp()
      return main.status
    }

    func countInMain() async throws -> Int {
      let context = try store.main.context
      return try await context.perform { context in
        try context.count(for: FetchRequest<ManagedObject>(entityName: "Member"))
      }
    }
  }

  @Test("merges every save of every operation, and registers none of their objects")
  func complete() async throws {
    let house = try House()
    async let first: Void = Task.detached { try house.insert(0..<2_000, batch: 100) }.value
    async let second: Void = Task.detached { try house.insert(2_000..<3_000, batch: 50) }.value
    _ = try await (first, second)
    let status = try await house.status()
    #expect(status.savesMerged == 40 && status.registeredObjects == 0)
    #expect(try #require(status.lag).count > 0)
    #expect(try await house.countInMain() == 3_000)
  }

  @Test("is complete when the rest of an import is saved after a restart")
  func restarted() async throws {
    let house = try House()
    try house.insert(0..<500, batch: 100)
    let next = try House(house.directory)
    try next.insert(500..<1_200, batch: 100)
    #expect(try await next.status().savesMerged == 7)
    #expect(try await next.countInMain() == 1_200)
  }

  /// Notes what the only object of a controller is called after each change.
  private final class Names: FetchedResultsControllerDelegate, Sendable {
    let seen = Mutex<[String]>([])

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      guard case .string(let name)? = controller.fetchedObjects?.first?.value(forKey: "name") else { return }
      seen.withLock { $0.append(name) }
    }
  }

  /// A controller that stays on the queue of its context.
  private final class Followed: @unchecked Sendable {
    // Sendable: touched within the context's `perform` only.
    var controller: FetchedResultsController<ManagedObject>?
  }

  @Test("follows what is read in it, though it drops rows before")
  func read() async throws {
    let house = try House()
    try house.insert(0..<10, batch: 2)
    let context = try house.store.main.context
    let followed = Followed()
    try await context.perform { context in
      let request = FetchRequest<ManagedObject>(entityName: "Member", sortDescriptors: [FetchSortDescriptor("number")])
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 10)
      followed.controller = controller
    }
    try house.insert(10..<30, batch: 4)
    try house.rename(3, ["Ada"])
    await context.perform { _ in
      let objects = followed.controller?.fetchedObjects ?? []
      #expect(objects.count == 30)
      #expect(objects.dropFirst(3).first?.value(forKey: "name") == .string("Ada"))
      followed.controller = nil
    }
    #expect(try await house.status().savesMerged == 5 + 5 + 1)
  }

  @Test("says how far it is while something else keeps the main queue busy")
  func busy() async throws {
    let house = try House()
    let main = try house.store.main
    try house.insert(0..<10, batch: 10)
    let kept = Followed()
    try await main.context.perform { context in
      let request = FetchRequest<ManagedObject>(entityName: "Member", sortDescriptors: [FetchSortDescriptor("number")])
      kept.controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try kept.controller?.performFetch()
    }
    try house.insert(10..<20, batch: 10)
    _ = try await house.status()
    let registered = await main.context.perform { context in context.registeredObjectCount }
    #expect(registered > 0)
    let (entered, leave) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
    DispatchQueue.main.async {
      entered.continuation.finish()
      leave.wait()
    }
    for await _ in entered.stream {}
    // The answer comes, though the main queue does nothing.
    let status = main.status
    leave.signal()
    #expect(status.savesMerged == 2 && status.registeredObjects == registered)
    await main.context.perform { _ in kept.controller = nil }
    await main.reset()
    #expect(main.status.registeredObjects == 0)
  }

  @Test("passes on to its feed what it has merged, in order, so that a controller sees every save")
  func feed() async throws {
    let house = try House()
    try house.insert(0..<1, batch: 1)
    let main = try house.store.main
    main.context.mergingInterval = .zero
    // The row's own save must be merged by then, or the feed merges it, too.
    await main.catchUp()
    let feed = main.makeFeed(name: "test")
    let (names, followed) = (Names(), Followed())
    try await feed.perform { feed in
      let request = FetchRequest<ManagedObject>(entityName: "Member", sortDescriptors: [FetchSortDescriptor("number")])
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: feed)
      controller.delegate = names
      try controller.performFetch()
      followed.controller = controller
    }
    let expected = (1...100).map { "name \($0)" }
    try house.rename(0, expected)
    await main.catchUp()
    await feed.perform { _ in }
    #expect(names.seen.withLock { $0 } == expected)
    #expect(main.feedMerges.saves == 100)
    #expect(main.status.registeredObjects == 0, "the objects are the feed's alone")
    await feed.perform { _ in followed.controller = nil }
  }
}
