import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of persistent history, where no other test does.
@Suite("What programs expect of a store's history")
struct HistoryHabitsTests {
  /// Two coordinators on one file, as of two processes, and a context of each.
  private struct Two {
    let scratch: ScratchDirectory
    let here: ManagedObjectContext
    let there: ManagedObjectContext

    init(_ options: SQLiteStoreOptions = .init(persistentHistoryTracking: true)) throws {
      scratch = try ScratchDirectory()
      let file = scratch.file("shared.sqlite")
      func context(_ author: String) throws -> ManagedObjectContext {
        let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
        try coordinator.addPersistentStore(.sqlite(at: file, options: options))
        return ManagedObjectContext(.confinement, coordinator: coordinator, name: author, transactionAuthor: author)
      }
      (here, there) = (try context("here"), try context("there"))
    }

    var token: PersistentHistoryToken? {
      get throws { try here.persistentStoreCoordinator.currentPersistentHistoryToken() }
    }
  }

  private func kinds(_ changes: ContextChanges) -> String {
    [
      changes.inserted.isEmpty ? nil : "insert \(changes.inserted.count)",
      changes.updated.isEmpty ? nil : "update \(changes.updated.count)",
      changes.refreshed.isEmpty ? nil : "refresh \(changes.refreshed.count)",
      changes.deleted.isEmpty ? nil : "delete \(changes.deleted.count)",
    ].compactMap(\.self).joined(separator: ", ")
  }

