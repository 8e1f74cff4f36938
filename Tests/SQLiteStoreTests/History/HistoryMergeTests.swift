import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Merging the history of a store")
struct HistoryMergeTests {
  private let options = SQLiteStoreOptions(persistentHistoryTracking: true)

  @Test(
    "a notification of each transaction brings in what another process did",
    arguments: PersistentContainer.Stack.allCases)
  func transactions(_ stack: PersistentContainer.Stack) throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("shared.sqlite")
    let coordinators = try (0..<2).map { _ in
      let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
      try coordinator.addPersistentStore(.sqlite(at: file, options: options))
      return coordinator
    }
    let (mine, theirs) = (coordinators[0], coordinators[1])
    let there = ContextQueue(.privateQueue, coordinator: theirs)
    let ids = try there.performAndWait { there in
      let people = [try there.person("Ada", age: 30), try there.person("Bob")]
      try there.save()
      return people.map(\.objectID)
    }
    let container = PersistentContainer(coordinator: mine, stack: stack, viewQueue: .privateQueue)
    let view = container.viewContext
    let token = try mine.currentPersistentHistoryToken()
    try view.performAndWait { view in
      view.retainsRegisteredObjects = true
      for id in ids { _ = try view.existingObject(with: view.persistentStoreCoordinator.id(id)) }
    }
    try there.performAndWait { there in
      let ada = try there.named("Ada", Person.self)
      ada?.age = 31
      try there.save()
      if let bob = try there.named("Bob", Person.self) { there.delete(bob) }
      try there.person("New").age = 1
      try there.save()
    }
    for context in [container.writerContext, view].compactMap({ $0 }) {
      try context.performAndWait { context in
        let transactions = try context.execute(.fetchHistory(after: token)).transactions
        #expect(transactions.count == 2)
        for transaction in transactions {
          let notification = transaction.objectIDNotification()
          let inserted = notification.userInfo?[ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue]
          #expect(inserted == nil || inserted is Set<ManagedObjectID>)
          context.mergeChanges(fromContextDidSave: notification)
        }
      }
    }
    try view.performAndWait { view in
      #expect((view.registeredObject(for: mine.id(ids[0])) as? Person)?.age == 31)
      let names = try view.all(Person.self, sortedBy: "name").map(\.name)
      #expect(names == ["Ada", "New"])
    }
    for coordinator in coordinators { try coordinator.close() }
  }

  @Test("a save says where it stands in the history, and what a pinned context reads after it")
  func token() throws {
    let scratch = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: scratch.file("shared.sqlite"), options: options))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let (tokens, pinned) = (Recorder<PersistentHistoryToken?>(), Recorder<Bool>())
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { note in
      typealias Key = ManagedObjectContext.NotificationKey
      let token = note.userInfo?[Key.historyToken.rawValue] as? PersistentHistoryToken
      tokens.note(token == ContextSave(note)?.historyToken ? token : nil)
      pinned.note(note.userInfo?[Key.queryGenerationToken.rawValue] is QueryGenerationToken)
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.person("Ada")
    try context.save()
    let first = try coordinator.currentPersistentHistoryToken()
    #expect(first != nil && tokens.items == [first])
    try context.setQueryGenerationFrom(.current)
    try context.person("Bob")
    try context.save()
    let second = try coordinator.currentPersistentHistoryToken()
    #expect(second != first && tokens.items == [first, second])
    #expect(pinned.items == [false, true])
    try coordinator.close()
  }
}

extension PersistentStoreCoordinator {
  /// This coordinator's ID of another's object.
  fileprivate func id(_ id: ManagedObjectID) -> ManagedObjectID {
    managedObjectID(forURIRepresentation: id.uriRepresentation) ?? id
  }
}
