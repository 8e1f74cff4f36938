import Foundation
import MagicalRecord
import ManagedObjects
import TestSupport
import Testing

@Suite("Contexts over several stores")
struct SeveralStoresContextTests {
  @Test("bring a deleted object back into its store", arguments: StorePair.all)
  func undo(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    context.undoManager = UndoManager()
    let rex = try context.animal("Rex", in: stack.stores[1])
    try context.save()
    context.delete(rex)
    try context.save()
    #expect(try stack.context().herd() == [])
    context.undo()
    try context.save()
    #expect(try stack.context().herd { $0.affectedStores = [stack.stores[1]] } == ["Rex"])
  }

  @Test("fetch from all of them in the background", arguments: StorePair.all)
  func asynchronous(_ pair: StorePair) async throws {
    let stack = try HerdStack(pair)
    let writer = stack.context()
    for index in 0..<600 { try writer.animal(String(format: "%03d", index), in: stack.stores[index % 2]) }
    try writer.save()
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let request = FetchRequest<ManagedObject>(entityName: "Animal", sortDescriptors: [FetchSortDescriptor("name")])
    let names = try await context.fetch(request) { $0.map { $0.text("name") ?? "" } }
    #expect(names == (0..<600).map { String(format: "%03d", $0) })
  }

  @Test("of three levels save each object to its store", arguments: StorePair.all)
  func levels(_ pair: StorePair) async throws {
    let stack = try HerdStack(pair)
    let container = PersistentContainer(coordinator: stack.coordinator, stack: .privateWriter, viewQueue: .privateQueue)
    let stores = stack.stores
    let background = container.newBackgroundContext()
    let ids = try await background.perform { background in
      let animals = try (0..<4).map { try background.animal("a\($0)", in: stores[$0 % 2]) }
      try background.save()
      return animals.map(\.objectID)
    }
    try await background.perform { background in
      for id in ids { try background.existingObject(with: id).setValue(.int(1), forKey: "legs") }
    }
    try await background.saveToPersistentStore()
    let reader = stack.context()
    for (index, store) in stores.enumerated() {
      #expect(
        try reader.herd { request in
          request.affectedStores = [store]
          request.predicate = .equal("legs", .int(1))
        } == ["a\(index)", "a\(index + 2)"])
    }
  }

  @Test("compare with the store of each object what they change", arguments: StorePair.all)
  func locking(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let (mine, theirs) = (stack.context(), stack.context())
    let animals = try stack.stores.enumerated().map { try mine.animal("a\($0)", in: $1) }
    try mine.save()
    // The objects have the same number, each in its store.
    try theirs.existingObject(with: animals[0].objectID).setValue(.int(1), forKey: "legs")
    try theirs.save()
    try animals[1].setValue(.int(2), forKey: "legs")
    try mine.save()
    mine.delete(animals[0])
    #expect {
      try mine.save()
    } throws: { error in
      guard case ManagedObjectError.mergeConflicts(let conflicts) = error else { return false }
      return conflicts.map(\.objectID) == [animals[0].objectID]
    }
    mine.rollback()
    mine.refreshAllObjects()
    #expect(try mine.fetch(mine.herdRequest()).map { $0.value(forKey: "legs") } == [.int(1), .int(2)])
  }
}
