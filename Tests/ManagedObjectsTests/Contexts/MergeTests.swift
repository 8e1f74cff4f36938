import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Taking in what another context saved")
struct MergeTests {
  @Test("changes arrive, and unsaved changes made here stay", arguments: StoreKind.allCases)
  func updates(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let other = try there.person("Ada", age: 30)
    try there.save()
    let ada = try #require(try here.named("Ada", Person.self))
    ada.name = "Mine"
    other.name = "Theirs"
    other.age = 31
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(ada.name == "Mine" && ada.age == 31)
    #expect(ada.changedValues() == ["name": .string("Mine")])
    here.rollback()
    #expect(ada.name == "Theirs")
  }

  @Test("deleted objects leave the context and every set and slot", arguments: StoreKind.allCases)
  func deletions(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (ada, bob) = (try there.person("Ada"), try there.person("Bob"))
    let (acme, red, desk) = (try there.company("Acme"), try there.insert(Project.self), try there.insert(Desk.self))
    acme.employees = [ada, bob]
    red.members = [ada, bob]
    ada.friends = [bob]
    ada.desk = desk
    try there.save()

    let here = stack.context()
    let company = try #require(here.object(with: acme.objectID) as? Company)
    let project = try #require(here.object(with: red.objectID) as? Project)
    let mine = try #require(here.object(with: ada.objectID) as? Person)
    let friend = try #require(here.object(with: bob.objectID) as? Person)
    #expect(company.employees.count == 2 && project.members.count == 2 && mine.friends == [friend])
    #expect(friend.friends == [mine])
    mine.name = "Mine"
    #expect(mine.desk?.occupant === mine)
    there.delete(ada)
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(mine.isDeleted && here.deletedObjects == [mine] && !here.hasChanges)
    here.processPendingChanges()
    #expect(!mine.isDeleted && mine.managedObjectContext == nil && here.deletedObjects.isEmpty)
    #expect(company.employees == [friend] && project.members == [friend] && friend.friends.isEmpty)
    #expect((here.object(with: desk.objectID) as? Desk)?.occupant == nil)
  }

  @Test("what points at an object deleted elsewhere leads nowhere", arguments: StoreKind.allCases)
  func danglingReferences(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (rome, oslo, acme) = (try there.city(39, "Rome"), try there.city(47, "Oslo"), try there.company("Acme"))
    let (ada, note) = (try there.person("Ada"), try there.insert(Note.self))
    ada.birthplace = rome
    ada.visited = [rome, oslo]
    note.company = acme
    try there.save()
    let here = stack.context()
    let mine = try #require(here.object(with: ada.objectID) as? Person)
    let text = try #require(here.object(with: note.objectID) as? Note)
    let new = try here.person("New")
    new.birthplace = here.object(with: rome.objectID) as? City
    new.employer = here.object(with: acme.objectID) as? Company
    #expect(mine.visited.count == 2 && text.company != nil && mine.birthplace?.name == "Rome")
    there.delete(rome)
    there.delete(acme)
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(mine.birthplace == nil && mine.visited.map(\.name) == ["Oslo"] && text.company == nil)
    #expect(new.birthplace == nil && new.employer == nil)
    mine.age = 30
    text.text = "changed"
    try here.save()
  }

  @Test("new objects appear in sets that have been read", arguments: StoreKind.allCases)
  func insertions(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (acme, red, ada) = (try there.company("Acme"), try there.insert(Project.self), try there.person("Ada"))
    try there.save()
    let here = stack.context()
    let company = try #require(here.object(with: acme.objectID) as? Company)
    let project = try #require(here.object(with: red.objectID) as? Project)
    let friend = try #require(here.object(with: ada.objectID) as? Person)
    #expect(company.employees.isEmpty && project.members.isEmpty && friend.friends.isEmpty)
    let new = try there.person("New")
    new.employer = acme
    new.projects = [red]
    new.friends = [ada]
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(company.employees.map(\.name) == ["New"])
    #expect(project.members.map(\.name) == ["New"] && friend.friends.map(\.name) == ["New"])
    #expect(!here.hasChanges)
  }

  @Test("an object that moves between sets moves here too", arguments: StoreKind.allCases)
  func moves(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (acme, mill, ada) = (try there.company("Acme"), try there.company("Mill"), try there.person("Ada"))
    ada.employer = acme
    try there.save()
    let here = stack.context()
    let companies = try #require(try here.all(Company.self, sortedBy: "name") as [Company]?)
    #expect(companies.map(\.employees.count) == [1, 0])
    ada.employer = mill
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(companies.map(\.employees.count) == [0, 1])
  }

