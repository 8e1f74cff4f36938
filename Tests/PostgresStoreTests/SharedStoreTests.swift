import Foundation
import ManagedObjects
import PostgresStore
import TestSupport
import Testing

@Suite("Two programs on one PostgreSQL store", .onPostgres, .timeLimit(.minutes(10)))
struct SharedStoreTests {
  private let schema = PostgresCluster.newSchema()

  private func coordinator(
    _ options: PostgresStoreOptions = .init(), model: ManagedObjectModel = CompanyModel.model
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(
      .postgres(PostgresCluster.shared().address(), schema: schema, options: options))
    return coordinator
  }

  private func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  @Test("a row that the other has changed is a conflict")
  func conflict() throws {
    let (mine, theirs) = (context(try coordinator()), context(try coordinator()))
    let ada = try mine.person("Ada", age: 36)
    try mine.save()
    let same = try #require(try theirs.named("Ada", Person.self))
    same.age = 40
    try theirs.save()
    ada.age = 41
    #expect {
      try mine.save()
    } throws: { error in
      if case ManagedObjectError.mergeConflicts(let conflicts) = error { conflicts.count == 1 } else { false }
    }
  }

  @Test("new rows of both have numbers of their own")
  func numbers() throws {
    let (mine, theirs) = (context(try coordinator()), context(try coordinator()))
    for round in 1...50 {
      for context in [mine, theirs] {
        _ = try context.person("Ada \(round)")
        try context.save()
      }
    }
    #expect(try mine.count(for: FetchRequest<Person>(entityName: "Person")) == 100)
  }

  @Test("a pinned generation stays as it was, whatever the other writes")
  func generation() throws {
    let (mine, theirs) = (context(try coordinator()), context(try coordinator()))
    _ = try mine.person("Ada")
    try mine.save()
    let pinned = context(try coordinator())
    try pinned.setQueryGenerationFrom(.current)
    #expect(try pinned.count(for: FetchRequest<Person>(entityName: "Person")) == 1)
    _ = try theirs.person("Bob")
    try theirs.save()
    #expect(try pinned.count(for: FetchRequest<Person>(entityName: "Person")) == 1)
    try pinned.setQueryGenerationFrom(nil)
    #expect(try pinned.count(for: FetchRequest<Person>(entityName: "Person")) == 2)
  }

  @Test("one hears of the other's commits, and finds them in the history")
  func remote() async throws {
    let options = PostgresStoreOptions(persistentHistoryTracking: true, remoteChangeNotifications: true)
    let (mine, theirs) = (try coordinator(options), try coordinator(options))
    let (changes, continuation) = AsyncStream<PersistentStoreRemoteChange>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.remoteChangeNotification, object: mine, queue: nil
    ) { note in
      if let change = PersistentStoreRemoteChange(note) { continuation.yield(change) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let last = try {
      let context = context(theirs)
      _ = try context.person("Ada", age: 36)
      try context.save()
      return try #require(try theirs.currentPersistentHistoryToken())
    }()
    for await change in changes where change.historyToken == last { break }
    try {
      let history = try context(mine).execute(.fetchHistory(after: nil as PersistentHistoryToken?))
      #expect(history.transactions.count == 1)
      #expect(history.changes.map(\.changeType) == [.insert])
    }()
    try mine.close()
    try theirs.close()
  }

  @Test("rows that exchange unique values are saved, and a taken value is a conflict")
  func unique() throws {
    let context = context(try coordinator())
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    (ada.email, bob.email) = ("a@x", "b@x")
    try context.save()
    (ada.email, bob.email) = ("b@x", "a@x")
    try context.save()
    #expect(try self.context(try coordinator()).named("Ada", Person.self)?.email == "b@x")
    try context.person("Cy").email = "a@x"
    #expect {
      try context.save()
    } throws: { error in
      if case ManagedObjectError.constraintConflicts(let conflicts) = error { conflicts.count == 1 } else { false }
    }
  }
}
