import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merging notifications that list objects")
struct NotificationMergeTests {
  private typealias Key = ManagedObjectContext.NotificationKey

  private func notification(_ changes: [Key: Any]) -> Notification {
    Notification(
      name: ManagedObjectContext.didSaveObjectsNotification, object: nil,
      userInfo: Dictionary(uniqueKeysWithValues: changes.map { ($0.key.rawValue as AnyHashable, $0.value) }))
  }

  /// Merges a notification, and returns what couldn't be merged.
  private func merge(_ notification: Notification, into context: ManagedObjectContext) -> [MergeProblem] {
    var found: [MergeProblem] = []
    context.mergeProblemHandler = { found += $0 }
    context.mergeChanges(fromContextDidSave: notification)
    context.mergeProblemHandler = nil
    return found
  }

  @Test("one made by hand brings in what it lists: objects, IDs or URIs", arguments: StackCase.all, 0..<4)
  func handMade(_ kind: StackCase, _ form: Int) async throws {
    let stack = try kind.make()
    let (ada, bob) = (try await stack.savedPerson("Ada", age: 30), try await stack.savedPerson("Bob", age: 20))
    #expect(stack.age(of: ada, in: stack.view) == 30 && stack.age(of: bob, in: stack.view) == 20)
    // Another program changes the store: no context announces it.
    let other = ContextQueue(.privateQueue, coordinator: stack.company.coordinator)
    let changes = try other.performAndWait { other in
      let (first, second) = (
        try #require(try other.named("Ada", Person.self)), try #require(try other.named("Bob", Person.self))
      )
      first.age = 31
      other.delete(second)
      try other.save()
      let updated: Any =
        switch form {
        case 0: Set([first as ManagedObject])
        case 1: Set([first.objectID])
        case 2: [first.objectID.uriRepresentation]
        default: NSSet(object: first.objectID.uriRepresentation)
        }
      let key = form == 1 ? Key.updatedObjectIDs : .updatedObjects
      return SentNotification(notification([key: updated, .deletedObjectIDs: [second.objectID]]))
    }
    for context in [stack.container.writerContext, stack.view].compactMap({ $0 }) {
      #expect(context.performAndWait { context in merge(changes.value, into: context) } == [])
    }
    #expect(stack.age(of: ada, in: stack.view) == 31)
    #expect(try stack.names(in: stack.view) == ["Ada 31"])
  }

  @Test("what can't be merged is named, and the rest is merged", arguments: StoreKind.allCases)
  func problems(_ kind: StoreKind) throws {
    let (stack, strange) = (try CompanyStack(kind), try CompanyStack(kind))
    let (here, there, foreign) = (stack.context(), stack.context(), strange.context())
    let (ada, eve) = (try there.person("Ada", age: 30), try foreign.person("Eve"))
    try there.save()
    try foreign.save()
    let mine = try #require(try here.named("Ada", Person.self))
    ada.age = 31
    try there.save()
    let new = try there.person("New")
    let found = merge(
      notification([
        .insertedObjects: Set([new as ManagedObject]), .updatedObjectIDs: [ada.objectID, eve.objectID],
        .refreshedObjects: "nonsense", .deletedObjects: [7],
      ]), into: here)
    #expect(mine.age == 31)
    #expect(
      Set(found) == [
        .temporaryID(new.objectID), .otherStore(eve.objectID), .notAnObject("nonsense", key: "refreshed"),
        .notAnObject("7", key: "deleted"),
      ])
    #expect(found.allSatisfy { !"\($0)".isEmpty })
    let nothing = Notification(name: .init("another"))
    #expect(merge(nothing, into: here) == [.noChanges(notification: "another")])
    #expect(merge(notification([.insertedObjects: [ManagedObjectID]()]), into: here) == [])
  }

  @Test("rows that can't be read are named, and read again later", arguments: StoreKind.allCases)
  func unreadable(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (ada, acme) = (try there.person("Ada", age: 30), try there.company("Acme"))
    ada.employer = acme
    try there.save()
    let mine = try #require(try here.named("Ada", Person.self))
    let company = try #require(try here.named("Acme", Company.self))
    #expect(company.employees == [mine])
    ada.age = 31
    ada.employer = nil
    try there.save()
    stack.breaker.isBroken = true
    let found = merge(notification([.updatedObjectIDs: [ada.objectID]]), into: here)
    #expect(found == [.unreadable(reason: "\(Breaker.error)")])
    stack.breaker.isBroken = false
    #expect(mine.isFault && mine.age == 31 && company.employees.isEmpty)
  }

  @Test("when everything is invalid, everything is read again", arguments: StoreKind.allCases)
  func everything(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let mine = try #require(try here.named("Ada", Person.self))
    ada.age = 31
    try there.save()
    #expect(merge(notification([.invalidatedAllObjects: true]), into: here) == [])
    #expect(mine.isFault && mine.age == 31)
  }

  @Test("a save of another coordinator on the same file is merged by its IDs")
  func otherCoordinator() throws {
    let stack = try CompanyStack(.sqlite)
    let there = ManagedObjectContext(.confinement, coordinator: try stack.secondCoordinator())
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let here = stack.context()
    let mine = try #require(try here.named("Ada", Person.self))
    ada.age = 31
    let save = try #require(try there.saveAndTell())
    here.mergeChanges(fromContextDidSave: save)
    #expect(mine.age == 31)
  }
}

/// A notification that a test takes from one queue to another.
private struct SentNotification: @unchecked Sendable {
  // Sendable: the receiver reads IDs only.
  let value: Notification
  init(_ value: Notification) { self.value = value }
}