  @Test("an unsaved move made here survives a move made elsewhere", arguments: StoreKind.allCases)
  func movesMeet(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let companies = try ["A", "B", "C"].map { try there.company($0) }
    let ada = try there.person("Ada")
    ada.employer = companies[0]
    try there.save()
    let here = stack.context()
    let mine = try #require(here.object(with: ada.objectID) as? Person)
    let places = companies.compactMap { here.object(with: $0.objectID) as? Company }
    #expect(places.map(\.employees.count) == [1, 0, 0])
    mine.employer = places[1]
    ada.employer = companies[2]
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(mine.employer == places[1] && places.map(\.employees.count) == [0, 1, 0])
    here.rollback()
    #expect(mine.employer == places[2] && places.map(\.employees.count) == [0, 0, 1])
  }

  @Test("a set changed here and there holds both changes", arguments: StoreKind.allCases)
  func setsMeet(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let red = try there.insert(Project.self)
    let people = try ["one", "two", "three"].map { try there.person($0) }
    red.members = [people[0]]
    try there.save()
    let here = stack.context()
    let project = try #require(here.object(with: red.objectID) as? Project)
    let mine = people.compactMap { here.object(with: $0.objectID) as? Person }
    project.add(mine[1], to: 1)
    red.members = [people[2]]
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(project.members == [mine[1], mine[2]])
    try here.save()
    #expect(try stack.context().all(Project.self).first?.members.count == 2)
    here.rollback()
    #expect(project.members == [mine[1], mine[2]])
  }

  @Test("a set that the other context never read stays read here", arguments: StoreKind.allCases)
  func unreadSets(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (ada, red) = (try writer.person("Ada"), try writer.insert(Project.self))
    ada.projects = [red]
    try writer.save()
    let (here, there) = (stack.context(), stack.context())
    let mine = try #require(try here.named("Ada", Person.self))
    #expect(mine.projects.count == 1)
    try #require(try there.named("Ada", Person.self)).age = 31
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(mine.age == 31 && mine.projects.count == 1)
  }

  @Test("own saves and other coordinators' are left alone", arguments: StoreKind.allCases)
  func ignored(_ kind: StoreKind) throws {
    let (stack, strange) = (try CompanyStack(kind), try CompanyStack(kind))
    let (here, there) = (stack.context(), strange.context())
    let (ada, other) = (try here.person("Ada", age: 30), try there.person("Ada", age: 40))
    let own = try #require(try here.saveAndTell())
    _ = try there.saveAndTell()
    other.age = 41
    let foreign = try #require(try there.saveAndTell())
    ada.age = 31
    here.mergeChanges(fromContextDidSave: own)
    here.mergeChanges(fromContextDidSave: foreign)
    #expect(ada.age == 31 && ada.isUpdated)
  }

  @Test("merging reads nothing from the store", arguments: StoreKind.allCases)
  func noReads(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (ada, gone, acme) = (try there.person("Ada"), try there.person("Gone"), try there.company("Acme"))
    let red = try there.insert(Project.self)
    acme.employees = [ada]
    red.members = [ada, gone]
    try there.save()
    let company = try #require(here.object(with: acme.objectID) as? Company)
    let project = try #require(here.object(with: red.objectID) as? Project)
    let mine = try here.all(Person.self, sortedBy: "name")
    #expect(company.employees.count == 1 && project.members.count == 2)
    ada.age = 31
    ada.employer = nil
    try there.person("New").employer = acme
    there.delete(gone)
    let save = try #require(try there.saveAndTell())
    let reads = stack.reads.items
    here.mergeChanges(fromContextDidSave: save)
    #expect(mine[0].age == 31 && mine[0].value(forKey: "employer") == .null)
    #expect(company.value(forKey: "employees") == .objects([save.insertedObjectIDs[0]]))
    #expect(project.value(forKey: "members") == .objects([ada.objectID]))
    #expect(stack.reads.items == reads)
  }

  @Test("a reset forgets what a merge has found deleted", arguments: StoreKind.allCases)
  func resetAfterDeletion(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let ada = try there.person("Ada")
    try there.save()
    let mine = try #require(try here.named("Ada", Person.self))
    there.delete(ada)
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(here.deletedObjects == [mine])
    here.reset()
    #expect(here.deletedObjects.isEmpty && mine.managedObjectContext == nil)
  }
}
