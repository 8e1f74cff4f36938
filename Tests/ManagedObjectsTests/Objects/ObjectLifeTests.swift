import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Objects come, change and go")
struct ObjectLifeTests {
  @Test("a saved object is found by another context with its values", arguments: StoreKind.allCases)
  func insertAndFetch(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada", age: 36, email: "ada@example.org")
    #expect(ada.isInserted && ada.hasChanges && writer.hasChanges)
    try writer.save()
    #expect(!ada.isInserted && !ada.hasChanges && !writer.hasChanges)

    let reader = stack.context()
    let found = try reader.all(Person.self)
    #expect(found.map(\.name) == ["Ada"])
    #expect(found.first?.age == 36)
    #expect(found.first?.email == "ada@example.org")
    #expect(found.first?.objectID == ada.objectID)
    #expect(try reader.count(for: FetchRequest<Person>(entityName: "Person")) == 1)
  }

  @Test("a new object starts with the model's defaults", arguments: StoreKind.allCases)
  func defaults(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    #expect(try context.insert(Person.self).name == "nobody")
    #expect(try context.insert(Sample.self).large == 7)
  }

  @Test("a context that fetches again sees a change once it is saved", arguments: StoreKind.allCases)
  func update(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada")
    try writer.save()
    ada.name = "Ada Lovelace"
    #expect(ada.isUpdated)
    #expect(try stack.context().all(Person.self).first?.name == "Ada")
    try writer.save()
    #expect(!ada.isUpdated)
    #expect(try stack.context().all(Person.self).first?.name == "Ada Lovelace")
  }

  @Test("a deleted object is gone after the save, and has no context", arguments: StoreKind.allCases)
  func delete(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    try context.save()
    context.delete(ada)
    #expect(ada.isDeleted && context.deletedObjects == [ada])
    #expect(try stack.context().all(Person.self).count == 1)
    try context.save()
    #expect(ada.managedObjectContext == nil)
    #expect(try stack.context().all(Person.self).isEmpty)
    #expect(context.deletedObjects.isEmpty)
  }

  @Test("an object deleted before it was ever saved leaves nothing", arguments: StoreKind.allCases)
  func deleteUnsaved(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    let ada = try context.person("Ada")
    ada.employer = acme
    let research = try context.insert(Department.self)
    research.company = acme
    context.delete(acme)
    #expect(acme.isDeleted && context.deletedObjects == [acme] && context.insertedObjects == [ada, research])
    context.processPendingChanges()
    #expect(ada.employer == nil && !acme.isDeleted && acme.managedObjectContext == nil)
    #expect(context.deletedObjects.isEmpty)
    #expect(research.managedObjectContext == nil, "what hangs on it by a cascade goes with it")
    #expect(context.insertedObjects == [ada])
    try context.save()
    #expect(try stack.context().all(Company.self).isEmpty)
    #expect(try stack.context().all(Department.self).isEmpty)
  }

  @Test("rollback takes back insertions, changes and deletions", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    let bob = try context.person("Bob")
    try context.save()
    ada.name = "Changed"
    context.delete(bob)
    let eve = try context.person("Eve")
    context.rollback()
    #expect(ada.name == "Ada" && !ada.isUpdated)
    #expect(!bob.isDeleted && bob.managedObjectContext === context)
    #expect(eve.managedObjectContext == nil)
    #expect(!context.hasChanges)
    #expect(try context.all(Person.self, sortedBy: "name") == [ada, bob])
  }

