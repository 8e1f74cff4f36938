import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// MagicalRecord's class methods, with a context given.
@Suite("Finding by class")
struct FinderTests {
  private func people(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for (name, age) in [("Ada", 36), ("Bo", 20), ("Cy", 36), ("Di", 51)] {
      try context.person(name, age: Int32(age), email: "\(name)@example.org")
    }
    let manager = try context.insert(Manager.self)
    manager.name = "Eve"
    try context.save()
    return (stack, context)
  }

  @Test("finds all, in an order, and those that match", arguments: StoreKind.allCases)
  func all(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try Person.findAll(in: context).count == 5)
    #expect(try Person.findAll(sortedBy: "age:NO,name", in: context).map(\.name) == ["Di", "Ada", "Cy", "Bo", "Eve"])
    #expect(try Person.findAll(sortedBy: "name", ascending: false, in: context).first?.name == "Eve")
    let grown = try FetchPredicate(format: "age > 30")
    #expect(try Person.findAll(sortedBy: "name", matching: grown, in: context).map(\.name) == ["Ada", "Cy", "Di"])
    #expect(
      try Person.find(by: "age", with: 36, orderedBy: "name", ascending: false, in: context).map(\.name) == [
        "Cy", "Ada",
      ])
    #expect(try Manager.findAll(in: context).map(\.name) == ["Eve"])
  }

  @Test("finds the first, or makes it", arguments: StoreKind.allCases)
  func first(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try Person.findFirst(orderedBy: "age:NO", in: context)?.name == "Di")
    #expect(try Person.findFirst(by: "name", with: "Bo", in: context)?.age == 20)
    #expect(try Person.findFirst(by: "name", with: "Zo", in: context) == nil)
    let bo = try Person.findFirstOrCreate(by: "name", with: "Bo", in: context)
    #expect(!bo.isInserted)
    let zo = try Person.findFirstOrCreate(by: "name", with: "Zo", in: context)
    #expect(zo.isInserted && zo.name == "Zo")
    #expect(try Person.findFirstOrCreate(by: "name", with: "Zo", in: context) === zo)
  }

  @Test("tells the entity's name, and fetches a controller's objects", arguments: StoreKind.allCases)
  func entityName(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try Person.entityName(in: context) == "Person" && Manager.entityName() == "Manager")
    let request = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")])
    let controller = Person.fetchController(request, in: context)
    #expect(Person.performFetch(controller) && controller.fetchedObjects?.count == 5)
  }

  @Test("counts, and finds the least and the greatest", arguments: StoreKind.allCases)
  func counts(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try Person.countOfEntities(in: context) == 5)
    #expect(try Person.countOfEntities(matching: .equal("age", .int(36)), in: context) == 2)
    #expect(try Person.hasAtLeastOneEntity(in: context))
    #expect(try !Desk.hasAtLeastOneEntity(in: context))
    #expect(try Person.objectWithMinValue(for: "age", in: context)?.name == "Bo")
    #expect(try Person.objectWithMaxValue(for: "age", in: context)?.name == "Di")
    #expect(try Manager.objectWithMinValue(for: "age", in: context) == nil)
  }

  @Test("deletes one, those that match, and all, by the model's rules", arguments: StoreKind.allCases)
  func deletes(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try Person.findFirst(by: "name", with: "Bo", in: context)?.deleteEntity() == true)
    #expect(try Person.deleteAll(matching: .equal("age", .int(36)), in: context) == 2)
    try context.save()
    #expect(try Person.findAll(sortedBy: "name", in: context).map(\.name) == ["Di", "Eve"])
    let company = try Company.createEntity(in: context)
    company.name = "Ltd"
    let department = try Department.createEntity(in: context)
    department.company = company
    try context.save()
    #expect(try Company.truncateAll(in: context) == 1)
    try context.save()
    #expect(try Department.countOfEntities(in: context) == 0)
  }

  @Test("takes an object to another context, once it is saved", arguments: StoreKind.allCases)
  func inContext(_ kind: StoreKind) throws {
    let (stack, context) = try people(kind)
    let other = stack.context()
    let ada = try #require(try Person.findFirst(by: "name", with: "Ada", in: context))
    let same = try ada.inContext(other)
    #expect(same !== ada && same.objectID == ada.objectID && same.name == "Ada")
    let new = try context.person("New")
    #expect(throws: ManagedObjectError.self) { try new.inContext(other) }
    #expect(!new.objectID.isTemporaryID)
    try context.save()
    #expect(try new.inContext(other).name == "New")
  }

  @Test("refuses a sort term that is none", arguments: ["", "name,", "name:UP", "a:b:c"])
  func terms(_ term: String) throws {
    let (_, context) = try people(.inMemory)
    #expect(throws: MagicalRecordError.sortTerm(term)) { try Person.findAll(sortedBy: term, in: context) }
  }

  @Test("says which class the model doesn't know")
  func unknownClass() throws {
    final class Stranger: ManagedObject {}
    let (_, context) = try people(.inMemory)
    #expect(throws: ManagedObjectError.self) { try Stranger.findAll(in: context) }
  }
}
