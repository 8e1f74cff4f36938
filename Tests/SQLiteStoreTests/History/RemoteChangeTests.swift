import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Changes of a store's file", .timeLimit(.minutes(20)))
struct RemoteChangeTests {
  private let options = SQLiteStoreOptions(persistentHistoryTracking: true, remoteChangeNotifications: true)

  private func coordinator(_ file: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: file, options: options))
    return coordinator
  }

  private func follow(_ coordinator: PersistentStoreCoordinator) -> (AsyncStream<PersistentStoreRemoteChange>, Follower)
  {
    let (stream, continuation) = AsyncStream<PersistentStoreRemoteChange>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.remoteChangeNotification, object: coordinator, queue: nil
    ) { note in
      if let change = PersistentStoreRemoteChange(note) { continuation.yield(change) }
    }
    return (stream, Follower(token))
  }

  /// Takes the observer away at the end.
  private final class Follower {
    private let token: any NSObjectProtocol
    init(_ token: any NSObjectProtocol) { self.token = token }
    deinit { NotificationCenter.default.removeObserver(token) }
  }

  @Test("are announced with a token, by which they are found and merged")
  func merged() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("shared.sqlite")
    let (mine, theirs) = (try coordinator(file), try coordinator(file))
    let (changes, follower) = follow(mine)
    defer { withExtendedLifetime(follower) {} }
    let context = ContextQueue(.privateQueue, coordinator: mine)
    let id = try await context.perform { context in
      let ada = try context.person("Ada", age: 36)
      try context.save()
      return ada.objectID
    }
    let seen = try #require(try mine.currentPersistentHistoryToken())
    let other = ContextQueue(.privateQueue, coordinator: theirs, transactionAuthor: "another")
    try await other.perform { other in
      let ada = try other.named("Ada", Person.self)
      ada?.age = 40
      try other.save()
    }
    let last = try #require(try theirs.currentPersistentHistoryToken())
    // The store's own save may be reported before.
    for await change in changes where change.historyToken == last {
      #expect(change.storeURL?.lastPathComponent == "shared.sqlite")
      break
    }
    let age = try await context.perform { context in
      let transactions = try context.execute(.fetchHistory(after: seen)).transactions
      #expect(transactions.map(\.author) == ["another"])
      for transaction in transactions {
        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      return (context.object(with: id) as? Person)?.age
    }
    #expect(age == 40)
    try mine.close()
    try theirs.close()
  }

  @Test(
    "are announced when they are the coordinator's own, too, and history says whose they are", arguments: [true, false])
  func own(_ tracksHistory: Bool) async throws {
    let scratch = try ScratchDirectory()
    let mine = PersistentStoreCoordinator(model: CompanyModel.model)
    try mine.addPersistentStore(
      .sqlite(
        at: scratch.file("own.sqlite"),
        options: .init(persistentHistoryTracking: tracksHistory, remoteChangeNotifications: true)))
    let (changes, follower) = follow(mine)
    defer { withExtendedLifetime(follower) {} }
    let context = ContextQueue(.privateQueue, coordinator: mine, transactionAuthor: "me")
    try await save(1, in: context)
    var iterator = changes.makeAsyncIterator()
    let change = try #require(await iterator.next())
    #expect(try change.historyToken == mine.currentPersistentHistoryToken())
    if tracksHistory {
      let authors = try await context.perform { context in
        try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.map(\.author)
      }
      #expect(authors == ["me"])
    }
    try mine.close()
  }

  @Test("are announced up to the last one, however many there are, with other writes in between")
  func burst() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("shared.sqlite")
    let (mine, theirs) = (try coordinator(file), try coordinator(file))
    let (changes, follower) = follow(mine)
    defer { withExtendedLifetime(follower) {} }
    let (here, there) = (
      ContextQueue(.privateQueue, coordinator: mine), ContextQueue(.privateQueue, coordinator: theirs)
    )
    async let first: Void = save(40, in: here)
    async let second: Void = save(40, in: there)
    _ = try await (first, second)
    try await save(1, in: there)
    let last = try #require(try theirs.currentPersistentHistoryToken())
    for await change in changes where change.historyToken == last { break }
    #expect(try await here.perform { here in try here.count(for: FetchRequest<Person>(entityName: "Person")) } == 81)
    try mine.close()
    try theirs.close()
  }

  @Test("are announced while another writer holds the lock, and that writer's when it releases it")
  func lock() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("shared.sqlite")
    let mine = try coordinator(file)
    let (changes, follower) = follow(mine)
    defer { withExtendedLifetime(follower) {} }
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: file.path, configuration: configuration)
    var iterator = changes.makeAsyncIterator()
    try await other.writeWithoutTransaction { db in
      try db.execute(sql: "INSERT INTO City (code, name) VALUES (7, 'Bern')")
      // Many pages go into the log before the commit.
      try db.execute(sql: "PRAGMA cache_size = 1; BEGIN IMMEDIATE")
      for code in 100..<2000 {
        try db.execute(
          sql: "INSERT INTO City (code, name) VALUES (?, ?)", arguments: [code, String(repeating: "x", count: 200)])
      }
    }
    _ = try #require(await iterator.next())
    try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
    _ = try #require(await iterator.next())
    let context = ContextQueue(.privateQueue, coordinator: mine)
    #expect(
      try await context.perform { context in try context.count(for: FetchRequest<City>(entityName: "City")) } == 1901)
    try mine.close()
  }

  private func save(_ count: Int, in context: ContextQueue) async throws {
    for index in 0..<count {
      try await context.perform { context in
        try context.person("p\(index)")
        try context.save()
      }
    }
  }

  @Test("by another program are announced too", .enabled(if: sqlite3 != nil, "sqlite3 isn't installed"))
  func anotherProgram() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("shared.sqlite")
    let mine = try coordinator(file)
    let (changes, follower) = follow(mine)
    defer { withExtendedLifetime(follower) {} }
    let run = try await ProgramOutput.of(
      try #require(sqlite3), [file.path, "INSERT INTO City (code, name) VALUES (7, 'Bern')"], environment: [:])
    #expect(run.status == 0, "\(run.error)")
    var iterator = changes.makeAsyncIterator()
    let change = try #require(await iterator.next())
    // It kept no history: that something changed is all that is known.
    #expect(try change.historyToken == mine.currentPersistentHistoryToken())
    let context = ContextQueue(.privateQueue, coordinator: mine)
    #expect(try await context.perform { context in try context.all(City.self).map(\.name) } == ["Bern"])
    try mine.close()
  }
}

private let sqlite3 = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  .map { URL(fileURLWithPath: String($0)).appendingPathComponent("sqlite3") }
  .first { FileManager.default.isExecutableFile(atPath: $0.path) }
