import Foundation
import ManagedObjects
import TestSupport
import Testing

@Suite("What a context announces")
struct NotificationTests {
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext

  init() throws {
    coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.inMemory())
    context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "announcer", transactionAuthor: "test")
  }

  /// Names of the notifications that `body` makes the context post, each with its non-empty keys and their counts.
  private func announced(by context: ManagedObjectContext? = nil, _ body: () throws -> Void) rethrows -> [String] {
    let context = context ?? self.context
    let seen = Recorder<String>()
    let names: [(Notification.Name, String)] = [
      (ManagedObjectContext.willSaveObjectsNotification, "willSave"),
      (ManagedObjectContext.didSaveObjectsNotification, "didSave"),
      (ManagedObjectContext.didChangeObjectsNotification, "didChange"),
      (ManagedObjectContext.didMergeChangesObjectIDsNotification, "didMerge"),
    ]
    let observers = names.map { name, short in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
        let keys: [ManagedObjectContext.NotificationKey] = [
          .insertedObjects, .updatedObjects, .deletedObjects, .refreshedObjects, .insertedObjectIDs, .updatedObjectIDs,
          .deletedObjectIDs,
        ]
        let counts = keys.compactMap { key -> String? in
          guard let value = note.userInfo?[key.rawValue] else { return nil }
          let count = (value as? any Collection)?.count ?? -1
          return count == 0 ? nil : "\(key.rawValue) \(count)"
        }
        seen.note(([short] + counts).joined(separator: ", "))
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    try body()
    return seen.items
  }

  @Test("the names and keys are Core Data's")
  func names() {
    #expect(ManagedObjectContext.didSaveObjectsNotification.rawValue == "NSManagingContextDidSaveChangesNotification")
    #expect(ManagedObjectContext.willSaveObjectsNotification.rawValue == "NSManagedObjectContextWillSaveNotification")
    #expect(
      ManagedObjectContext.didChangeObjectsNotification.rawValue == "NSObjectsChangedInManagingContextNotification")
    #expect(ManagedObjectContext.NotificationKey.insertedObjects.rawValue == "inserted")
    #expect(ManagedObjectContext.NotificationKey.updatedObjects.rawValue == "updated")
    #expect(ManagedObjectContext.NotificationKey.deletedObjects.rawValue == "deleted")
    #expect(ManagedObjectContext.NotificationKey.refreshedObjects.rawValue == "refreshed")
    #expect(ManagedObjectContext.NotificationKey.invalidatedObjects.rawValue == "invalidated")
    #expect(ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue == "invalidatedAll")
  }

  @Test("a save is announced before and after, with what it wrote")
  func saves() throws {
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    #expect(
      try announced { try context.save() } == ["willSave", "didChange, inserted 2", "didSave, inserted 2"])
    ada.age = 30
    context.delete(bob)
    try context.person("Cid")
    #expect(
      try announced { try context.save() } == [
        "willSave", "didChange, inserted 1, updated 1, deleted 1", "didSave, inserted 1, updated 1, deleted 1",
      ])
    #expect(try announced { try context.save() } == ["willSave", "didSave"], "a save without changes")
  }

  @Test("the typed form of a save names the context, its author and the objects' IDs")
  func typed() throws {
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    let first = try #require(try context.saveAndTell())
    #expect(first.contextName == "announcer" && first.transactionAuthor == "test")
    #expect(first.insertedObjectIDs == [ada.objectID, bob.objectID])
    #expect(first.insertedObjectIDs.allSatisfy { !$0.isTemporaryID })
    ada.age = 1
    context.delete(bob)
    let second = try #require(try context.saveAndTell())
    #expect(second.updatedObjectIDs == [ada.objectID] && second.deletedObjectIDs == [bob.objectID])
    #expect(ContextSave(Notification(name: .init("another"))) == nil)
  }

  @Test("changes are announced together at the end of a perform, and once")
  func changes() throws {
    let context = context
    #expect(
      try announced {
        try context.performAndWait { context in
          let ada = try context.person("Ada")
          ada.age = 30
          ada.age = 31
          try context.person("Bob")
        }
      } == ["didChange, inserted 2"])
    #expect(announced { context.performAndWait { _ in } } == [])
    let ada = try #require(try context.named("Ada", Person.self))
    try context.save()
    func changing(to ages: Int32...) -> [String] {
      announced {
        for age in ages { ada.age = age }
        context.processPendingChanges()
      }
    }
    #expect(changing(to: 32, 33) == ["didChange, updated 1"])
    #expect(changing(to: 34) == ["didChange, updated 1"], "changed again, announced again")
    #expect(changing(to: 34) == [])
  }

  @Test("both sides of a relationship are announced")
  func relationships() throws {
    let (ada, acme) = (try context.person("Ada"), try context.company("Acme"))
    try context.save()
    #expect(
      announced {
        ada.employer = acme
        context.processPendingChanges()
      } == ["didChange, updated 2"])
  }

  @Test("a rollback and a merge are announced")
  func refreshes() throws {
    let ada = try context.person("Ada")
    try context.save()
    ada.age = 30
    context.processPendingChanges()
    #expect(announced { context.rollback() } == ["didChange, refreshed 1"])

    let other = ManagedObjectContext(.confinement, coordinator: coordinator)
    let theirs = try #require(try other.named("Ada", Person.self))
    theirs.age = 40
    try other.person("Bob")
    let save = try #require(try other.saveAndTell())
    #expect(
      announced { context.mergeChanges(fromContextDidSave: save) } == [
        "didChange, inserted 1, refreshed 1", "didMerge, inserted_objectIDs 1, updated_objectIDs 1",
      ])
    #expect(ada.age == 40)
    #expect(announced { context.mergeChanges(fromContextDidSave: Notification(name: .init("another"))) } == [])
  }

  @Test("an object inserted and deleted at once is not announced as inserted")
  func inserted() throws {
    let seen = try announced {
      context.delete(try context.person("Ada"))
      context.processPendingChanges()
    }
    #expect(!seen.contains { $0.contains("inserted") })
  }

  @Test("a save of a child is announced by the child and changes the parent")
  func children() throws {
    let child = ManagedObjectContext(.confinement, parent: context)
    try child.person("Ada")
    let seen = try announced { try announced(by: child) { try child.save() }.forEach { _ in } }
    #expect(seen == ["didChange, inserted 1"])
  }

  @Test("a save is announced again with IDs, which merge as well")
  func objectIDs() throws {
    let ids = Recorder<Set<ManagedObjectID>>()
    let other = ManagedObjectContext(.confinement, coordinator: coordinator)
    let notes = Recorder<Bool>()
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
    ) { note in
      ids.note(
        note.userInfo?[ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue] as? Set<ManagedObjectID> ?? [])
      notes.note(ContextSave(note) != nil)
    }
    let merged = Recorder<Int>()
    let second = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didMergeChangesObjectIDsNotification, object: other, queue: nil
    ) { note in merged.note(ContextSave(note)?.insertedObjectIDs.count ?? -1) }
    let ada = try context.person("Ada")
    try other.company("Acme")
    other.mergeChanges(fromContextDidSave: try #require(try context.saveAndTell()))
    #expect(ids.items == [[ada.objectID]] && notes.items == [true] && merged.items == [1])
    NotificationCenter.default.removeObserver(observer)
    NotificationCenter.default.removeObserver(second)
  }

  @Test("a reset is announced, and an observer gets typed changes")
  func resets() throws {
    var received: [Bool] = []
    let observation = context.observeChanges { received.append($0.isAllInvalidated) }
    try context.person("Ada")
    context.processPendingChanges()
    context.reset()
    context.reset()
    #expect(received == [false, true], "an empty context announces nothing")
    observation.cancel()
  }

  @Test("saves can be followed from anywhere")
  func stream() async throws {
    let context = ContextQueue(.privateQueue, coordinator: coordinator)
    let saves = context.saves
    for name in ["Ada", "Bob"] {
      try await context.perform { context in
        try context.person(name)
        try context.save()
      }
    }
    var counts: [Int] = []
    for await save in saves {
      counts.append(save.insertedObjectIDs.count)
      if counts.count == 2 { break }
    }
    #expect(counts == [1, 1])
  }

  @Test("a context's name and author can be set at any time")
  func labels() throws {
    context.name = "renamed"
    context.transactionAuthor = "somebody"
    try context.person("Ada")
    let save = try #require(try context.saveAndTell())
    #expect(save.contextName == "renamed" && save.transactionAuthor == "somebody")
  }

  @Test("delete rules can wait for the save")
  func rulesOnSave() throws {
    let (ada, acme) = (try context.person("Ada"), try context.company("Acme"))
    ada.employer = acme
    try context.save()
    context.propagatesDeletesAtEndOfEvent = false
    context.delete(acme)
    context.processPendingChanges()
    #expect(ada.value(forKey: "employer") == .object(acme.objectID))
    try context.save()
    #expect(ada.employer == nil)
  }

  @Test("objects that only the context holds are kept when it is set to")
  func retaining() throws {
    try context.person("Ada")
    try context.save()
    context.reset()
    context.retainsRegisteredObjects = true
    for _ in 0..<3 { _ = try context.all(Person.self) }
    #expect(context.retainsRegisteredObjects && context.registeredObjects.count == 1)
  }
}