  @Test("rollback takes back both sides of a relationship, sets read before or after", arguments: StoreKind.allCases)
  func rollbackRelationships(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let first = stack.context()
    let (acme, ada, mill) = (try first.company("Acme"), try first.person("Ada"), try first.insert(Project.self))
    mill.title = "mill"
    try first.save()

    for readsFirst in [true, false] {
      let context = stack.context()
      let company = try #require(context.object(with: acme.objectID) as? Company)
      let person = try #require(context.object(with: ada.objectID) as? Person)
      let project = try #require(context.object(with: mill.objectID) as? Project)
      if readsFirst { #expect(company.employees.isEmpty && project.members.isEmpty) }
      person.employer = company
      person.projects = [project]
      let eve = try context.person("Eve")
      eve.employer = company
      #expect(company.employees == [person, eve])
      #expect(project.members == [person])
      context.rollback()
      #expect(person.employer == nil && company.employees.isEmpty)
      #expect(project.members.isEmpty && person.projects.isEmpty)
    }
  }

  @Test(
    "reset forgets objects and changes; objects that are still held keep their values", arguments: StoreKind.allCases)
  func reset(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    try context.save()
    ada.name = "Changed"
    context.reset()
    #expect(ada.managedObjectContext == nil && ada.name == "Changed")
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    let again = try #require(try context.all(Person.self).first)
    #expect(again !== ada && again.name == "Ada")
  }

  @Test("object(with:) gives a fault, which its first touch fills", arguments: StoreKind.allCases)
  func faults(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let reader = stack.context()
    let fault = reader.object(with: acme.objectID)
    #expect(fault.isFault)
    #expect((fault as? Company)?.name == "Acme")
    #expect(!fault.isFault)
    #expect(reader.object(with: acme.objectID) === fault)
  }

  @Test("object(with:) reads nothing, even if other entities inherit from the object's", arguments: StoreKind.allCases)
  func faultsOfHierarchies(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (ada, boss) = (try writer.person("Ada"), try writer.insert(Manager.self))
    boss.name = "Boss"
    try writer.save()
    let saved = [ada.objectID, boss.objectID]
    let found = try stack.context().fetchIDs(
      FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]))
    #expect(found == saved)
    let fetched = try stack.context().all(Person.self, sortedBy: "name").map(\.objectID)
    for ids in [saved, found, fetched] {
      let reader = stack.context()
      let reads = stack.reads.items.count
      let objects = ids.map { reader.object(with: $0) }
      #expect(stack.reads.items.count == reads)
      #expect(objects.allSatisfy(\.isFault) && type(of: objects[0]) == Person.self && objects[1] is Manager)
      #expect(objects.map { ($0 as? Person)?.name } == ["Ada", "Boss"])
    }
  }

  @Test("existingObject(with:) reads the row, and says when there is none", arguments: StoreKind.allCases)
  func existing(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (acme, gone) = (try writer.company("Acme"), try writer.company("Gone"))
    try writer.save()
    let id = gone.objectID
    writer.delete(gone)
    try writer.save()
    let reader = stack.context()
    #expect(try !reader.existingObject(with: acme.objectID).isFault)
    #expect(throws: ManagedObjectError.objectNotFound(id)) { try reader.existingObject(with: id) }
    let unsaved = try writer.company("Unsaved")
    #expect(throws: ManagedObjectError.objectNotFound(unsaved.objectID)) {
      try reader.existingObject(with: unsaved.objectID)
    }
  }

  @Test("a fault whose row is gone becomes a deleted object without values", arguments: StoreKind.allCases)
  func missingFault(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let reader = stack.context()
    let fault = try #require(reader.object(with: acme.objectID) as? Company)
    writer.delete(acme)
    try writer.save()
    #expect(fault.name == nil && fault.employees.isEmpty)
    #expect(fault.isDeleted && !fault.isFault && reader.deletedObjects == [fault] && reader.hasChanges)
    #expect(try reader.all(Company.self).isEmpty)
    // There is no row to delete, so nothing is in its way.
    try reader.save()
    #expect(fault.managedObjectContext == nil && !reader.hasChanges && reader.registeredObjects.isEmpty)
  }

  @Test("a rollback drops an object whose row is gone", arguments: StoreKind.allCases)
  func missingFaultRolledBack(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let reader = stack.context()
    let fault = try #require(reader.object(with: acme.objectID) as? Company)
    writer.delete(acme)
    try writer.save()
    #expect(fault.name == nil && fault.isDeleted)
    reader.rollback()
    #expect(!reader.hasChanges && !fault.isDeleted && fault.managedObjectContext == nil)
  }

  @Test("existingObject(with:) leaves the context as it is when there is no row", arguments: StoreKind.allCases)
  func missingObject(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (acme, mill) = (try writer.company("Acme"), try writer.company("Mill"))
    try writer.save()
    let reader = stack.context()
    let fault = reader.object(with: acme.objectID)
    let ids = [acme.objectID, mill.objectID]
    writer.delete(acme)
    writer.delete(mill)
    try writer.save()
    for id in ids {
      #expect(throws: ManagedObjectError.objectNotFound(id)) { try reader.existingObject(with: id) }
    }
    #expect(!reader.hasChanges && fault.isFault && reader.registeredObjects == [fault])
  }

  @Test("existingObject(with:) returns an object that is to be deleted", arguments: StoreKind.allCases)
  func existingDeleted(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let acme = try context.company("Acme")
    try context.save()
    let id = acme.objectID
    context.delete(acme)
    #expect(try context.existingObject(with: id) === acme)
    #expect(acme.isDeleted && acme.name == "Acme")
    try context.save()
    #expect(throws: ManagedObjectError.objectNotFound(id)) { try context.existingObject(with: id) }
  }

  @Test("a fault that is deleted here after its row was deleted elsewhere is a conflict", arguments: StoreKind.allCases)
  func deletedFault(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let reader = stack.context()
    let fault = reader.object(with: acme.objectID)
    writer.delete(acme)
    try writer.save()
    reader.delete(fault)
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: acme.objectID, isDeleted: true)])) {
      try reader.save()
    }
    reader.rollback()
    #expect(!reader.hasChanges && !fault.isDeleted)
  }

  @Test("one row is one object, however it is reached", arguments: StoreKind.allCases)
  func uniquing(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let boss = try writer.insert(Manager.self)
    boss.name = "Boss"
    boss.budget = 10
    let acme = try writer.company("Acme")
    boss.employer = acme
    try writer.save()

    let reader = stack.context()
    let company = try #require(reader.object(with: acme.objectID) as? Company)
    let byRelationship = try #require(company.employees.first)
    let byFetch = try #require(try reader.named("Boss", Person.self))
    let bySubentity = try #require(try reader.all(Manager.self).first)
    #expect(byRelationship === byFetch && byFetch === bySubentity)
    #expect(bySubentity.budget == 10 && bySubentity.entity.name == "Manager")
    #expect(reader.object(with: boss.objectID) === byFetch)
    #expect(bySubentity.employer === company)
  }

  @Test("a fetch can leave subentities out", arguments: StoreKind.allCases)
  func subentities(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada")
    try context.insert(Manager.self).name = "Boss"
    let everybody = FetchRequest<Person>(entityName: "Person")
    let plain = FetchRequest<Person>(entityName: "Person", includesSubentities: false)
    for _ in 1...2 {
      #expect(try context.count(for: everybody) == 2)
      #expect(try context.fetch(plain).map(\.name) == ["Ada"])
      try context.save()
      context.reset()
    }
  }

  @Test("an abstract entity and an unknown one are refused by name", arguments: StoreKind.allCases)
  func unknownEntities(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    #expect {
      try context.insert("Persn")
    } throws: {
      "\($0)".contains("no entity Persn") && "\($0)".contains("Person")
    }
  }
}
