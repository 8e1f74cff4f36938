import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("What a context keeps, and reads again")
struct RegistryTests {
  @Test("a context that only fetches keeps no more than a few thousand objects", arguments: StoreKind.allCases)
  func bounded(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    // A store in memory looks at all its rows for every page.
    let count = kind == .sqlite ? 100_000 : 10_000
    let city = try #require(CompanyModel.model.entitiesByName["City"])
    _ = try writer.insert(city, count: count) { [.int(Int64($0 + 1)), .string("City")] }
    try writer.save()
    writer.reset()
    let reader = stack.context()
    let held = try #require(reader.object(with: stack.coordinator.managedObjectID(entity: "City", number: 1)) as? City)
    var (seen, most, last) = (0, 0, 0)
    while true {
      let page = try reader.fetch(
        FetchRequest<City>(
          entityName: "City", predicate: try FetchPredicate(format: "code > %@", last),
          sortDescriptors: [FetchSortDescriptor("code")], fetchLimit: 1000))
      guard let end = page.last else { break }
      seen += page.count
      last = end.code
      most = max(most, reader.registeredObjects.count)
    }
    #expect(seen == count)
    #expect(most < 5000)
    #expect(reader.registeredObject(for: held.objectID) === held, "an object that is held stays")
  }

  @Test(
    "an object that only the context held shows the store's values when it is fetched again",
    arguments: StoreKind.allCases)
  func unheld(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, reader) = (stack.context(), stack.context())
    let ada = try writer.person("Ada", age: 30)
    try writer.save()
    #expect(try reader.named("Ada", Person.self)?.age == 30)
    ada.age = 31
    try writer.save()
    #expect(try reader.named("Ada", Person.self)?.age == 31)
    let held = try #require(try reader.named("Ada", Person.self))
    ada.age = 32
    try writer.save()
    #expect(try reader.all(Person.self) == [held])
    #expect(held.age == 31, "an object that is held keeps its values until it is refreshed or merged")
  }

  @Test("refresh makes a fault of an object, which then shows the stored values", arguments: StoreKind.allCases)
  func refreshToFault(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, reader) = (stack.context(), stack.context())
    let (ada, acme) = (try writer.person("Ada", age: 30), try writer.company("Acme"))
    try writer.save()
    let mine = try #require(reader.object(with: ada.objectID) as? Person)
    let company = try #require(reader.object(with: acme.objectID) as? Company)
    #expect(company.employees.isEmpty)
    mine.name = "Mine"
    mine.employer = company
    ada.age = 31
    ada.employer = acme
    try writer.save()
    reader.refresh(mine, mergeChanges: false)
    reader.refresh(company, mergeChanges: false)
    #expect(mine.isFault && !mine.isUpdated && !reader.hasChanges)
    #expect(mine.name == "Ada" && mine.age == 31)
    #expect(company.employees == [mine])
  }

  @Test("refresh can keep unsaved changes", arguments: StoreKind.allCases)
  func refreshMerging(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, reader) = (stack.context(), stack.context())
    let (ada, red, blue) = (
      try writer.person("Ada", age: 30), try writer.insert(Project.self), try writer.insert(Project.self)
    )
    try writer.save()
    let mine = try #require(reader.object(with: ada.objectID) as? Person)
    mine.name = "Mine"
    mine.add(reader.object(with: red.objectID), to: 5)
    ada.age = 31
    ada.projects = [blue]
    try writer.save()
    reader.refresh(mine, mergeChanges: true)
    #expect(mine.name == "Mine" && mine.age == 31 && mine.projects.count == 2)
    try reader.save()
    let again = try #require(try stack.context().named("Mine", Person.self))
    #expect(again.age == 31 && again.projects.count == 2)
  }

  @Test("refreshAllObjects refreshes all, and loses no change", arguments: StoreKind.allCases)
  func refreshAll(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (writer, reader) = (stack.context(), stack.context())
    let people = try ["one", "two", "three"].map { try writer.person($0, age: 1) }
    try writer.save()
    let mine = try people.compactMap { try reader.existingObject(with: $0.objectID) as? Person }
    let new = try reader.person("new")
    mine[0].name = "mine"
    for person in people.prefix(2) { person.age = 2 }
    writer.delete(people[2])
    try writer.save()
    reader.refreshAllObjects()
    #expect(mine[0].name == "mine" && mine[0].age == 2 && mine[1].age == 2)
    #expect(mine[2].age == nil && mine[2].isDeleted)
    #expect(new.isInserted && new.name == "new")
  }
}
