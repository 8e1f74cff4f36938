import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of the notifications of Core Data: how many objects stand under which key.
@Suite("What observers of a context count")
struct ObservedContextTests {
  private typealias Key = ManagedObjectContext.NotificationKey

  /// The numbers of objects under each key of a notification: "inserted 2, updated 1".
  private static func counts(_ note: Notification) -> String {
    let keys: [Key] = [
      .insertedObjects, .updatedObjects, .deletedObjects, .refreshedObjects, .invalidatedObjects, .insertedObjectIDs,
      .updatedObjectIDs, .deletedObjectIDs, .refreshedObjectIDs,
    ]
    var parts = keys.compactMap { key -> String? in
      let value = note.userInfo?[key.rawValue]
      let count = (value as? Set<ManagedObject>)?.count ?? (value as? Set<ManagedObjectID>)?.count ?? 0
      return count == 0 ? nil : "\(key) \(count)"
    }
    if let all = note.userInfo?[Key.invalidatedAllObjects.rawValue] as? [ManagedObjectID] {
      parts.append("all \(all.count)")
    }
    return parts.joined(separator: ", ")
  }

  private func observe(_ name: Notification.Name, _ context: ContextQueue) -> (Recorder<String>, ContextObservation) {
    let seen = Recorder<String>()
    return (seen, context.observe(name) { seen.note(Self.counts($0)) })
  }

  @Test("nothing is announced where nothing has changed", arguments: StackCase.all)
  func nothing(_ kind: StackCase) throws {
    let stack = try kind.make()
    let (context, other) = (stack.container.newBackgroundContext(), stack.container.newBackgroundContext())
    let (changes, first) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    let (saves, second) = observe(ManagedObjectContext.willSaveObjectsNotification, context)
    defer { for observer in [first, second] { observer.cancel() } }
    context.performAndWait { context in context.processPendingChanges() }
    try stack.insert("Ada", in: other)
    try stack.save(other)
    context.performAndWait { _ in }
    #expect(changes.items.isEmpty && saves.items.isEmpty, "another context's save is none of this one's")
    try stack.insert("Bob", in: context)
    #expect(changes.items == ["insertedObjects 1"] && saves.items.isEmpty)
  }

  @Test("two hundred objects that refer to each other are announced together", arguments: StackCase.all)
  func many(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    defer { observer.cancel() }
    try context.performAndWait { context in
      for number in 0..<100 {
        let person = try context.person("P\(number)")
        person.employer = try context.company("C\(number)")
        person.name = "Q\(number)"
      }
      context.processPendingChanges()
    }
    #expect(changes.items == ["insertedObjects 200"])
  }

  @Test("refreshing all announces all that are registered, once", arguments: StackCase.all)
  func refreshedAll(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait { context in
      context.retainsRegisteredObjects = true
      for number in 0..<5 { try context.person("P\(number)").employer = try context.company("C\(number)") }
      try context.save()
    }
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    defer { observer.cancel() }
    let count = context.performAndWait { context in
      context.refreshAllObjects()
      return context.registeredObjects.count
    }
    #expect(count == 10 && changes.items == ["refreshedObjects 10"])
  }

