import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("A token of a store's history")
struct HistoryTokenTests {
  private func context(_ file: URL, author: String? = nil) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: file, options: .init(persistentHistoryTracking: true)))
    return ManagedObjectContext(.confinement, coordinator: coordinator, transactionAuthor: author)
  }

  private func save(_ names: [String], _ context: ManagedObjectContext) throws {
    for name in names {
      try context.person(name)
      try context.save()
    }
  }

  private func token(_ context: ManagedObjectContext) throws -> PersistentHistoryToken {
    try #require(try context.persistentStoreCoordinator.currentPersistentHistoryToken())
  }

  @Test("expires when transactions after it are deleted, and holds while only earlier ones are")
  func expires() throws {
    let scratch = try ScratchDirectory()
    let context = try context(scratch.file("a.sqlite"))
    let start = try token(context)
    try save(["one", "two"], context)
    let second = try token(context)
    try save(["three"], context)
    let third = try token(context)
    #expect(try context.execute(.fetchHistory(after: start)).transactions.count == 3)
    let all = try context.execute(.fetchHistory(after: start)).transactions
    try context.execute(.deleteHistory(before: second))
    let store = context.persistentStoreCoordinator.persistentStores[0].identifier
    for (place, number) in [(start, 0), (all[0].token, 1)] as [(PersistentHistoryToken, Int64)] {
      #expect(
        throws: PersistentHistoryError.tokenExpired(storeIdentifier: store, transactionNumber: number, earliest: 3)
      ) { try context.execute(.fetchHistory(after: place)) }
    }
    #expect(throws: PersistentHistoryError.self) { try context.execute(.fetchHistory(after: all[0])) }
    #expect(try context.execute(.fetchHistory(after: second)).transactions.map(\.transactionNumber) == [3])
    try context.execute(.deleteHistory(before: nil as PersistentHistoryToken?))
    #expect(try context.execute(.fetchHistory(after: third)).transactions.isEmpty)
    #expect(
      throws: PersistentHistoryError.tokenExpired(storeIdentifier: store, transactionNumber: 2, earliest: 4)
    ) { try context.execute(.fetchHistory(after: second)) }
    // Without a token, what is left is all that is asked for.
    #expect(try context.execute(.fetchHistory(after: Date.distantPast)).transactions.isEmpty)
  }

  @Test("of another store is refused instead of bringing everything")
  func foreign() throws {
    let scratch = try ScratchDirectory()
    let (one, other) = (try context(scratch.file("a.sqlite")), try context(scratch.file("b.sqlite")))
    try save(["one"], one)
    try save(["two"], other)
    let (mine, foreign) = (try token(one), try token(other))
    #expect(throws: PersistentHistoryError.self) { try one.execute(.fetchHistory(after: foreign)) }
    #expect(throws: PersistentHistoryError.self) { try one.execute(.deleteHistory(before: foreign)) }
    let transaction = try #require(
      try other.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.first)
    #expect(throws: PersistentHistoryError.self) { try one.execute(.fetchHistory(after: transaction)) }
    #expect(try one.execute(.fetchHistory(after: mine.merging(foreign))).transactions.isEmpty)
    #expect(try one.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.count == 1)
  }

  @Test("of a later state than that of the file, which was replaced by an older copy, is refused")
  func ahead() throws {
    let scratch = try ScratchDirectory()
    let (file, copy) = (scratch.file("a.sqlite"), scratch.file("copy.sqlite"))
    let first = try context(file)
    try save(["one"], first)
    try first.persistentStoreCoordinator.remove(first.persistentStoreCoordinator.persistentStores[0])
    try FileManager.default.copyItem(at: file, to: copy)
    let later = try context(file)
    try save(["two"], later)
    let token = try token(later)
    let older = try context(copy)
    let store = older.persistentStoreCoordinator.persistentStores[0].identifier
    #expect(
      throws: PersistentHistoryError.tokenAhead(storeIdentifier: store, transactionNumber: 2, latest: 1)
    ) { try older.execute(.fetchHistory(after: token)) }
  }

  @Test("of a result stands after what the request left out, and after the last transaction where a limit cut it")
  func ofFilteredResults() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("a.sqlite")
    let (app, job) = (try context(file, author: "app"), try context(file, author: "import"))
    try save(["Ada"], app)
    try save(["Bob", "Cid"], job)
    let now = try token(app)
    var request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.authors = ["app"]
    #expect(try app.execute(request).transactions.count == 1)
    #expect(try app.execute(request).lastToken == now)
    request.authors = ["nobody"]
    #expect(try app.execute(request).transactions.isEmpty)
    #expect(try app.execute(request).lastToken == now)
    request.authors = nil
    request.transactionPredicate = try FetchPredicate(format: "author == 'import'")
    request.fetchLimit = 1
    let first = try app.execute(request)
    #expect(first.transactions.map(\.transactionNumber) == [2])
    #expect(first.lastToken == first.transactions[0].token)
    // Everything after the token may be deleted without it expiring.
    try app.execute(.deleteHistory(before: now))
    #expect(try app.execute(.fetchHistory(after: now)).transactions.isEmpty)
    #expect(try app.execute(.deleteHistory(before: now)).lastToken == nil)
  }

  @Test("goes together with predicates over transactions and over changes")
  func predicates() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("a.sqlite")
    let (app, job) = (try context(file, author: "app"), try context(file, author: "import"))
    let ada = try app.person("Ada", age: 36)
    try app.company("Ltd")
    try app.save()
    try save(["Bob", "Cid"], job)
    ada.age = 37
    try app.save()

    func numbers(
      transactions: String? = nil, changes: String? = nil, limit: Int = 0, after: Int = 0, _ arguments: Any?...
    ) throws -> [Int64] {
      let all = try app.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
      var request = PersistentHistoryChangeRequest.fetchHistory(after: after == 0 ? nil : all[after - 1].token)
      let values = arguments.compactMap { PredicateArgument($0) }
      request.transactionPredicate = try transactions.map { try FetchPredicate(format: $0, arguments: values) }
      request.changePredicate = try changes.map { try FetchPredicate(format: $0, arguments: values) }
      request.fetchLimit = limit
      return try app.execute(request).transactions.map(\.transactionNumber)
    }
    #expect(try numbers(transactions: "author == 'import'") == [2, 3])
    #expect(try numbers(transactions: "author == 'import'", limit: 1, after: 2) == [3])
    #expect(try numbers(transactions: "transactionNumber IN {1, 4} AND timestamp > %@", Date.distantPast) == [1, 4])
    #expect(try numbers(changes: "changeType == 'update' AND 'age' IN updatedProperties") == [4])
    #expect(try numbers(changes: "changedEntity == 'Company'") == [1])
    #expect(try numbers(changes: "changedObjectID == %@", ada.objectID) == [1, 4])
    #expect(try numbers(changes: "changedEntity == 'Person' AND transaction.author == 'app'", limit: 1) == [1])

    var request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.changePredicate = try FetchPredicate(format: "changedEntity == 'Company'")
    #expect(try app.execute(request).changes.count == 1)
    request.includesChanges = false
    #expect(try app.execute(request).transactions.map(\.changes) == [nil])
    request.changePredicate = try FetchPredicate(format: "changedentity == 'Company'")
    let error = #expect(throws: FetchPredicateError.self) { try app.execute(request) }
    #expect("\(try #require(error))".contains("did you mean changedEntity?"))
  }
}
