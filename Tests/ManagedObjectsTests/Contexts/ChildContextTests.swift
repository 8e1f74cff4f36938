import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Parent and child contexts")
struct ChildContextTests {
  private func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, parent: parent)
  }

  @Test("a child sees what its parent hasn't saved", arguments: StoreKind.allCases)
  func unsaved(_ kind: StoreKind) throws {
    let parent = try CompanyStack(kind).context()
    let (ada, bob, cid) = (try parent.person("Ada", age: 30), try parent.person("Bob"), try parent.person("Cid"))
    try parent.save()
    ada.age = 31
    parent.delete(bob)
    let acme = try parent.company("Acme")
    acme.employees = [cid]
    ada.friends = [cid]

    let child = child(of: parent)
    #expect(try child.all(Person.self, sortedBy: "name").map(\.name) == ["Ada", "Cid"])
    #expect(try child.count(for: FetchRequest<Person>(entityName: "Person")) == 2)
    let mine = try #require(try child.named("Ada", Person.self))
    #expect(mine.age == 31 && mine !== ada)
    #expect(mine.friends.map(\.name) == ["Cid"])
    let company = try #require(child.object(with: acme.objectID) as? Company)
    #expect(company.isFault)
    #expect(company.name == "Acme" && company.employees.map(\.name) == ["Cid"])
    #expect(throws: ManagedObjectError.objectNotFound(bob.objectID)) { try child.existingObject(with: bob.objectID) }
  }

  @Test("a save goes one level up and no further", arguments: StoreKind.allCases)
  func oneLevel(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let root = stack.context()
    let ada = try root.person("Ada")
    let gone = try root.person("Gone")
    try root.save()
    let middle = child(of: root)
    let leaf = child(of: middle)
    let mine = try #require(leaf.object(with: ada.objectID) as? Person)
    mine.age = 31
    leaf.delete(leaf.object(with: gone.objectID))
    try leaf.person("New").employer = try leaf.company("Acme")
    try leaf.save()
    #expect(!leaf.hasChanges && middle.hasChanges && !root.hasChanges)
    #expect(try middle.named("New", Person.self)?.employer?.name == "Acme")
    #expect(ada.age == nil)
    try middle.save()
    #expect(root.hasChanges && !middle.hasChanges)
    #expect(ada.age == 31 && gone.isDeleted)
    #expect(try stack.context().all(Person.self).count == 2)
    try root.save()
    let reader = stack.context()
    #expect(try Set(reader.all(Person.self).map(\.name)) == ["Ada", "New"])
    #expect(try reader.named("Ada", Person.self)?.age == 31)
    #expect(try reader.named("Acme", Company.self)?.employees.map(\.name) == ["New"])
  }

  @Test("relationships among new objects arrive whole, in whatever order they were made", arguments: StoreKind.allCases)
  func newGraph(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let child = child(of: parent)
    let ada = try child.person("Ada")
    let desk = try child.insert(Desk.self)
    let red = try child.insert(Project.self)
    red.title = "red"
    let (bob, acme) = (try child.person("Bob"), try child.company("Acme"))
    acme.employees = [ada, bob]
    ada.desk = desk
    ada.friends = [bob]
    red.members = [ada, bob]
    try child.save()

    let company = try #require(try parent.named("Acme", Company.self))
    let person = try #require(try parent.named("Ada", Person.self))
    #expect(Set(company.employees.map(\.name)) == ["Ada", "Bob"])
    #expect(person.desk?.occupant === person)
    #expect(person.friends.first?.friends == [person])
    #expect(person.projects.first?.members.count == 2)
    #expect(parent.registeredObjects.count == 5, "one object a row")
    try parent.save()
    let reader = stack.context()
    let again = try #require(try reader.named("Ada", Person.self))
    #expect(again.employer?.employees.count == 2 && again.desk?.occupant === again)
    #expect(again.friends.map(\.name) == ["Bob"] && again.projects.first?.members.count == 2)
  }

  @Test("changes of relationships go up on both sides", arguments: StoreKind.allCases, [true, false])
  func relationships(_ kind: StoreKind, parentHasRead: Bool) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let (ada, bob, acme) = (try parent.person("Ada"), try parent.person("Bob"), try parent.company("Acme"))
    let red = try parent.insert(Project.self)
    acme.employees = [ada]
    red.members = [ada]
    try parent.save()
    if !parentHasRead { parent.reset() }

    let child = child(of: parent)
    let project = try #require(child.object(with: red.objectID) as? Project)
    project.members = [try #require(child.object(with: bob.objectID) as? Person)]
    try #require(child.object(with: bob.objectID) as? Person).employer = child.object(with: acme.objectID) as? Company
    try child.save()
    let company = try #require(parent.object(with: acme.objectID) as? Company)
    #expect(Set(company.employees.map(\.name)) == ["Ada", "Bob"])
    #expect((parent.object(with: red.objectID) as? Project)?.members.map(\.name) == ["Bob"])
    #expect((parent.object(with: ada.objectID) as? Person)?.projects.isEmpty == true)
    try parent.save()
    #expect(try stack.context().named("Acme", Company.self)?.employees.count == 2)
    #expect(try stack.context().named("Ada", Person.self)?.projects.isEmpty == true)
  }

  @Test("objects that the parent added to a set stay when a child saves the set", arguments: StoreKind.allCases)
  func setsMeet(_ kind: StoreKind) throws {
    let parent = try CompanyStack(kind).context()
    let (ada, bob, red) = (try parent.person("Ada"), try parent.person("Bob"), try parent.insert(Project.self))
    try parent.save()
    let child = child(of: parent)
    let project = try #require(child.object(with: red.objectID) as? Project)
    #expect(project.members.isEmpty)
    red.add(ada, to: 1)
    project.add(child.object(with: bob.objectID), to: 1)
    try child.save()
    #expect(red.members == [ada, bob])
  }

  @Test("temporary IDs become permanent together", arguments: StoreKind.allCases)
  func permanentIDs(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let child = child(of: parent)
    let (ada, acme) = (try child.person("Ada"), try child.company("Acme"))
    ada.employer = acme
    let temporary = ada.objectID
    try child.save()
    #expect(ada.objectID == temporary)
    let above = try #require(parent.registeredObject(for: temporary))
    #expect(above.objectID == temporary)
    try parent.save()
    #expect(!above.objectID.isTemporaryID)
    #expect(try child.named("Ada", Person.self) === ada, "the row isn't a second object in the child")
    #expect(ada.objectID == above.objectID)
    #expect(ada.value(forKey: "employer") == .object(acme.objectID) && !acme.objectID.isTemporaryID)
    #expect(child.object(with: above.objectID) === ada && child.object(with: temporary) === ada)
    #expect(parent.object(with: temporary) === above)
    ada.age = 30
    acme.name = "Acme & Co"
    try child.save()
    try parent.save()
    #expect(try stack.context().named("Ada", Person.self)?.age == 30)
    #expect(try stack.context().all(Company.self).map(\.name) == ["Acme & Co"])
  }

  @Test("permanent IDs can be obtained in a child", arguments: StoreKind.allCases)
  func obtained(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let child = child(of: parent)
    let ada = try child.person("Ada")
    try child.obtainPermanentIDs(for: [ada])
    let id = ada.objectID
    #expect(!id.isTemporaryID)
    try child.save()
    try parent.save()
    #expect(try stack.context().existingObject(with: id).objectID == id)
  }

  @Test(
    "a sibling doesn't learn of a save until it merges it, and a child isn't refreshed by its parent",
    arguments: StoreKind.allCases)
  func siblings(_ kind: StoreKind) throws {
    let parent = try CompanyStack(kind).context()
    let ada = try parent.person("Ada", age: 30)
    try parent.save()
    let (one, two) = (child(of: parent), child(of: parent))
    let (first, second) = (one.object(with: ada.objectID) as? Person, two.object(with: ada.objectID) as? Person)
    #expect(first?.age == 30 && second?.age == 30)
    first?.age = 31
    let save = try #require(try one.saveAndTell())
    #expect(ada.age == 31 && second?.age == 30)
    one.mergeChanges(fromContextDidSave: save)
    parent.mergeChanges(fromContextDidSave: save)
    #expect(ada.age == 31 && first?.age == 31 && second?.age == 30)
    two.mergeChanges(fromContextDidSave: save)
    #expect(second?.age == 31 && !two.hasChanges)
    ada.age = 32
    let above = try #require(try parent.saveAndTell())
    #expect(first?.age == 31 && second?.age == 31)
    two.mergeChanges(fromContextDidSave: above)
    #expect(first?.age == 31 && second?.age == 32)
  }

  @Test("dropping a child drops its changes", arguments: StoreKind.allCases)
  func dropped(_ kind: StoreKind) throws {
    let parent = try CompanyStack(kind).context()
    let ada = try parent.person("Ada", age: 30)
    try parent.save()
    var held: Person?
    do {
      let child = child(of: parent)
      try child.person("Lost")
      held = child.object(with: ada.objectID) as? Person
      held?.age = 31
      #expect(child.hasChanges)
    }
    #expect(held?.managedObjectContext == nil)
    #expect(!parent.hasChanges && ada.age == 30)
    #expect(try parent.all(Person.self).count == 1)
  }

  @Test("a failed save of the parent leaves the child's changes in the parent", arguments: StoreKind.allCases)
  func failedParent(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    try parent.person("Ada", email: "a@x")
    try parent.save()
    let child = child(of: parent)
    let twin = try child.person("Twin", email: "a@x")
    try child.save()
    #expect(throws: ManagedObjectError.self) { try parent.save() }
    twin.email = "b@x"
    try child.save()
    try parent.save()
    #expect(try stack.context().all(Person.self).count == 2)
  }
}
