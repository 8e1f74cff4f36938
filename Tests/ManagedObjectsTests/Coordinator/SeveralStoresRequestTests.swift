import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Requests over several stores")
struct SeveralStoresRequestTests {
  private func filled(_ pair: StorePair) throws -> (stack: HerdStack, context: ManagedObjectContext) {
    let stack = try HerdStack(pair)
    let context = stack.context()
    for index in 0..<6 { try context.animal("a\(index)", in: stack.stores[index % 2]) }
    try context.save()
    context.reset()
    return (stack, context)
  }

  @Test("update and delete rows of all stores, or of those that they name", arguments: StorePair.all)
  func batches(_ pair: StorePair) throws {
    let (stack, context) = try filled(pair)
    var update = BatchUpdateRequest(entityName: "Animal")
    update.propertiesToUpdate = ["legs": .constant(.int(2))]
    update.predicate = .equal("legs", .int(4))
    update.resultType = .objectIDs
    update.affectedStores = [stack.stores[1]]
    let ids = try #require(try context.execute(update).objectIDs)
    #expect(ids.count == 3 && ids.allSatisfy { $0.storeIdentifier == stack.stores[1].identifier })
    update.affectedStores = nil
    update.resultType = .count
    #expect(try context.execute(update).count == 3)
    #expect(try context.herd { $0.predicate = .equal("legs", .int(2)) }.count == 6)
    // The first two of all, whichever stores have them.
    var delete = BatchDeleteRequest(fetchRequest: context.herdRequest { $0.fetchLimit = 2 })
    delete.resultType = .count
    #expect(try context.execute(delete).count == 2)
    #expect(try context.herd() == ["a2", "a3", "a4", "a5"])
    delete = BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Animal"))
    delete.affectedStores = [stack.stores[0]]
    try context.execute(delete)
    #expect(try context.herd() == ["a3", "a5"])
    let rest = try context.fetchIDs(context.herdRequest())
    try context.execute(BatchDeleteRequest(objectIDs: rest))
    #expect(try context.herd() == [])
  }

  @Test("insert rows into the store that they name, or else into the first", arguments: StorePair.all)
  func insertion(_ pair: StorePair) throws {
    let (stack, context) = try filled(pair)
    for store in [stack.stores[1], nil] {
      var insert = BatchInsertRequest(entityName: "Dog", objects: [["name": .string("b")], ["name": .string("c")]])
      insert.affectedStores = store.map { [$0] }
      insert.resultType = .objectIDs
      let ids = try #require(try context.execute(insert).objectIDs)
      #expect(ids.allSatisfy { $0.storeIdentifier == (store ?? stack.stores[0]).identifier } && ids.count == 2)
    }
    #expect(try context.herd().count == 10)
  }

  @Test("refuse a relationship from one store to another before they write anything", arguments: StorePair.all)
  func references(_ pair: StorePair) throws {
    let (stack, context) = try filled(pair)
    let owner = try context.insert("Owner")
    try context.assign(owner, to: stack.stores[1])
    try context.save()
    func isRefused(_ request: () throws -> Void) {
      #expect {
        try request()
      } throws: { error in
        guard case ManagedObjectError.validation(let failures) = error else { return false }
        return failures.map(\.reason) == [.otherStore([owner.objectID])]
      }
    }
    var update = BatchUpdateRequest(entityName: "Animal")
    update.propertiesToUpdate = ["owner": .constant(.object(owner.objectID))]
    isRefused { try context.execute(update) }
    let rows: [[String: Value]] = [["name": .string("b"), "owner": .object(owner.objectID)]]
    var insert = BatchInsertRequest(entityName: "Dog", objects: rows)
    isRefused { try context.execute(insert) }
    let owned = context.herdRequest { $0.predicate = .equal("owner", .object(owner.objectID)) }
    #expect(try context.count(for: owned) == 0)
    (update.affectedStores, insert.affectedStores) = ([stack.stores[1]], [stack.stores[1]])
    try context.execute(update)
    try context.execute(insert)
    #expect(try context.count(for: owned) == 4)
  }

  @Test("read relationships of objects of several stores together", arguments: StorePair.all)
  func prefetching(_ pair: StorePair) throws {
    let (stack, context) = try filled(pair)
    for (index, store) in stack.stores.enumerated() {
      let owner = try context.insert("Owner")
      try owner.setValue(.string("o\(index)"), forKey: "name")
      try context.assign(owner, to: store)
      for animal in try context.fetch(context.herdRequest({ $0.affectedStores = [store] })) {
        try animal.setValue(.object(owner.objectID), forKey: "owner")
      }
    }
    try context.save()
    let reader = stack.context()
    var request = FetchRequest<ManagedObject>(entityName: "Owner", sortDescriptors: [FetchSortDescriptor("name")])
    request.relationshipKeyPathsForPrefetching = ["animals"]
    let names = try reader.fetch(request).map { owner in
      owner.value(forKey: "animals")?.objectIDs.map { ids in
        ids.compactMap { reader.registeredObject(for: $0)?.text("name") }.sorted()
      }
    }
    #expect(names == [["a0", "a2", "a4"], ["a1", "a3", "a5"]])
    request.predicate = try FetchPredicate(format: "ANY animals.name == 'a3'")
    #expect(try reader.fetch(request).map { $0.text("name") } == ["o1"])
  }

  @Test("tell the history of each store, and of those that they name")
  func history() throws {
    let stack = try HerdStack(
      [.sqlite, .sqlite], configurations: ["herd", "herd"], options: .init(persistentHistoryTracking: true))
    let (context, coordinator) = (stack.context(), stack.coordinator)
    let start = try #require(try coordinator.currentPersistentHistoryToken())
    for (index, store) in stack.stores.enumerated() { try context.animal("a\(index)", in: store) }
    try context.save()
    try context.animal("b", in: stack.stores[1])
    try context.save()
    let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: start))
    #expect(result.transactions.map(\.storeIdentifier) == [0, 1, 1].map { stack.stores[$0].identifier })
    #expect(try result.lastToken == coordinator.currentPersistentHistoryToken())
    var request = PersistentHistoryChangeRequest.fetchHistory(after: start)
    request.affectedStores = [stack.stores[0]]
    #expect(try context.execute(request).transactions.count == 1)
    let token = try #require(try coordinator.currentPersistentHistoryToken(fromStores: [stack.stores[1]]))
    #expect(token.transactionNumber(ofStore: stack.stores[1].identifier) != nil)
    #expect(token.transactionNumber(ofStore: stack.stores[0].identifier) == nil)
    // What another coordinator has written in both is read and merged by the stores' IDs.
    let ids = result.objectIDs
    let other = stack.context()
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue: ids], into: [other])
    #expect(ids.count == 3)
  }
}
