import BenchSupport
import Foundation
import MagicalRecord
import ManagedObjects
import SQLiteStore
import Synchronization

/// One import in the background of a container.
struct StackImport: Sendable {
  let container: PersistentContainer
  let count: Int
  /// 0 for one save at the end.
  let every: Int

  static func container(_ stack: PersistentContainer.Stack, file: String) throws -> PersistentContainer {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Stop",
        attributes: [
          AttributeDefinition("name", .string), AttributeDefinition("code", .integer64),
          AttributeDefinition("latitude", .double), AttributeDefinition("longitude", .double),
          AttributeDefinition("updated", .date),
        ])
    ])
    let container = try PersistentContainer(
      model: model, stores: [.sqlite(at: URL(fileURLWithPath: file))], stack: stack)
    if stack == .independent { container.viewContext.automaticallyMergesChangesFromParent = true }
    return container
  }

  /// Runs the import until everything is on disk and merged: how long it took, and what of it the main queue's thread.
  func measureTime(_ main: MainQueueClock) throws -> (total: Double, busy: Double) {
    let before = main.seconds
    let clock = ContinuousClock()
    let start = clock.now
    try run()
    return ((clock.now - start) / .seconds(1), main.seconds - before)
  }

  /// Runs the import and asks the main queue every millisecond. Returns the longest that it kept a probe waiting.
  func measureStall() throws -> Double {
    let probe = MainQueueProbe()
    probe.start()
    try run()
    return probe.stop()
  }

  private func run() throws {
    let context = container.newBackgroundContext()
    let writes = Writes()
    var number = 0
    while number < count {
      let end = every > 0 ? min(count, number + every) : count
      let range = number..<end
      try context.performAndWait { context in
        for number in range { try insert(number, into: context) }
        try context.save()
        context.reset()
      }
      if let parent = context.parent { writes.start(parent) }
      number = end
    }
    try writes.finish()
    // Merges that wait belong to the import; what the view context is given to do comes after them.
    container.viewContext.performAndWait { _ in }
  }

  private func insert(_ number: Int, into context: ManagedObjectContext) throws {
    let stop = try context.insert("Stop")
    stop.setValue(.string("Stop number \(number)"), at: 0)
    stop.setValue(.int(Int64(number)), at: 1)
    stop.setValue(.double(Double(number % 180) - 90), at: 2)
    stop.setValue(.double(Double(number % 360) - 180), at: 3)
    stop.setValue(.date(Date(timeIntervalSince1970: Double(number))), at: 4)
  }

  /// How many objects the store holds.
  func stored() throws -> Int {
    let context = ContextQueue(.privateQueue, coordinator: container.persistentStoreCoordinator)
    return try context.performAndWait { context in
      try context.count(for: FetchRequest<ManagedObject>(entityName: "Stop"))
    }
  }
}

/// Saves of the view context up to the disk, which go on while the next objects are made; a few at a time, so that
/// memory doesn't grow with the import.
private final class Writes: Sendable {
  private let group = DispatchGroup()
  private let places = DispatchSemaphore(value: 4)
  private let failure = Mutex<(any Error)?>(nil)

  func start(_ context: ContextQueue) {
    places.wait()
    group.enter()
    Task {
      do {
        try await context.saveToPersistentStore()
      } catch {
        failure.withLock { $0 = error }
      }
      places.signal()
      group.leave()
    }
  }

  func finish() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
