import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Inspecting an object")
struct InspectingTests {
  @Test("committed and changed values, of the event and since the save", arguments: StoreKind.allCases)
  func values(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada", age: 30)
    #expect(ada.committedValues(forKeys: nil).isEmpty && ada.hasPersistentChangedValues)
    #expect(ada.changedValuesForCurrentEvent() == ["name": .string("nobody"), "age": .null])
    try context.save()
    #expect(ada.changedValuesForCurrentEvent().isEmpty && !ada.hasPersistentChangedValues)
    ada.age = 31
    context.processPendingChanges()
    ada.age = 32
    ada.age = 33
    #expect(ada.changedValuesForCurrentEvent() == ["age": .int(31)])
    #expect(ada.committedValues(forKeys: ["age", "name"]) == ["age": .int(30), "name": .string("Ada")])
    #expect(ada.changedValues() == ["age": .int(33)] && ada.hasPersistentChangedValues)
    ada.age = 30
    #expect(!ada.hasPersistentChangedValues)
    let (untouched, changed) = (try context.person("Untouched"), try context.person("Changed"))
    try context.save()
    changed.age = 1
    context.delete(untouched)
    context.delete(changed)
    #expect(untouched.hasChanges && !untouched.hasPersistentChangedValues && changed.hasPersistentChangedValues)
  }

  @Test("a new object that changes after it was announced is announced as changed", arguments: StoreKind.allCases)
  func insertedThenChanged(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    var received: [String] = []
    let observation = context.observeChanges { changes in
      received.append("\(changes.inserted.count) \(changes.updated.count) \(changes.deleted.count)")
    }
    let ada = try context.person("Ada")
    context.processPendingChanges()
    ada.age = 1
    context.processPendingChanges()
    context.delete(ada)
    context.processPendingChanges()
    context.delete(try context.person("Bob"))
    context.processPendingChanges()
    #expect(received == ["1 0 0", "0 1 0", "0 0 1"], "an object inserted and deleted at once isn't announced")
    observation.cancel()
    try context.person("Cid")
    context.processPendingChanges()
    #expect(received.count == 3)
  }

  @Test("faults and relationships are looked at without reading", arguments: StoreKind.allCases)
  func faults(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (acme, ada) = (try writer.company("Acme"), try writer.person("Ada"))
    ada.employer = acme
    try writer.save()
    let context = stack.context()
    let company = context.object(with: acme.objectID)
    let reads = stack.reads.items
    #expect(company.faultingState != 0 && company.hasFault(forRelationshipNamed: "employees"))
    #expect(company.primitiveValue(forKey: "name") == nil)
    #expect(stack.reads.items == reads)
    company.willAccessValue(forKey: nil)
    #expect(company.faultingState == 0 && company.primitiveValue(forKey: "name") == .string("Acme"))
    #expect(company.hasFault(forRelationshipNamed: "employees"))
    #expect(company.primitiveValue(forKey: "employees") == nil)
    #expect(company.objectIDs(forRelationshipNamed: "employees") == [ada.objectID])
    #expect(!company.hasFault(forRelationshipNamed: "employees") && !company.hasFault(forRelationshipNamed: "name"))
    let person = context.object(with: ada.objectID)
    #expect(person.objectIDs(forRelationshipNamed: "employer") == [acme.objectID])
    #expect(person.objectIDs(forRelationshipNamed: "name").isEmpty)
  }

  @Test("a primitive value is no change, and is saved with the next one", arguments: StoreKind.allCases)
  func primitives(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada", age: 30)
    try context.save()
    try ada.setPrimitiveValue(.int(31), forKey: "age")
    #expect(ada.age == 31 && !context.hasChanges)
    ada.name = "Eve"
    try context.save()
    #expect(try stack.context().named("Eve", Person.self)?.age == 31)
    #expect(throws: ManagedObjectError.self) { try ada.setPrimitiveValue(.string("x"), forKey: "age") }
    #expect(throws: ManagedObjectError.self) { try ada.setPrimitiveValue(.string("x"), forKey: "employer") }
    try ada.setPrimitiveValue(.null, forKey: "employer")
    #expect(!ada.hasChanges)
  }

  @Test(
    "an object whose row is gone is deleted, or stays a fault if the context says so", arguments: StoreKind.allCases)
  func inaccessible(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (ada, bob) = (try writer.company("Acme"), try writer.company("Mill"))
    try writer.save()
    let context = stack.context()
    let mine = [ada, bob].map { context.object(with: $0.objectID) }
    writer.delete(ada)
    writer.delete(bob)
    try writer.save()
    var gone: [ManagedObject] = []
    let observation = context.observeChanges { gone += $0.invalidated }
    context.shouldDeleteInaccessibleFaults = false
    mine[0].willAccessValue(forKey: nil)
    #expect(mine[0].isFault)
    #expect(throws: ManagedObjectError.objectNotFound(ada.objectID)) { try context.all(Company.self) }
    context.shouldDeleteInaccessibleFaults = true
    #expect(mine[1].value(forKey: "name") == .null && mine[1].isDeleted)
    context.processPendingChanges()
    #expect(gone == [mine[1]])
    observation.cancel()
  }
}
