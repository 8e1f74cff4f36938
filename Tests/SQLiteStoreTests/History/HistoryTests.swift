import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("A store's history")
struct HistoryTests {
  /// A coordinator over a file that tracks history; another one over the same file, for the second time.
  private func coordinator(
    _ scratch: ScratchDirectory, _ model: ManagedObjectModel = CompanyModel.model,
    _ options: SQLiteStoreOptions = SQLiteStoreOptions(persistentHistoryTracking: true)
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.sqlite(at: scratch.file("history.sqlite"), options: options))
    return coordinator
  }

  private func context(_ coordinator: PersistentStoreCoordinator, author: String? = nil) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator, name: "worker", transactionAuthor: author)
  }

  @Test("records who changed which objects how, save by save")
  func changes() throws {
    let scratch = try ScratchDirectory()
    let context = context(try coordinator(scratch), author: "import")
    let ada = try context.person("Ada", age: 36)
    let company = try context.company("Ltd")
    try context.save()
    ada.age = 37
    ada.employer = company
    try context.save()
    context.delete(ada)
    try context.save()
    try context.save()

    let result = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
    #expect(result.transactions.map(\.transactionNumber) == [1, 2, 3])
    #expect(result.transactions.allSatisfy { $0.author == "import" && $0.contextName == "worker" })
    #expect(result.transactions.allSatisfy { $0.processID == ProcessInfo.processInfo.processIdentifier })
    #expect(abs(result.transactions[0].timestamp.timeIntervalSinceNow) < 3600)
    let changes = result.transactions.map { $0.changes ?? [] }
    #expect(Set(changes[0].map(\.changedObjectID)) == [ada.objectID, company.objectID])
    #expect(changes[0].allSatisfy { $0.changeType == .insert })
    let update = try #require(changes[1].first { $0.changedObjectID == ada.objectID })
    #expect(update.changeType == .update && update.updatedProperties == ["age", "employer"])
    #expect(changes[2].contains { $0.changedObjectID == ada.objectID && $0.changeType == .delete })
    #expect(result.changes.map(\.changeID) == result.changes.map(\.changeID).sorted())
    #expect(result.objectIDs == [ada.objectID, company.objectID])
  }

  @Test("records the owner of a set whose members change, whoever has read it, and whatever imported them")
  func owners() throws {
    let scratch = try ScratchDirectory()
    let coordinator = try coordinator(scratch)
    let context = context(coordinator)
    let (acme, mill, ada) = (try context.company("Acme"), try context.company("Mill"), try context.person("Ada"))
    try context.save()
    let start = try coordinator.currentPersistentHistoryToken(fromStores: nil)
    func changes() throws -> [[String]] {
      let result = try context.execute(.fetchHistory(after: start))
      return result.transactions.map { transaction in
        (transaction.changes ?? []).filter { [acme.objectID, mill.objectID].contains($0.changedObjectID) }.map {
          "\($0.changedObjectID == acme.objectID ? "Acme" : "Mill") \($0.updatedProperties.sorted())"
        }.sorted()
      }
    }
    ada.employer = acme
    try context.save()
    #expect(mill.employees.isEmpty)
    ada.employer = mill
    try context.save()
    let other = self.context(coordinator)
    other.announcesChanges = false
    let entity = try #require(coordinator.model.entitiesByName["Person"])
    var values = entity.initialValues
    values[3] = .object(acme.objectID)
    _ = try other.insert(entity, values: values)
    try other.saveValidated()
    #expect(
      try changes() == [
        [#"Acme ["employees"]"#], [#"Acme ["employees"]"#, #"Mill ["employees"]"#], [#"Acme ["employees"]"#],
      ])
  }

  @Test("a batch request is one transaction, however many rows it writes")
  func batches() throws {
    let scratch = try ScratchDirectory()
    let context = context(try coordinator(scratch), author: "import")
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.person("Ada", email: "1@x")
    try context.save()
    let rows: [[String: Value]] = (0..<5000).map { ["name": .string("P"), "email": .string("\($0)@x")] }
    try context.execute(BatchInsertRequest(entityName: "Person", objects: rows))
    var update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": .constant(.int(1))]
    try context.execute(update)
    try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Person>(entityName: "Person")))
    let found = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
    #expect(found.map(\.transactionNumber) == [1, 2, 3, 4] && found.allSatisfy { $0.author == "import" })
    #expect(found.map { $0.changes?.count } == [1, 5000, 5000, 5000])
    #expect(found[1].changes?.count { $0.changeType == .insert } == 4999)
    #expect(found[2].changes?.allSatisfy { $0.updatedProperties == ["age"] } == true)
  }

  @Test("continues after a token, a date or a transaction, and excludes authors")
  func places() throws {
    let scratch = try ScratchDirectory()
    let coordinator = try coordinator(scratch)
    #expect(try coordinator.currentPersistentHistoryToken()?.merging(PersistentHistoryTokens.none) != nil)
    let (app, other) = (context(coordinator, author: "app"), context(coordinator))
    try app.person("one")
    try app.save()
    let token = try #require(try coordinator.currentPersistentHistoryToken())
    try other.person("two")
    try other.save()
    let middle = Date()
    try app.person("three")
    try app.save()

    func numbers(_ request: PersistentHistoryChangeRequest) throws -> [Int64] {
      try app.execute(request).transactions.map(\.transactionNumber)
    }
    #expect(try numbers(.fetchHistory(after: token)) == [2, 3])
    let kept = try JSONDecoder().decode(PersistentHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(try numbers(.fetchHistory(after: kept)) == [2, 3])
    #expect(try numbers(.fetchHistory(after: middle)) == [3])
    let second = try #require(try app.execute(.fetchHistory(after: token)).transactions.first)
    #expect(try numbers(.fetchHistory(after: second)) == [3])
    #expect(try numbers(.fetchHistory(after: second.token)) == [3])
    var request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.excludedAuthors = ["app"]
    #expect(try numbers(request) == [2])
    request.excludedAuthors = []
    request.authors = ["app"]
    request.fetchLimit = 1
    request.includesChanges = false
    #expect(try numbers(request) == [1])
    #expect(try app.execute(request).transactions[0].changes == nil)
    let last = try #require(try app.execute(.fetchHistory(after: token)).lastToken)
    #expect(try numbers(.fetchHistory(after: last)) == [])
  }

  @Test("can be deleted up to a place, and never numbers a transaction twice")
  func purge() throws {
    let scratch = try ScratchDirectory()
    let coordinator = try coordinator(scratch)
    let context = context(coordinator)
    for name in ["one", "two", "three"] {
      try context.person(name)
      try context.save()
    }
    let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    let third = try #require(try context.execute(all).transactions.last)
    #expect(try context.execute(.deleteHistory(before: third)).deletedCount == 2)
    #expect(try context.execute(all).transactions.map(\.transactionNumber) == [3])
    #expect(try context.execute(.deleteHistory(before: Date.distantPast)).deletedCount == 0)
    #expect(try context.execute(.deleteHistory(before: coordinator.currentPersistentHistoryToken())).deletedCount == 1)
    #expect(try context.execute(all).transactions.isEmpty)
    let token = try #require(try coordinator.currentPersistentHistoryToken())
    try context.person("four")
    try context.save()
    #expect(try context.execute(.fetchHistory(after: token)).transactions.map(\.transactionNumber) == [4])
    #expect(try context.execute(.deleteHistory(before: nil as PersistentHistoryToken?)).deletedCount == 1)
  }

  @Test("keeps what the model says of a deleted object")
  func tombstones() throws {
    var kept = AttributeDefinition("code", .string)
    kept.preservesValueInHistoryOnDeletion = true
    var day = AttributeDefinition("day", .date)
    day.preservesValueInHistoryOnDeletion = true
    let model = try ManagedObjectModel(entities: [
      EntityDefinition("Item", attributes: [kept, day, AttributeDefinition("secret", .string)])
    ])
    let scratch = try ScratchDirectory()
    let context = context(try coordinator(scratch, model))
    let item = try context.insert("Item")
    try item.setValue(.string("a,b"), forKey: "code")
    try item.setValue(.string("x"), forKey: "secret")
    try context.save()
    context.delete(item)
    try context.save()
    let changes = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).changes
    #expect(changes.last?.tombstone == ["code": .string("a,b")])
  }

  @Test("is none of a save that fails, and none of a store that doesn't track it")
  func none() throws {
    let scratch = try ScratchDirectory()
    let tracked = context(try coordinator(scratch))
    try tracked.person("Ada", email: "a@b")
    try tracked.save()
    try tracked.person("Bo", email: "a@b")
    #expect(throws: ManagedObjectError.self) { try tracked.save() }
    #expect(try tracked.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.count == 1)

    let untracked = context(try coordinator(try ScratchDirectory(), CompanyModel.model, SQLiteStoreOptions()))
    #expect(try untracked.persistentStoreCoordinator.currentPersistentHistoryToken() == nil)
    #expect(throws: PersistentHistoryError.notTracked) { try untracked.execute(.deleteHistory(before: Date())) }
    let memory = try CompanyStack(.inMemory).context()
    #expect(throws: PersistentHistoryError.notTracked) { try memory.execute(.fetchHistory(after: Date())) }
  }
}

enum PersistentHistoryTokens {
  /// A token that says nothing of any store.
  static let none: PersistentHistoryToken = {
    do {
      return try JSONDecoder().decode(PersistentHistoryToken.self, from: Data(#"{"numbers":{}}"#.utf8))
    } catch {
      preconditionFailure("\(error)")
    }
  }()
}
