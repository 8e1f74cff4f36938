import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A context that gets its coordinator or parent after it was made")
struct TwoStepContextTests {
  @Test("fetches from its coordinator and saves to it", arguments: StoreKind.allCases)
  func coordinator(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = ContextQueue(.privateQueue, name: "two steps")
    context.persistentStoreCoordinator = stack.coordinator
    #expect(context.parent == nil && context.model === stack.coordinator.model)
    try context.performAndWait { context in
      _ = try context.person("Ada")
      try context.save()
    }
    #expect(try stack.context().all(Person.self).compactMap(\.name) == ["Ada"])
  }

  @Test("saves into its parent, and gets the permanent IDs from it", arguments: StoreKind.allCases)
  func parent(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let child = ManagedObjectContext(.confinement)
    child.parent = parent.queue
    #expect(child.persistentStoreCoordinator === stack.coordinator && child.parent == parent.queue)
    let ada = try child.person("Ada")
    try child.save()
    #expect(try parent.all(Person.self).count == 1 && ada.objectID.isTemporaryID)
    try parent.save()
    child.performAndWait { _ in }
    #expect(!ada.objectID.isTemporaryID)
  }

  @Test("takes the coordinator that its parent gets later", arguments: StoreKind.allCases)
  func parentFirst(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = ManagedObjectContext(.confinement)
    let child = ManagedObjectContext(.confinement, parent: parent, name: "early")
    #expect(throws: PersistentStoreError.noCoordinator(context: "early")) { try child.insert("Person") }
    parent.persistentStoreCoordinator = stack.coordinator
    #expect(child.persistentStoreCoordinator === stack.coordinator && child.model === stack.coordinator.model)
    try child.person("Ada")
    try child.save()
    try parent.save()
    #expect(try stack.context().all(Person.self).compactMap(\.name) == ["Ada"])
  }

  @Test("merges automatically, also when that was set first")
  func following() throws {
    let stack = try CompanyStack(.inMemory)
    let context = ContextQueue(.privateQueue)
    context.performAndWait { context in context.automaticallyMergesChangesFromParent = true }
    context.persistentStoreCoordinator = stack.coordinator
    let writer = stack.context()
    let ada = try writer.person("Ada", age: 1)
    try writer.save()
    let id = ada.objectID
    let followed = try context.performAndWait { context in
      context.retainsRegisteredObjects = true
      return try context.existingObject(with: id).value(forKey: "age")
    }
    #expect(followed == .int(1))
    ada.age = 2
    try writer.save()
    #expect(
      try context.performAndWait { context in try context.existingObject(with: id).value(forKey: "age") } == .int(2))
  }

  @Test("finds no entity before, and says what it lacks")
  func neither() throws {
    let context = ManagedObjectContext(.confinement, name: "lonely")
    #expect(throws: PersistentStoreError.noCoordinator(context: "lonely")) { try context.insert("Person") }
    #expect(throws: PersistentStoreError.noCoordinator(context: "lonely")) {
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    }
    #expect("\(PersistentStoreError.noCoordinator(context: "lonely"))".contains("lonely"))
    try context.save()
  }

  @Test("a request of any kind is executed by one method", arguments: StoreKind.allCases)
  func requests(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    _ = try context.person("Ada")
    try context.save()
    func outcome<Request: PersistentStoreRequest>(_ request: Request) throws -> Request.Outcome {
      try context.execute(request)
    }
    #expect(try outcome(FetchRequest<Person>(entityName: "Person")).compactMap(\.name) == ["Ada"])
    var update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": .constant(.int(36))]
    update.resultType = .count
    #expect(try outcome(update).count == 1)
    context.reset()
    #expect(try outcome(FetchRequest<Person>(entityName: "Person")).map(\.age) == [36])
    _ = try outcome(BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Person")))
    #expect(try stack.context().all(Person.self).isEmpty)
  }
}
