import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merging changes of which only IDs are known")
struct RemoteMergeTests {
  private typealias Key = ManagedObjectContext.NotificationKey

  @Test("IDs and URIs, in arrays and sets, bring in what was changed", arguments: StoreKind.allCases)
  func merges(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (ada, bob, gone) = (try there.person("Ada", age: 30), try there.person("Bob"), try there.person("Gone"))
    let (acme, mill) = (try there.company("Acme"), try there.company("Mill"))
    let red = try there.insert(Project.self)
    ada.employer = acme
    gone.employer = acme
    red.members = [ada, gone]
    try there.save()
    let here = stack.context()
    let people = try here.all(Person.self, sortedBy: "name")
    let companies = try here.all(Company.self, sortedBy: "name")
    let project = try #require(try here.all(Project.self).first)
    #expect(companies.map(\.employees.count) == [2, 0] && project.members.count == 2)
    people[1].email = "mine@example.org"

    ada.age = 31
    ada.employer = mill
    bob.email = "theirs@example.org"
    red.members = [bob]
    there.delete(gone)
    let new = try there.person("New")
    new.employer = acme
    try there.save()
    let updated: [Any] = [ada.objectID, bob.objectID.uriRepresentation, red.objectID.uriRepresentation.absoluteString]
    let reads = stack.reads.items.count
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        Key.insertedObjects.rawValue: Set([new.objectID]), Key.updatedObjectIDs.rawValue: updated,
        Key.deletedObjects.rawValue: [gone.objectID],
      ], into: [here])
    #expect(stack.reads.items.count <= reads + 2, "one read for each entity")
    #expect(people[0].age == 31 && people[0].employer == companies[1])
    #expect(people[1].email == "mine@example.org")
    #expect(people[1].committedValues(forKeys: ["email"]) == ["email": .string("theirs@example.org")])
    #expect(people[2].managedObjectContext == nil)
    #expect(companies[0].employees.map(\.name) == ["New"] && companies[1].employees == [people[0]])
    #expect(project.members == [people[1]])
    try here.save()
  }

  @Test("rows are read once for all contexts, and parents come before their children", arguments: StoreKind.allCases)
  func once(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let (main, other) = (stack.context("main"), stack.context("other"))
    let child = ManagedObjectContext(.confinement, parent: main, name: "child")
    let mine = [main, other, child].map { $0.object(with: ada.objectID) as? Person }
    #expect(mine.map { $0?.age } == [30, 30, 30])
    ada.age = 31
    try there.save()
    let order = Recorder<String>()
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didMergeChangesObjectIDsNotification, object: nil, queue: nil
    ) { note in
      let context = note.object as? ManagedObjectContext
      if context?.persistentStoreCoordinator === stack.coordinator { order.note(context?.name ?? "") }
    }
    let reads = stack.reads.items.count
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [Key.updatedObjects.rawValue: [ada.objectID]], into: [child, other, main])
    NotificationCenter.default.removeObserver(observer)
    #expect(stack.reads.items.count == reads + 1)
    #expect(mine.map { $0?.age } == [31, 31, 31])
    #expect(order.items.last == "child" && Set(order.items) == ["main", "other", "child"])
  }

  @Test(
    "a row that is gone by now is taken as deleted; other stores' IDs are left alone", arguments: StoreKind.allCases)
  func strange(_ kind: StoreKind) throws {
    let (stack, strange) = (try CompanyStack(kind), try CompanyStack(kind))
    let (there, foreign) = (stack.context(), strange.context())
    let (ada, eve) = (try there.person("Ada"), try foreign.person("Eve"))
    try there.save()
    try foreign.save()
    let here = stack.context()
    let mine = try #require(try here.all(Person.self).first)
    let theirs = eve.objectID
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [Key.deletedObjects.rawValue: [theirs], Key.updatedObjects.rawValue: ["nonsense"]],
      into: [here])
    #expect(mine.managedObjectContext != nil)
    there.delete(ada)
    try there.save()
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [Key.updatedObjects.rawValue: [ada.objectID]], into: [here])
    #expect(mine.managedObjectContext == nil)
  }

  @Test("when everything is invalid, everything is read again", arguments: StoreKind.allCases)
  func everything(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let mine = try #require(try here.all(Person.self).first)
    ada.age = 31
    try there.save()
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [Key.invalidatedAllObjects.rawValue: true], into: [here])
    #expect(mine.isFault && mine.age == 31)
  }

  @Test("a store that can't be read is an error, and changes nothing", arguments: StoreKind.allCases)
  func broken(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let ada = try there.person("Ada", age: 30)
    try there.save()
    stack.breaker.isBroken = true
    #expect(throws: Breaker.error) {
      try ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [Key.updatedObjects.rawValue: [ada.objectID]], into: [there])
    }
    #expect(ada.age == 30 && !ada.isFault)
  }
}
