import BenchSupport
import Foundation
import ManagedObjects
import SQLiteStore

/// Fetches every item; those in some boxes, by a key path and in order; those in a range of an index.
func measureFetches(_ file: String, _ timings: inout Timings) throws {
  let coordinator = try Items.coordinator(file)
  func fetch(_ request: FetchRequest<Item>) throws -> Int64 {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var sum: Int64 = 0
    for item in try context.fetch(request) { sum &+= Int64((item.i0 ?? 0) &+ (item.i9 ?? 0)) }
    return sum
  }
  _ = try fetch(FetchRequest(entityName: "Item", predicate: try FetchPredicate(format: "i1 < 1000")))
  try timings.measure("fetch") { try fetch(FetchRequest<Item>(entityName: "Item")) }
  try timings.measure("fetch by key path, sorted") {
    try fetch(
      FetchRequest(
        entityName: "Item", predicate: try FetchPredicate(format: "box.rank >= 50"),
        sortDescriptors: [FetchSortDescriptor("i5")]))
  }
  try timings.measure("fetch by index") {
    try fetch(FetchRequest(entityName: "Item", predicate: try FetchPredicate(format: "i1 BETWEEN {100000, 300000}")))
  }
}

/// Fetches every item several times, and prints how long each took.
func repeatFetch(_ file: String, times: Int) throws {
  let coordinator = try Items.coordinator(file)
  for _ in 0..<times {
    var timings = Timings()
    try timings.measure("fetch") {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      return Int64(try context.fetch(FetchRequest<Item>(entityName: "Item")).count)
    }
    print(timings.values["fetch"].map { $0 * 1000 } ?? 0)
  }
}

/// Looks up 100,000 registered objects several times, and prints the nanoseconds of each round.
func repeatLookUp(_ file: String, times: Int) throws {
  let context = ManagedObjectContext(.confinement, coordinator: try Items.coordinator(file))
  var request = FetchRequest<Item>(entityName: "Item")
  request.fetchLimit = 100_000
  let ids = try context.fetch(request).map(\.objectID)
  for _ in 0..<times {
    var timings = Timings()
    timings.measureEach("look-up", count: ids.count) { for id in ids { _ = context.object(with: id) } }
    print(timings.values["look-up"] ?? 0)
  }
}

/// Inserts 50,000 items in one save.
func measureInsert(_ file: String, _ timings: inout Timings) throws {
  let context = ManagedObjectContext(.confinement, coordinator: try Items.coordinator(file))
  try timings.measure("insert") {
    for number in 0..<50_000 {
      let item = try context.insert(Item.self)
      for slot in 0..<10 { item[slot] = Items.value(number, slot) }
    }
    try context.save()
    return 50_000
  }
}

/// What the object layer alone has: the costs of properties, of merging and of looking an object up.
func measureContexts(_ file: String, _ timings: inout Timings) throws {
  let coordinator = try Items.coordinator(file)
  let context = ManagedObjectContext(.confinement, coordinator: coordinator)
  var request = FetchRequest<Item>(entityName: "Item")
  request.fetchLimit = 100_000
  let items = try context.fetch(request)
  let ids = items.map(\.objectID)
  let some = Array(items.prefix(1000))

  var sum = 0
  timings.measureEach("property read, ns", count: 10_000_000) {
    for _ in 0..<10_000 { for item in some { sum &+= item.i1 ?? 0 } }
  }
  timings.measureEach("property write, ns", count: 10_000_000) {
    for round in 0..<10_000 { for item in some { item.i1 = round } }
  }
  timings.sums["property read"] = Int64(truncatingIfNeeded: sum)
  context.rollback()
  timings.measureEach("object(with:), registered, ns", count: ids.count) {
    for id in ids { _ = context.object(with: id) }
  }
  let empty = ManagedObjectContext(.confinement, coordinator: coordinator)
  var faults: [ManagedObject] = []
  faults.reserveCapacity(ids.count)
  timings.measureEach("object(with:), a new fault, ns", count: ids.count) {
    for id in ids { faults.append(empty.object(with: id)) }
  }
  try measureMerges(ids, coordinator, &timings)
}

/// Merges a save of 1,000 changes into contexts that hold 1, 1,000 and 100,000 objects.
private func measureMerges(
  _ ids: [ManagedObjectID], _ coordinator: PersistentStoreCoordinator, _ timings: inout Timings
) throws {
  for held in [1, 1_000, 100_000] {
    let reader = ManagedObjectContext(.confinement, coordinator: coordinator)
    let known = try ids.prefix(held).map(reader.existingObject)
    let writer = ManagedObjectContext(.confinement, coordinator: coordinator)
    nonisolated(unsafe) var saves: [ContextSave] = []  // written in this thread's own save only
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: writer, queue: nil
    ) { note in
      if let save = ContextSave(note) { saves.append(save) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    for id in ids.prefix(1_000) {
      let item = writer.object(with: id)
      item[2] = (item[2] ?? 0) + 1
    }
    try writer.save()
    timings.measure("merge 1,000 changes, \(held) registered") {
      for save in saves { reader.mergeChanges(fromContextDidSave: save) }
      return Int64(known.count)
    }
  }
}