  @Test("each transaction is merged by a notification of its own, and the context has nothing to save")
  func merged() throws {
    let two = try Two()
    let (ada, bob) = (try two.there.person("Ada"), try two.there.person("Bob"))
    try two.there.save()
    try two.there.execute(.deleteHistory(before: Date.distantFuture))
    two.here.retainsRegisteredObjects = true
    #expect(try two.here.all(Person.self).count == 2)
    for name in ["Cid", "Dee", "Eve"] { try two.there.person(name) }
    try two.there.save()
    ada.name?.append("*")
    try two.there.save()
    two.there.delete(bob)
    try two.there.save()
    var seen: [String] = []
    let observation = two.here.observeChanges { seen.append(kinds($0)) }
    defer { observation.cancel() }
    let transactions = try two.here.execute(.fetchHistory(after: Date.distantPast)).transactions
    #expect(transactions.count == 3)
    for transaction in transactions { two.here.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
    #expect(seen == ["insert 3", "refresh 1", "delete 1"])
    two.here.processPendingChanges()
    #expect(!two.here.hasChanges)
    try two.here.save()
    let names = try two.here.all(Person.self, sortedBy: "name").map(\.name)
    #expect(names == ["Ada*", "Cid", "Dee", "Eve"])
  }

  @Test("merging what nothing is registered of registers nothing for good")
  func unregistered() throws {
    let two = try Two()
    for number in 0..<20 { try two.there.person("P\(number)") }
    try two.there.save()
    let transactions = try two.here.execute(.fetchHistory(after: Date.distantPast)).transactions
    #expect(transactions.count == 1 && two.here.registeredObjects.isEmpty)
    two.here.announcesChanges = false
    for transaction in transactions { two.here.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
    #expect(two.here.registeredObjects.isEmpty)
  }

  @Test("a new store has no history, and a token to begin with")
  func new() throws {
    let two = try Two()
    let token = try #require(try two.token)
    #expect(try two.here.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.isEmpty)
    #expect(try two.here.execute(.fetchHistory(after: token)).transactions.isEmpty)
    try two.there.person("Ada")
    try two.there.save()
    #expect(try two.here.execute(.fetchHistory(after: token)).transactions.count == 1)
  }

  @Test("a save's notification has a token where history is tracked, and none elsewhere", arguments: [true, false])
  func tokens(isTracked: Bool) throws {
    let two = try Two(.init(persistentHistoryTracking: isTracked))
    try two.here.person("Ada")
    let saved = Recorder<Bool>()
    let observer = two.here.queue.observe(ManagedObjectContext.didSaveObjectsNotification) { note in
      let key = ManagedObjectContext.NotificationKey.historyToken.rawValue
      saved.note(note.userInfo?[key] is PersistentHistoryToken)
    }
    try two.here.save()
    observer.cancel()
    #expect(saved.items == [isTracked])
  }

  @Test("deleting before a transaction leaves that one")
  func deletion() throws {
    let two = try Two()
    for name in ["Ada", "Bob"] {
      try two.here.person(name)
      try two.here.save()
    }
    func all() throws -> [PersistentHistoryTransaction] {
      try two.here.execute(.fetchHistory(after: Date.distantPast)).transactions
    }
    let both = try all()
    #expect(try two.here.execute(.deleteHistory(before: both[0])).deletedCount == 0)
    #expect(try all().count == 2)
    #expect(try two.here.execute(.deleteHistory(before: both[1])).deletedCount == 1)
    #expect(try all().map(\.transactionNumber) == [both[1].transactionNumber])
  }

  @Test("tokens are the same for every coordinator of the file, and say what comes after them")
  func order() throws {
    let two = try Two()
    let first = try #require(try two.token)
    try two.here.person("Ada")
    try two.here.save()
    let second = try #require(try two.token)
    #expect(try second == two.there.persistentStoreCoordinator.currentPersistentHistoryToken() && first != second)
    try two.here.person("Bob")
    try two.here.save()
    func count(after token: PersistentHistoryToken) throws -> Int {
      try two.there.execute(.fetchHistory(after: token)).transactions.count
    }
    #expect(try count(after: first) == 2 && count(after: second) == 1)
    let last = try #require(try two.there.execute(.fetchHistory(after: first)).transactions.last?.token)
    #expect(try last == two.token && count(after: last) == 0)
    // What a predicate over tokens says in Core Data, one over their numbers says here.
    for (format, expected) in [("== 1", 1), (">= 1", 2), ("<= 2", 2), ("> 2", 0)] {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      request.transactionPredicate = try FetchPredicate(format: "transactionNumber \(format)")
      #expect(try two.there.execute(request).transactions.count == expected)
    }
  }

  @Test("transactions are chosen by author and context, and merged as often as one likes")
  func authors() throws {
    let two = try Two()
    try two.here.person("Ada")
    try two.here.save()
    for (format, expected) in [
      ("author == 'here'", 1), ("author == 'here' AND contextName == 'here'", 1),
      ("author == 'there' AND contextName == 'here'", 0),
    ] {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      request.transactionPredicate = try FetchPredicate(format: format)
      let transactions = try two.there.execute(request).transactions
      #expect(transactions.count == expected)
      for transaction in transactions {
        two.there.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        #expect(transaction.token == (try two.token))
      }
    }
    #expect(try two.there.all(Person.self).map(\.name) == ["Ada"])
  }

  @Test("changes are chosen by kind, entity and object, for every coordinator of the file")
  func changes() throws {
    let two = try Two()
    let (acme, mill) = (try two.here.company("Acme"), try two.here.company("Mill"))
    try two.here.insert(Manager.self).name = "Max"
    try two.here.save()
    let ada = try two.here.person("Ada")
    try two.here.obtainPermanentIDs(for: [ada])
    let id = ada.objectID
    try two.here.save()
    let before = try #require(try two.token)
    ada.name = "Eve"
    two.here.delete(mill)
    try two.here.save()
    func changes(_ format: String, of id: ManagedObjectID? = nil, after token: PersistentHistoryToken? = nil) throws
      -> [String]
    {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      request.changePredicate = try id.map { try FetchPredicate(format: format, $0) } ?? FetchPredicate(format: format)
      return try [two.here, two.there].map { context in
        let result = try context.execute(request)
        return result.changes.map { "\($0.changeType) \($0.changedObjectID.entity.name)" }.sorted().joined(
          separator: ", ")
      }
    }
    func both(_ text: String) -> [String] { [text, text] }
    #expect(try changes("changeType == 'update'") == both("update Person"))
    #expect(
      try changes("changeType == 'insert' AND (changedEntity == 'Company' OR changedEntity == 'Person')")
        == both("insert Company, insert Company, insert Person"), "not those of subentities")
    // In Core Data the object's ID finds nothing through another coordinator.
    #expect(try changes("changedObjectID == %@", of: id, after: before) == both("update Person"))
    #expect(try changes("changedEntity == 'Company'", after: before) == both("delete Company"))
    #expect(try two.there.existingObject(with: id).objectID == id && acme.name == "Acme")
    var bare = PersistentHistoryChangeRequest.fetchHistory(after: before)
    bare.includesChanges = false
    #expect(try two.there.execute(bare).transactions.map { $0.changes == nil } == [true])
  }

  @Test("batch requests are announced to every coordinator of the file", .timeLimit(.minutes(60)))
  func remoteBatch() async throws {
    let two = try Two(.init(persistentHistoryTracking: true, remoteChangeNotifications: true))
    let coordinators = [two.here, two.there].map(\.persistentStoreCoordinator)
    let (changes, continuation) = AsyncStream<(Int, PersistentStoreRemoteChange)>.makeStream()
    let tokens = coordinators.enumerated().map { place, coordinator in
      NotificationCenter.default.addObserver(
        forName: PersistentStoreCoordinator.remoteChangeNotification, object: coordinator, queue: nil
      ) { note in
        if let change = PersistentStoreRemoteChange(note) { continuation.yield((place, change)) }
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    try two.here.execute(BatchInsertRequest(entityName: "Person", objects: [["name": "Ada"]]))
    let last = try #require(try two.token)
    let store = try #require(coordinators[0].persistentStores.first)
    var heard: Set<Int> = []
    for await (place, change) in changes {
      #expect(change.storeIdentifier == store.identifier && change.storeURL == store.url)
      if change.historyToken == last { heard.insert(place) }
      if heard.count == 2 { break }
    }
  }
}
