import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A save into several stores of which one refuses")
struct PartialSaveTests {
  private func saves(of context: ManagedObjectContext, _ body: () throws -> Void) rethrows -> [ContextSave] {
    let saves = Recorder<ContextSave>()
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { note in
      if let save = ContextSave(note) { saves.note(save) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try body()
    return saves.items
  }

  @Test("has saved what the others wrote, and keeps the rest", arguments: StorePair.all)
  func kept(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let old = try stack.stores.enumerated().map { try context.animal("old \($0)", in: $1) }
    let gone = try context.animal("gone")
    try context.save()
    let main = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let ids = old.map(\.objectID)
    try main.performAndWait { main in
      main.automaticallyMergesChangesFromParent = true
      main.retainsRegisteredObjects = true
      for id in ids { _ = try main.existingObject(with: id) }
    }
    let new = try stack.stores.enumerated().map { try context.animal("new \($0)", "Cat", in: $1) }
    for object in old { try object.setValue(.int(3), forKey: "legs") }
    context.delete(gone)
    stack.breakers[1].isBroken = true
    let told = saves(of: context) {
      #expect(throws: Breaker.error) { try context.save() }
    }
    #expect(told.map(\.insertedObjectIDs) == [[new[0].objectID]])
    #expect(told.first?.updatedObjectIDs == [old[0].objectID] && told.first?.deletedObjectIDs == [gone.objectID])
    #expect(new[0].objectID.storeIdentifier == stack.stores[0].identifier && new[1].objectID.isTemporaryID)
    #expect(context.insertedObjects == [new[1]] && context.updatedObjects == [old[1]])
    #expect(context.deletedObjects.isEmpty && !new[0].isInserted && gone.managedObjectContext == nil)
    // Who merges by itself has heard of what is written, and of nothing else.
    let legs = main.performAndWait { main in ids.map { main.registeredObject(for: $0)?.value(forKey: "legs") } }
    #expect(legs == [.int(3), .int(4)])
    stack.breakers[1].isBroken = false
    try context.save()
    #expect(!context.hasChanges && new[1].objectID.storeIdentifier == stack.stores[1].identifier)
    #expect(try stack.context().herd() == ["new 0", "new 1", "old 0", "old 1"])
    let later = main.performAndWait { main in ids.map { main.registeredObject(for: $0)?.value(forKey: "legs") } }
    #expect(later == [.int(3), .int(3)])
  }

  @Test("whose policy resolves its conflicts writes the rest", arguments: StorePair.all)
  func conflicts(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let old = try stack.stores.enumerated().map { try context.animal("old \($0)", in: $1) }
    try context.animal("unique", tag: 7, in: stack.stores[1])
    try context.save()
    let other = stack.context()
    try other.existingObject(with: old[1].objectID).setValue(.string("theirs"), forKey: "name")
    try other.save()
    for object in old { try object.setValue(.int(1), forKey: "legs") }
    let new = try stack.stores.enumerated().map { try context.animal("new \($0)", tag: 7, in: $1) }
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.mergeConflicts(let conflicts) = error else { return false }
      return conflicts.map(\.objectID) == [old[1].objectID]
    }
    #expect(context.insertedObjects == [new[1]])
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(!context.hasChanges)
    let reader = stack.context()
    #expect(try reader.herd() == ["new 0", "new 1", "old 0", "theirs"])
    #expect(try reader.herd { $0.predicate = .equal("legs", .int(1)) } == ["old 0", "theirs"])
  }

  @Test("settles conflicts of all stores in one save", arguments: StorePair.all)
  func settled(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let old = try stack.stores.enumerated().map { try context.animal("old \($0)", in: $1) }
    try context.save()
    let other = stack.context()
    for object in old { try other.existingObject(with: object.objectID).setValue(.string("theirs"), forKey: "name") }
    try other.save()
    for object in old { try object.setValue(.int(1), forKey: "legs") }
    let told = try saves(of: context) { try context.save() }
    #expect(Set(told.flatMap(\.updatedObjectIDs)) == Set(old.map(\.objectID)))
    #expect(try stack.context().herd { $0.predicate = .equal("legs", .int(1)) } == ["theirs", "theirs"])
  }
}
