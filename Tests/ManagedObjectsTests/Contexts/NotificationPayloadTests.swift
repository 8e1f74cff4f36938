import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("The payloads of notifications, as programs for Core Data cast them")
struct NotificationPayloadTests {
  private typealias Key = ManagedObjectContext.NotificationKey

  /// What a notification had under each key, as text: the names of people, or the number of IDs.
  private func observe(_ name: Notification.Name, _ context: ContextQueue) -> (
    Recorder<String>, ContextObservation
  ) {
    let seen = Recorder<String>()
    let observer = context.observe(name) { note in
      var parts: [String] = []
      for key: Key in [.insertedObjects, .updatedObjects, .deletedObjects, .refreshedObjects, .invalidatedObjects] {
        guard let value = note.userInfo?[key.rawValue] else { continue }
        guard let objects = value as? Set<ManagedObject> else { return seen.note("\(key.rawValue) isn't a set") }
        let names = objects.map { object in
          let isDeleted = object.isDeleted ? "deleted " : ""
          return isDeleted + "\(object.isFault ? "fault " : "")\((object as? Person)?.name ?? "")"
        }
        if !names.isEmpty { parts.append("\(key.rawValue): \(names.sorted().joined(separator: ", "))") }
      }
      for key: Key in [.insertedObjectIDs, .updatedObjectIDs, .deletedObjectIDs, .refreshedObjectIDs] {
        guard let value = note.userInfo?[key.rawValue] else { continue }
        guard let ids = value as? Set<ManagedObjectID> else { return seen.note("\(key.rawValue) isn't a set") }
        if !ids.isEmpty { parts.append("\(key.rawValue): \(ids.count)") }
      }
      if let all = note.userInfo?[Key.invalidatedAllObjects.rawValue] {
        parts.append("all: \((all as? [ManagedObjectID])?.count ?? -1)")
      }
      seen.note(parts.joined(separator: "; "))
    }
    return (seen, observer)
  }

