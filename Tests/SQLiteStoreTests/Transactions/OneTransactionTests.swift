import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("Many saves in one transaction")
struct OneTransactionTests {
  private func store(_ stack: CompanyStack) throws -> PersistentStore {
    try #require(stack.coordinator.persistentStores.first)
  }

  /// What another thread reads.
  private func namesElsewhere(_ stack: CompanyStack) throws -> [String] {
    let coordinator = stack.coordinator
    let (result, done) = (Recorder<Result<[String], any Error>>(), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      result.note(Result { try context.all(Person.self, sortedBy: "name").map { $0.name ?? "-" } })
      done.signal()
    }
    done.wait()
    return try #require(result.items.first).get()
  }

  @Test("readers see nothing before the commit, the writer all of it", arguments: StoreKind.allCases)
  func commits(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada", age: 30)
    try context.save()
    let counted = try stack.coordinator.inOneTransaction(of: store(stack)) {
      ada.age = 31
      for name in ["Bob", "Cleo"] {
        try context.person(name).employer = try context.company(name)
        try context.save()
      }
      #expect(try namesElsewhere(stack) == ["Ada"])
      let own = stack.context()
      #expect(try own.people("age = 31").count == 1)
      // On a queue of its own, which this thread waits on.
      let other = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      let seen = try other.performAndWait { other in
        try other.person("Dan")
        try other.save()
        return try other.all(Person.self).count
      }
      #expect(seen == 4)
      context.reset()
      return (try own.count(for: FetchRequest<Person>(entityName: "Person")), .commit)
    }
    #expect(counted == 4)
    #expect(try namesElsewhere(stack) == ["Ada", "Bob", "Cleo", "Dan"])
    #expect(try stack.context().people("age = 31").count == 1)
  }

