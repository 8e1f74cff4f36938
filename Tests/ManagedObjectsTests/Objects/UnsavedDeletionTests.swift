import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Objects that are deleted before they were ever saved")
struct UnsavedDeletionTests {
  @Test("delete rules wait for the save when they aren't applied at the end of an event", arguments: StoreKind.allCases)
  func untilSave(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    context.propagatesDeletesAtEndOfEvent = false
    let (acme, ada) = (try context.company("Acme"), try context.person("Ada"))
    let office = try context.insert(Department.self)
    (ada.employer, office.company) = (acme, acme)
    context.processPendingChanges()
    context.delete(acme)
    context.processPendingChanges()
    #expect(acme.isDeleted && context.deletedObjects == [acme] && !office.isDeleted && ada.employer == acme)
    try context.save()
    #expect(acme.managedObjectContext == nil && office.managedObjectContext == nil && ada.employer == nil)
    #expect(!context.hasChanges && context.deletedObjects.isEmpty)
  }

  @Test("a save without other changes applies the rules, to saved objects too", arguments: StoreKind.allCases)
  func savedDependents(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (former, office) = (try context.company("Former"), try context.insert(Department.self))
    office.company = former
    try context.save()
    let acme = try context.company("Acme")
    office.company = acme
    context.delete(acme)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try stack.context().all(Department.self).isEmpty)
    #expect(try stack.context().all(Company.self).map(\.name) == ["Former"])
  }

  @Test(
    "a new object that was deleted is neither fetched nor counted, and not announced", arguments: StoreKind.allCases)
  func unseen(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    var changes: [ContextChanges] = []
    let observation = context.observeChanges { changes.append($0) }
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    context.delete(ada)
    #expect(try context.all(Person.self) == [bob])
    #expect(try context.count(for: FetchRequest<Person>(entityName: "Person")) == 1)
    context.processPendingChanges()
    #expect(changes.map(\.inserted) == [[bob]] && changes.map(\.deleted) == [[]])
    context.delete(bob)
    context.processPendingChanges()
    #expect(changes.last?.deleted == [bob] && !context.hasChanges)
    observation.cancel()
  }

  @Test("a rollback and a reset drop them", arguments: StoreKind.allCases)
  func dropped(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    context.delete(ada)
    context.rollback()
    #expect(ada.managedObjectContext == nil && !ada.isDeleted && !context.hasChanges)
    let bob = try context.person("Bob")
    context.delete(bob)
    context.reset()
    #expect(bob.managedObjectContext == nil && !bob.isDeleted && !context.hasChanges)
  }

  @Test("such a deletion is undone", arguments: StoreKind.allCases)
  func undone(_ kind: StoreKind) throws {
    for propagates in [true, false] {
      let stack = try CompanyStack(kind)
      let context = stack.context()
      context.propagatesDeletesAtEndOfEvent = propagates
      context.undoManager = UndoManager()
      let (acme, ada) = (try context.company("Acme"), try context.person("Ada"))
      ada.employer = acme
      context.processPendingChanges()
      context.delete(ada)
      context.processPendingChanges()
      #expect(ada.isDeleted == !propagates)
      context.undo()
      #expect(ada.isInserted && ada.employer == acme && acme.employees == [ada])
      try context.save()
      #expect(try stack.context().named("Ada", Person.self)?.employer?.name == "Acme")
    }
  }

  @Test("a child's deletion of its parent's new object reaches the parent", arguments: StoreKind.allCases)
  func inParent(_ kind: StoreKind) throws {
    let parent = try CompanyStack(kind).context()
    let ada = try parent.person("Ada")
    let child = ManagedObjectContext(.confinement, parent: parent)
    child.delete(child.object(with: ada.objectID))
    try child.save()
    #expect(parent.insertedObjects.isEmpty)
    try parent.save()
    #expect(ada.managedObjectContext == nil)
    #expect(try parent.all(Person.self).isEmpty)
  }

  @Test("a new object that is refreshed without its changes is a fault without a row", arguments: StoreKind.allCases)
  func refreshed(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, ada) = (try context.company("Acme"), try context.person("Ada", age: 30))
    ada.employer = acme
    context.refresh(ada, mergeChanges: true)
    #expect(ada.isInserted && !ada.isFault && ada.age == 30)
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault && ada.isDeleted && acme.employees.isEmpty)
    #expect(ada.age == nil && !ada.isFault)
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault)
    try context.save()
    #expect(ada.managedObjectContext == nil)
    #expect(try stack.context().all(Person.self).isEmpty)
  }
}

@Suite("Long chains of objects")
struct LongChainTests {
  private static let length = 100_000

  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Link",
          relationships: [
            RelationshipDefinition("next", to: "Link", inverse: "previous", deleteRule: .cascade),
            RelationshipDefinition("previous", to: "Link", inverse: "next", deleteRule: .nullify),
          ])
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private func chain(_ length: Int = Self.length, in context: ManagedObjectContext) throws -> ManagedObject {
    let links = try (0..<length).map { _ in try context.insert("Link") }
    for (link, next) in zip(links, links.dropFirst()) {
      try link.setValue(.object(next.objectID), forKey: "next")
    }
    return links[0]
  }

  @Test("deleting the first of 100,000 new objects deletes all, and an undo brings them back")
  func unsaved() throws {
    let context = try CompanyStack(.inMemory, model: Self.model).context()
    context.undoManager = UndoManager()
    let first = try chain(in: context)
    context.processPendingChanges()
    context.delete(first)
    context.processPendingChanges()
    #expect(context.insertedObjects.isEmpty && context.registeredObjects.isEmpty && !context.hasChanges)
    context.undo()
    #expect(context.insertedObjects.count == Self.length)
    context.redo()
    #expect(context.insertedObjects.isEmpty)
    context.undoManager = nil
  }

  @Test("deleting the first of 10,000 saved objects deletes all")
  func saved() throws {
    let stack = try CompanyStack(.inMemory, model: Self.model)
    let context = stack.context()
    let first = try chain(10_000, in: context)
    try context.save()
    context.delete(first)
    try context.save()
    #expect(try stack.context().count(for: FetchRequest<ManagedObject>(entityName: "Link")) == 0)
    #expect(context.registeredObjects.isEmpty)
  }

  @Test("100,000 objects that refer to each other are refreshed, rolled back and released")
  func released() throws {
    let stack = try CompanyStack(.inMemory, model: Self.model)
    let context = stack.context()
    try chain(in: context).managedObjectContext?.save()
    for link in try context.fetch(FetchRequest<ManagedObject>(entityName: "Link")) {
      try link.setValue(.null, forKey: "next")
    }
    context.rollback()
    context.refreshAllObjects()
    #expect(!context.hasChanges)
    context.reset()
    #expect(context.registeredObjects.isEmpty)
  }
}