  @Test("changes and saves carry sets of objects, and the announcements of IDs sets of IDs", arguments: StackCase.all)
  func sets(_ kind: StackCase) throws {
    let context = try kind.make().container.newBackgroundContext()
    let (changes, first) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    let (saves, second) = observe(ManagedObjectContext.didSaveObjectsNotification, context)
    let (ids, third) = observe(ManagedObjectContext.didSaveObjectIDsNotification, context)
    defer { for observer in [first, second, third] { observer.cancel() } }
    try context.performAndWait { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      try context.save()
      ada.age = 31
      context.delete(bob)
      try context.person("Cid")
      try context.save()
      try context.save()
      context.reset()
    }
    #expect(
      changes.items == [
        "inserted: Ada, Bob", "inserted: Cid; updated: Ada; deleted: deleted Bob", "all: 2",
      ])
    #expect(saves.items.count == 3 && saves.items[0] == "inserted: Ada, Bob" && saves.items[2] == "")
    #expect(saves.items[1].hasPrefix("inserted: Cid; updated: Ada; deleted: "))
    #expect(
      ids.items == ["inserted_objectIDs: 2", "inserted_objectIDs: 1; updated_objectIDs: 1; deleted_objectIDs: 1", ""])
  }

  @Test("a save without changes posts both notifications, and writes nothing", arguments: StackCase.all)
  func emptySave(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    stack.company.breaker.isBroken = true
    let (before, first) = observe(ManagedObjectContext.willSaveObjectsNotification, context)
    let (after, second) = observe(ManagedObjectContext.didSaveObjectsNotification, context)
    defer { for observer in [first, second] { observer.cancel() } }
    try stack.save(context)
    #expect(before.items == [""] && after.items == [""])
  }

  @Test("what an observer of the will-save notification changes is saved", arguments: StackCase.all)
  func changedBeforeSaving(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    let observer = context.observe(ManagedObjectContext.willSaveObjectsNotification) { _ in
      #expect(throws: Never.self) { try context.current.person("Ada") }
    }
    defer { observer.cancel() }
    let save = try context.performAndWait { context in try context.saveAndTell() }
    #expect(save?.insertedObjectIDs.count == 1)
    #expect(context.performAndWait { context in !context.hasChanges })
  }

  @Test("merged insertions are announced as faults of the merging context", arguments: StackCase.all)
  func mergedInsertions(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let follower = stack.container.newBackgroundContext()
    let other = stack.container.newBackgroundContext()
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, follower)
    defer { observer.cancel() }
    let typed = Recorder<[ManagedObjectID]>()
    let observation = follower.performAndWait { follower in
      follower.automaticallyMergesChangesFromParent = true
      return follower.observeChanges { changes in
        typed.note(changes.inserted.map(\.objectID))
        #expect(changes.inserted.allSatisfy { $0.managedObjectContext === follower && !$0.isInserted })
      }
    }
    defer { observation.cancel() }
    let ids = try other.performAndWait { other in
      let people = [try other.person("Ada"), try other.person("Bob")]
      try other.save()
      return people.map(\.objectID)
    }
    stack.settle()
    follower.performAndWait { _ in }
    #expect(typed.items == [ids])
    #expect(changes.items == ["inserted: fault Ada, fault Bob"])
    #expect(follower.performAndWait { follower in !follower.hasChanges && follower.insertedObjects.isEmpty })
  }

  @Test("objects that a context has had before aren't inserted again by a save above it", arguments: StackCase.all)
  func ownInsertions(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let (context, sibling) = (stack.container.newBackgroundContext(), stack.container.newBackgroundContext())
    let typed = Recorder<[String]>()
    let observation = context.performAndWait { context in
      context.automaticallyMergesChangesFromParent = true
      context.retainsRegisteredObjects = true
      return context.observeChanges { changes in
        let names = changes.inserted.compactMap { ($0 as? Person)?.name }
        if !names.isEmpty { typed.note(names) }
      }
    }
    defer { observation.cancel() }
    try stack.insert("Ada", in: context)
    try await context.saveToPersistentStore()
    stack.settle()
    context.performAndWait { _ in }
    try stack.insert("Bob", in: sibling)
    try await sibling.saveToPersistentStore()
    stack.settle()
    context.performAndWait { _ in }
    #expect(typed.items == [["Ada"], ["Bob"]])
  }

  @Test("an object deleted elsewhere is a deleted object until the end of the block", arguments: StackCase.all)
  func mergedDeletions(_ kind: StackCase) async throws {
    let stack = try kind.make()
    let id = try await stack.savedPerson("Ada", age: 30)
    let (follower, other) = (stack.container.newBackgroundContext(), stack.container.newBackgroundContext())
    #expect(stack.age(of: id, in: follower) == 30)
    let save = try #require(
      try other.performAndWait { other in
        other.delete(try other.existingObject(with: id))
        return try other.saveAndTell()
      })
    stack.settle()
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, follower)
    defer { observer.cancel() }
    try follower.performAndWait { follower in
      let ada = try #require(follower.registeredObject(for: id))
      follower.mergeChanges(fromContextDidSave: save)
      #expect(ada.isDeleted && ada.managedObjectContext === follower && follower.deletedObjects == [ada])
      #expect(!follower.hasChanges)
      follower.processPendingChanges()
      #expect(!ada.isDeleted && ada.managedObjectContext == nil && follower.deletedObjects.isEmpty)
    }
    #expect(changes.items == ["deleted: deleted Ada"])
    try stack.save(follower)
  }

  @Test("merged insertions that nothing asks for make no objects", arguments: StoreKind.allCases)
  func unobservedInsertions(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    try there.person("Ada")
    let observed = Recorder<Int>()
    let save = try #require(try there.saveAndTell())
    let observation = here.observeChanges { observed.note($0.updated.count) }
    here.mergeChanges(fromContextDidSave: save)
    observation.cancel()
    // The tests of one process take the notifications' names, so an untyped observer might be there for all they know.
    here.announcesChanges = false
    here.reset()
    here.mergeChanges(fromContextDidSave: save)
    #expect(observed.items == [0] && here.registeredObjects.isEmpty)
  }
}
