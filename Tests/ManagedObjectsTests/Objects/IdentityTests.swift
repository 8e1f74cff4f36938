import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("IDs, temporary and permanent")
struct IdentityTests {
  @Test("a save makes IDs permanent, in references among new objects too", arguments: StoreKind.allCases)
  func references(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    let (bob, acme, mill) = (try context.person("Bob"), try context.company("Acme"), try context.insert(Project.self))
    ada.employer = acme
    ada.friends = [bob]
    mill.members = [ada, bob]
    let temporary = ada.objectID
    #expect(temporary.isTemporaryID && temporary.storeIdentifier == nil)
    try context.save()
    #expect(!ada.objectID.isTemporaryID && ada.objectID.storeIdentifier != nil && ada.objectID != temporary)
    #expect(ada.value(forKey: "employer") == .object(acme.objectID))
    #expect(acme.value(forKey: "employees") == .objects([ada.objectID]))
    #expect(mill.value(forKey: "members") == .objects([ada.objectID, bob.objectID]))
    #expect(bob.value(forKey: "friends") == .objects([ada.objectID]))
    #expect(acme.employees == [ada] && context.registeredObject(for: ada.objectID) === ada)

    let reader = stack.context()
    let again = try #require(try reader.named("Ada", Person.self))
    #expect(again.employer?.name == "Acme")
    #expect(Set(again.friends.map(\.name)) == ["Bob"])
    #expect(again.projects.first?.members.count == 2)
  }

  @Test("new objects may refer to each other in a circle", arguments: StoreKind.allCases)
  func cycles(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, desk) = (try context.person("Ada"), try context.insert(Desk.self))
    ada.desk = desk
    let bob = try context.person("Bob")
    bob.friends = [bob, ada]
    try context.save()
    let reader = stack.context()
    let again = try #require(try reader.named("Ada", Person.self))
    #expect(again.desk?.occupant === again)
    let other = try #require(try reader.named("Bob", Person.self))
    #expect(other.friends == [other, again])
  }

  @Test("permanent IDs can be obtained before the save, and stay", arguments: StoreKind.allCases)
  func obtaining(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, acme, rome) = (try context.person("Ada"), try context.company("Acme"), try context.city(39, "Rome"))
    ada.employer = acme
    ada.birthplace = rome
    let former = ada.objectID
    try context.obtainPermanentIDs(for: [ada, acme, rome])
    let ids = [ada.objectID, acme.objectID, rome.objectID]
    #expect(ids.allSatisfy { !$0.isTemporaryID })
    #expect(acme.value(forKey: "employees") == .objects([ada.objectID]))
    #expect(context.registeredObject(for: former) === ada)
    try context.save()
    #expect([ada.objectID, acme.objectID, rome.objectID] == ids)
    let again = try #require(try stack.context().existingObject(with: ada.objectID) as? Person)
    #expect(again.value(forKey: "employer") == .object(acme.objectID))
    #expect(again.value(forKey: "birthplace") == .object(rome.objectID))
  }

  @Test("obtaining an ID twice or for a saved object changes nothing", arguments: StoreKind.allCases)
  func obtainingAgain(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    try context.obtainPermanentIDs(for: [ada])
    let id = ada.objectID
    try context.obtainPermanentIDs(for: [ada])
    #expect(ada.objectID == id)
    try context.save()
    try context.obtainPermanentIDs(for: [ada])
    #expect(ada.objectID == id)
  }

  @Test("an object numbered by its own attribute has that number", arguments: StoreKind.allCases)
  func primaryKeys(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let rome = try context.city(39, "Rome")
    try context.save()
    #expect("\(rome.objectID)".hasSuffix("/City/p39"))
    rome.code = 40
    #expect(throws: ManagedObjectError.self) { try context.save() }
    context.rollback()

    let oslo = try context.city(47, "Oslo")
    try context.obtainPermanentIDs(for: [oslo])
    oslo.code = 48
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.code) == ["primary_key_changed"]
    }
  }

  @Test("an ID goes through its URI and back", arguments: StoreKind.allCases)
  func uris(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let boss = try context.insert(Manager.self)
    #expect(boss.objectID.uriRepresentation.absoluteString.hasPrefix("x-coredata:///Manager/t"))
    #expect(stack.coordinator.managedObjectID(forURIRepresentation: boss.objectID.uriRepresentation) == nil)
    try context.save()
    let uri = boss.objectID.uriRepresentation
    let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(id == boss.objectID && id.hashValue == boss.objectID.hashValue)
    #expect(try stack.context().existingObject(with: id) is Manager)
    let text = uri.absoluteString
    for wrong in ["/", "x-coredata://nowhere/Manager/p1", text.replacing("Manager", with: "Nobody"), text + "x"] {
      let wrong = try #require(URL(string: wrong))
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: wrong) == nil)
    }
  }

  @Test("unsaved objects that sort alike keep the order of their insertion", arguments: StoreKind.allCases)
  func insertionOrder(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let people = try (1...5).map { _ in try context.person("Same") }
    #expect(try context.all(Person.self, sortedBy: "name") == people)
    try context.save()
    #expect(try context.all(Person.self, sortedBy: "name") == people)
  }
}