  @Test(
    "a rollback and an error leave the store as it was, and no number is given twice", arguments: StoreKind.allCases)
  func rollsBack(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada", age: 30)
    try context.save()
    struct Stop: Error {}
    var lost: Set<ManagedObjectID> = []
    func write() throws {
      for person in try context.all(Person.self) { person.age = 99 }
      let new = try ["Bob", "Cleo"].map { try context.person($0) }
      try context.save()
      lost.formUnion(new.map(\.objectID))
      let third = try context.person("Dan")
      try context.obtainPermanentIDs(for: [third])
      lost.insert(third.objectID)
    }
    try stack.coordinator.inOneTransaction(of: store(stack)) {
      try write()
      return ((), .rollBack)
    }
    #expect(context.registeredObjects.isEmpty && !context.hasChanges)
    #expect(throws: Stop.self) {
      try stack.coordinator.inOneTransaction(of: store(stack)) { () -> (Void, TransactionEnd) in
        try write()
        throw Stop()
      }
    }
    #expect(lost.count == 6)
    #expect(try stack.context().all(Person.self).map(\.age) == [30])
    let new = try context.person("Eve")
    try context.save()
    #expect(!lost.contains(new.objectID))
    #expect(try namesElsewhere(stack) == ["Ada", "Eve"])
  }

  @Test("a save that fails can be tried again, and those before it stay", arguments: StoreKind.allCases)
  func retries(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try stack.coordinator.inOneTransaction(of: store(stack)) {
      try context.person("Ada", email: "a@b.c")
      try context.save()
      let twin = try context.person("Twin", email: "a@b.c")
      #expect(throws: ManagedObjectError.self) { try context.save() }
      twin.email = "t@b.c"
      try context.save()
      let ada = try #require(try context.named("Ada", Person.self))
      let other = stack.context()
      try other.people("name = 'Ada'")[0].age = 31
      try other.save()
      ada.age = 32
      #expect(throws: ManagedObjectError.self) { try context.save() }
      context.refresh(ada, mergeChanges: true)
      try context.save()
      return ((), .commit)
    }
    let people = try stack.context().all(Person.self, sortedBy: "name")
    #expect(people.map(\.name) == ["Ada", "Twin"] && people.map(\.age) == [32, nil])
  }

  @Test("a reference that leads nowhere is refused by the save that makes it", arguments: StoreKind.allCases)
  func brokenReferences(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    try context.save()
    try stack.coordinator.inOneTransaction(of: store(stack)) {
      try context.person("Ada")
      try context.save()
      let other = stack.context()
      other.delete(try #require(try other.all(Company.self).first))
      try other.save()
      try context.person("Bob").employer = acme
      #expect(throws: ManagedObjectError.self) { try context.save() }
      context.reset()
      return ((), .commit)
    }
    #expect(try namesElsewhere(stack) == ["Ada"])
  }

  @Test("batch requests belong to it, too", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada", age: 1)
    try context.save()
    for end in [TransactionEnd.rollBack, .commit] {
      try stack.coordinator.inOneTransaction(of: store(stack)) {
        try context.execute(BatchInsertRequest(entityName: "Person", objects: [["name": .string("Bob")]]))
        let adas = FetchRequest<Person>(entityName: "Person", predicate: .equal("name", .string("Ada")))
        try context.execute(BatchDeleteRequest(fetchRequest: adas))
        #expect(try namesElsewhere(stack) == ["Ada"])
        return ((), end)
      }
      #expect(try namesElsewhere(stack) == (end == .commit ? ["Bob"] : ["Ada"]))
    }
  }

  @Test("other writers wait for its end", arguments: StoreKind.allCases)
  func writersWait(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let order = Recorder<String>()
    let (coordinator, done) = (stack.coordinator, DispatchSemaphore(value: 0))
    try coordinator.inOneTransaction(of: store(stack)) {
      try context.person("Ada")
      try context.save()
      let begun = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let other = ManagedObjectContext(.confinement, coordinator: coordinator)
        do {
          try other.person("Bob")
          begun.signal()
          try other.save()
          order.note("Bob saved with \(try other.all(Person.self).count)")
        } catch {
          order.note("\(error)")
        }
        done.signal()
      }
      begun.wait()
      try context.person("Cleo")
      try context.save()
      order.note("committing")
      return ((), .commit)
    }
    done.wait()
    #expect(order.items == ["committing", "Bob saved with 3"])
  }

  @Test("what can't be within it says so", arguments: StoreKind.allCases)
  func refusals(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (coordinator, store) = (stack.coordinator, try store(stack))
    let second = try coordinator.addPersistentStore(.inMemory())
    try coordinator.inOneTransaction(of: store) {
      #expect(throws: StoreTransactionError.self) { try coordinator.inOneTransaction(of: store) { ((), .commit) } }
      #expect(throws: StoreTransactionError.self) { try coordinator.remove(store) }
      if kind == .sqlite { #expect(throws: StoreTransactionError.self) { try store.synchronize() } }
      try context.person("Ada")
      try context.save()
      let elsewhere = try context.person("Bob")
      try context.assign(elsewhere, to: second)
      #expect(throws: StoreTransactionError.self) { try context.save() }
      context.delete(elsewhere)
      return ((), .commit)
    }
    #expect(try namesElsewhere(stack) == ["Ada"])
    try coordinator.remove(second)
    try coordinator.remove(store)
    #expect(throws: PersistentStoreError.self) { try coordinator.inOneTransaction(of: store) { ((), .commit) } }
  }

  @Test("a store that was closed has none")
  func closed() throws {
    let stack = try IndexedStack()
    try stack.coordinator.close()
    #expect(throws: ManagedObjectError.self) {
      try stack.coordinator.inOneTransaction(of: stack.store) { ((), .commit) }
    }
  }

  @Test("indexes postponed in it are there after a rollback and after a commit")
  func indexes() throws {
    let stack = try IndexedStack()
    let loading = try #require(stack.store.content as? any BulkLoading)
    for end in [TransactionEnd.rollBack, .commit] {
      try stack.coordinator.inOneTransaction(of: stack.store) {
        #expect(try loading.postponeIndexes(of: stack.entity, expecting: 1000))
        let thing = try stack.context.insert("Thing")
        try thing.setValue(.string("\(end)"), forKey: "name")
        try stack.context.save()
        loading.endPostponement(of: stack.entity)
        if end == .commit { try loading.makeIndexes(of: stack.entity) }
        return ((), end)
      }
      #expect(try stack.indexes() == ["Thing_byName"])
    }
    #expect(try stack.context.count(for: FetchRequest<ManagedObject>(entityName: "Thing")) == 1)
  }

  @Test("the history has what was committed, and nothing of what wasn't")
  func history() throws {
    let directory = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    let store = try coordinator.addPersistentStore(
      .sqlite(at: directory.file("history.sqlite"), options: .init(persistentHistoryTracking: true)))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for end in [TransactionEnd.rollBack, .commit] {
      let token = try coordinator.currentPersistentHistoryToken()
      try coordinator.inOneTransaction(of: store) {
        for name in ["Ada", "Bob"] {
          try context.person(name)
          try context.save()
        }
        return ((), end)
      }
      let since = try context.execute(.fetchHistory(after: token)).transactions
      #expect(since.count == (end == .commit ? 2 : 0))
    }
    try coordinator.close()
  }
}
