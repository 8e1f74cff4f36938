import Foundation
import ManagedObjects
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

/// Passes each object on once, until it is done with it: what a sync engine keeps of objects in progress.
private struct Progressing {
  private var objects: Set<ManagedObject> = []

  mutating func take(_ candidates: [ManagedObject]) -> [ManagedObject] {
    candidates.filter { objects.insert($0).inserted }
  }
  mutating func finish(_ done: [ManagedObject]) { objects.subtract(done) }
}

/// What the tests of objc.io's Moody say of its synchronisation.
@Suite("Passing on what has changed here")
struct LocalChangesTests {
  @Test("a save of one context brings another its own objects, new and changed ones", arguments: StoreKind.allCases)
  func toAnotherContext(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let view = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "view")
    let sync = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "sync")
    let arrived = Recorder<[String]>()
    let observer = view.observe(ManagedObjectContext.didSaveObjectsNotification) { note in
      guard let save = ContextSave(note) else { return }
      sync.perform { sync in
        sync.mergeChanges(fromContextDidSave: save)
        let ids = save.insertedObjectIDs + save.updatedObjectIDs
        let people = ids.compactMap { sync.object(with: $0) as? Person }
        #expect(people.allSatisfy { $0.managedObjectContext === sync && !$0.hasChanges })
        arrived.note(people.compactMap(\.name))
      }
    }
    defer { observer.cancel() }
    let id = try await view.perform { view in
      let ada = try view.person("Ada")
      try view.save()
      return ada.objectID
    }
    let kept = Mutex<ObjectIdentifier?>(nil)
    sync.performAndWait { sync in
      sync.retainsRegisteredObjects = true
      kept.withLock { $0 = ObjectIdentifier(sync.object(with: id)) }
    }
    try await view.perform { view in
      (view.object(with: id) as? Person)?.name = "Eve"
      try view.save()
    }
    let isSame = sync.performAndWait { sync in ObjectIdentifier(sync.object(with: id)) == kept.withLock { $0 } }
    #expect(isSame && arrived.items == [["Ada"], ["Eve"]])
  }

  /// The objects of the request's entity that match its predicate.
  private func matches(_ request: FetchRequest<Person>, _ objects: [ManagedObject]) throws -> [ManagedObject] {
    try objects.filter { object in
      guard object.entity.name == request.entityName, let predicate = request.predicate else { return false }
      return try predicate.evaluate(with: object)
    }
  }

  @Test("objects are chosen by entity and predicate, in memory and by a fetch", arguments: StoreKind.allCases)
  func chosen(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, also, bob) = (try context.person("Ada"), try context.person("Ada"), try context.person("Bob"))
    let company = try context.company("Ada")
    try context.save()
    let request = FetchRequest<Person>(
      entityName: "Person", predicate: try FetchPredicate(format: "%K == %@", "name", "Ada"))
    #expect(try matches(request, [ada, also]) == [ada, also])
    #expect(try matches(request, [ada, bob]) == [ada])
    #expect(try matches(request, [ada, company]) == [ada])
    #expect(try Set(context.fetch(request)) == [ada, also])
  }

  @Test("an object is in a set of objects once, however often it is met", arguments: StoreKind.allCases)
  func inProgress(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let people = try ["A1", "B1", "C1", "D1"].map { try context.person($0) as ManagedObject }
    var progress = Progressing()
    // The identity of an object lasts when a save gives it its permanent ID.
    #expect(progress.take(Array(people[0...1])) == Array(people[0...1]))
    try context.save()
    #expect(progress.take(Array(people[0...1])).isEmpty)
    #expect(progress.take([people[2], people[0], people[1], people[3]]) == [people[2], people[3]])
    progress.finish([people[0], people[2]])
    #expect(progress.take(people) == [people[0], people[2]])
    context.refreshAllObjects()
    let again = try context.all(Person.self, sortedBy: "name") as [ManagedObject]
    #expect(progress.take(again).isEmpty, "a fetch brings the same objects")
  }

  @Test("a finished object is passed on again if it still matches", arguments: StoreKind.allCases)
  func finished(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let request = FetchRequest<Person>(entityName: "Person", predicate: .equal("name", "Ada"))
    let ada = try context.person("Ada")
    try context.save()
    var progress = Progressing()
    #expect(try progress.take(matches(request, [ada])) == [ada])
    #expect(try progress.take(matches(request, [ada])).isEmpty)
    progress.finish([ada])
    #expect(try progress.take(matches(request, [ada])) == [ada])
    ada.name = "Bob"
    try context.save()
    progress.finish([ada])
    #expect(try progress.take(matches(request, [ada])).isEmpty)
    ada.name = "Ada"
    try context.save()
    #expect(try progress.take(matches(request, [ada])) == [ada])
  }
}