  @Test(
    "an object that is changed and refreshed is both; one refreshed without its changes is no update",
    arguments: StackCase.all)
  func refreshedChanges(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    let (changes, first) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    let (saves, second) = observe(ManagedObjectContext.didSaveObjectsNotification, context)
    defer { for observer in [first, second] { observer.cancel() } }
    try context.performAndWait { context in
      let people = try ["A1", "B1", "C1", "D1", "E1"].map { try context.person($0) }
      try context.save()
      for person in people { person.age = 1 }
      context.refresh(people[0], mergeChanges: true)
      context.refresh(people[1], mergeChanges: false)
      context.delete(people[2])
      context.delete(people[3])
      try context.person("F1")
      try context.save()
      #expect(people[0].age == 1 && people[1].age == nil)
    }
    #expect(
      changes.items == [
        "insertedObjects 5", "insertedObjects 1, updatedObjects 2, deletedObjects 2, refreshedObjects 2",
      ])
    #expect(saves.items == ["insertedObjects 5", "insertedObjects 1, updatedObjects 2, deletedObjects 2"])
  }

  @Test("a reset announces the objects that the context had, and none of its changes", arguments: StackCase.all)
  func reset(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait { context in
      context.retainsRegisteredObjects = true
      for name in ["A1", "B1", "C1", "D1"] { try context.person(name) }
      try context.save()
    }
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    defer { observer.cancel() }
    let saves = Recorder<String>()
    let second = context.observe(ManagedObjectContext.didSaveObjectsNotification) { saves.note(Self.counts($0)) }
    defer { second.cancel() }
    try context.performAndWait { context in
      let people = try context.all(Person.self, sortedBy: "name")
      people[0].age = 1
      context.delete(people[1])
      context.refresh(people[2], mergeChanges: false)
      try context.person("E1")
      context.reset()
      try context.save()
    }
    #expect(changes.items == ["all 5"])
    #expect(saves.items == [""])
  }

  @Test("a parent announces each child's save, and its own save with all of them", arguments: StoreKind.allCases)
  func family(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let children = [ContextQueue(.privateQueue, parent: parent), ContextQueue(.privateQueue, parent: parent)]
    try children[0].performAndWait { child in
      try child.person("Ada")
      try child.person("Bob")
      try child.save()
    }
    try parent.performAndWait { parent in try parent.save() }
    let (changes, first) = observe(ManagedObjectContext.didChangeObjectsNotification, parent)
    let (saves, second) = observe(ManagedObjectContext.didSaveObjectsNotification, parent)
    defer { for observer in [first, second] { observer.cancel() } }
    try children[0].performAndWait { child in
      try child.person("Cid")
      try child.person("Dee")
      try child.save()
    }
    try children[0].performAndWait { child in
      let ada = try #require(try child.named("Ada", Person.self))
      (ada.name, ada.age) = ("Ada King", 36)
      try child.save()
    }
    try children[0].performAndWait { child in
      child.delete(try #require(try child.named("Bob", Person.self)))
      try child.save()
    }
    try children[1].performAndWait { child in
      try child.person("Eve")
      try child.save()
    }
    try parent.performAndWait { parent in try parent.save() }
    #expect(changes.items == ["insertedObjects 2", "updatedObjects 1", "deletedObjects 1", "insertedObjects 1"])
    #expect(saves.items == ["insertedObjects 3, updatedObjects 1, deletedObjects 1"])
  }

  @Test("a child's save has temporary IDs, and a save to the store permanent ones", arguments: StackCase.all)
  func ids(_ kind: StackCase) throws {
    let stack = try kind.make()
    let context = stack.container.newBackgroundContext()
    let temporary = Recorder<Bool>()
    let observer = context.observe(ManagedObjectContext.didSaveObjectIDsNotification) { note in
      let ids = note.userInfo?[Key.insertedObjectIDs.rawValue] as? Set<ManagedObjectID> ?? []
      for id in ids { temporary.note(id.isTemporaryID) }
    }
    defer { observer.cancel() }
    try stack.insert("Ada", in: context)
    try stack.insert("Bob", in: context)
    try stack.save(context)
    #expect(temporary.items == [kind.isNested, kind.isNested])
  }

  @Test("of what is merged, objects that are held are refreshed, and others aren't made", arguments: StoreKind.allCases)
  func held(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let people = try (1...10).map { try writer.person("P\($0)") }
    try writer.save()
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (changes, observer) = observe(ManagedObjectContext.didChangeObjectsNotification, context)
    defer { observer.cancel() }
    let ids = people[0...1].map(\.objectID)
    context.performAndWait { context in
      context.automaticallyMergesChangesFromParent = true
      context.userInfo["held"] = ids.map { context.object(with: $0) }
      for id in ids { context.object(with: id).willAccessValue(forKey: nil) }
    }
    people[2].age = 3
    try writer.save()
    writer.delete(people[5])
    try writer.save()
    context.performAndWait { _ in }
    #expect(changes.items.isEmpty)
    people[1].age = 2
    try writer.save()
    context.performAndWait { _ in }
    #expect(changes.items == ["refreshedObjects 1"])
    try context.performAndWait { context in
      (context.object(with: ids[1]) as? Person)?.age = 4
      try context.save()
    }
    context.performAndWait { _ in }
    #expect(changes.items == ["refreshedObjects 1", "updatedObjects 1"], "its own save isn't merged again")
  }

  @Test("a merge refreshes, inserts, and leaves nothing to save", arguments: StoreKind.allCases)
  func merged(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let view = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try view.performAndWait { view in
      view.retainsRegisteredObjects = true
      try view.person("Ada")
      try view.person("Bob")
      try view.save()
    }
    let (changes, first) = observe(ManagedObjectContext.didChangeObjectsNotification, view)
    let (saves, second) = observe(ManagedObjectContext.didSaveObjectsNotification, view)
    let (merges, third) = observe(ManagedObjectContext.didMergeChangesObjectIDsNotification, view)
    defer { for observer in [first, second, third] { observer.cancel() } }
    let writer = stack.context()
    for person in try writer.all(Person.self) { person.name?.append(" II") }
    try writer.person("Cid")
    let save = try #require(try writer.saveAndTell())
    try view.performAndWait { view in
      view.mergeChanges(fromContextDidSave: save)
      #expect(!view.hasChanges && view.insertedObjects.isEmpty)
      try view.save()
      #expect(try view.all(Person.self, sortedBy: "name").map(\.name) == ["Ada II", "Bob II", "Cid"])
    }
    #expect(changes.items == ["insertedObjects 1, refreshedObjects 2"])
    #expect(merges.items == ["insertedObjectIDs 1, updatedObjectIDs 2, refreshedObjectIDs 2"])
    #expect(saves.items == [""])
  }

  @Test(
    "the objects of an entity, with or without those of its subentities, can be told apart",
    arguments: StoreKind.allCases)
  func entities(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    var found: [Int] = []
    let observation = context.observeChanges { changes in
      guard let person = context.model.entitiesByName["Person"] else { return }
      found = [
        changes.inserted.filter { $0.entity == person }.count,
        changes.inserted.filter { $0.entity.isKindOf(person) }.count,
        changes.inserted.filter { $0 is Manager }.count,
      ]
    }
    defer { observation.cancel() }
    try context.person("Ada")
    try context.insert(Manager.self).name = "Bob"
    try context.company("Acme")
    context.processPendingChanges()
    #expect(found == [1, 2, 1])
  }

  @Test("members that are given to an owner are updated, and saved so", arguments: StoreKind.allCases)
  func members(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, bob, acme) = (try context.person("Ada"), try context.person("Bob"), try context.company("Acme"))
    try context.save()
    var updated: Set<ManagedObject> = []
    let observation = context.observeChanges { updated = Set($0.updated) }
    defer { observation.cancel() }
    acme.employees = [ada, bob]
    let save = try context.saveAndTell()
    #expect(updated == [ada, bob, acme])
    #expect(Set(try #require(save?.updatedObjectIDs)) == Set([ada, bob, acme].map(\.objectID)))
    #expect(ada.employer === acme && bob.employer === acme)
  }
}
