import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("What a fetched results controller follows")
struct FetchedResultsFollowingTests {
  private func people(
    _ context: ManagedObjectContext, _ format: String? = nil, sort: [String] = ["name"], sections: String? = nil,
    limit: Int = 0, offset: Int = 0
  ) throws -> (FetchedResultsController<Person>, ListView<Person>) {
    let controller = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(
        entityName: "Person", predicate: try format.map { try FetchPredicate(format: $0) },
        sortDescriptors: sort.map { FetchSortDescriptor($0) }, fetchLimit: limit, fetchOffset: offset),
      managedObjectContext: context, sectionNameKeyPath: sections)
    try controller.performFetch()
    let list = ListView(controller) { $0.name ?? "-" }
    controller.delegate = list
    return (controller, list)
  }

  private func names(_ controller: FetchedResultsController<Person>) -> [String?]? {
    controller.fetchedObjects?.map(\.name)
  }

  @Test("unregistered rows come with a merge, and nothing is read", arguments: StoreKind.allCases)
  func unknownRows(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    here.announcesChanges = false  // other tests may observe the contexts of the process
    let (young, gone) = (try there.person("Young", age: 10), try there.person("Gone", age: 40))
    try there.save()
    let (controller, list) = try people(here, "age > 20")
    let reads = stack.reads.items
    young.age = 21
    there.delete(gone)
    try there.person("New", age: 50)
    try there.person("Child", age: 5)
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(list.log == ["will", "delete Gone 0.0", "insert New 0.0", "insert Young 0.1", "did"])
    #expect(stack.reads.items == reads)
    #expect(!here.registeredObjects.contains { $0.value(forKey: "name") == .string("Child") })
    young.age = 19
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(names(controller) == ["New"])
  }

  /// Kugler: a change of a relationship alone reaches a fetched results controller only if the fault has been fired.
  @Test("a change of a relationship alone is followed when its object is a fault", arguments: StoreKind.allCases)
  func relationshipOfFault(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (acme, mill) = (try there.company("Acme"), try there.company("Mill"))
    let (ada, bob) = (try there.person("Ada"), try there.person("Bob"))
    (ada.employer, bob.employer) = (acme, mill)
    try there.save()
    let (controller, list) = try people(here, sort: ["employer.name", "name"], sections: "employer.name")
    let (employed, _) = try people(here, "employer != nil")
    let (ofMill, _) = try people(here, "employer.name = 'Mill'")
    for person in controller.fetchedObjects ?? [] { here.refresh(person, mergeChanges: false) }
    here.processPendingChanges()
    let (red, project) = (try there.insert(Project.self), try there.person("Cy"))
    red.members = [ada, project]
    ada.employer = mill
    bob.employer = nil
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(controller.sections?.map { $0.objects.map(\.name) } == [["Bob", "Cy"], ["Ada"]])
    #expect(list.rows == controller.sections?.map(\.objects))
    #expect(names(employed) == ["Ada"] && names(ofMill) == ["Ada"])
  }

  @Test("an object at the other end of a relationship moves its members, saved or not", arguments: StoreKind.allCases)
  func relatedObjects(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (acme, mill) = (try there.company("Acme"), try there.company("Mill"))
    for (name, company) in [("Ada", acme), ("Bob", mill), ("Cy", acme)] { try there.person(name).employer = company }
    try there.save()
    let (controller, list) = try people(here, sort: ["employer.name", "name"], sections: "employer.name")
    let (ofMill, _) = try people(here, "employer.name BEGINSWITH 'M'")
    acme.name = "Zoo"
    let save = try #require(try there.saveAndTell())
    let reads = stack.reads.items
    here.mergeChanges(fromContextDidSave: save)
    #expect(stack.reads.items.count <= reads.count + 1, "only who points to the company is asked, for the predicate")
    #expect(controller.sections?.map(\.name) == ["Mill", "Zoo"])
    #expect(
      list.log == [
        "will", "section delete Acme 0", "section insert Zoo 1", "move Ada 0.0→1.0", "move Cy 0.1→1.1", "did",
      ])
    let company = try #require(here.object(with: acme.objectID) as? Company)
    company.name = "Mall"
    here.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["Mall", "Mill"] && names(ofMill) == ["Ada", "Bob", "Cy"])
    here.rollback()
    #expect(controller.sections?.map(\.name) == ["Mill", "Zoo"] && names(ofMill) == ["Bob"])
    list.forgetLog()
    company.country = "Elsewhere"
    here.processPendingChanges()
    #expect(list.log == [], "what nothing is sorted or selected by is nothing of the people's")
  }

  @Test("rollback and refresh put everything where the store has it", arguments: StoreKind.allCases)
  func takenBack(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let here = stack.context()
    let (ada, bob, cy) = (try here.person("Ada", age: 1), try here.person("Bob", age: 2), try here.person("Cy", age: 3))
    try here.save()
    let (controller, list) = try people(here, "age > 1", sort: ["age"])
    ada.age = 9
    bob.age = 0
    here.delete(cy)
    try here.person("Dee", age: 2)
    here.processPendingChanges()
    #expect(names(controller) == ["Dee", "Ada"])
    here.rollback()
    #expect(names(controller) == ["Bob", "Cy"] && list.rows == [[bob, cy]])
    ada.age = 9
    here.processPendingChanges()
    here.refresh(ada, mergeChanges: false)
    here.processPendingChanges()
    #expect(names(controller) == ["Bob", "Cy"])
    #expect(list.rows == [[bob, cy]])
    controller.delegate = nil
    here.refreshAllObjects()
    here.processPendingChanges()
    #expect(bob.isFault && cy.isFault, "looking at faults doesn't fill them")
  }

  @Test("with a batch size the objects are held as faults, placed by one read", arguments: StoreKind.allCases)
  func faults(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let people = try ["Ada", "Bob", "Cy"].map { try there.person($0) }
    try there.save()
    let controller = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: here)
    controller.fetchRequest.fetchBatchSize = 2
    try controller.performFetch()
    #expect(stack.reads.items.filter { $0.hasPrefix("rows") }.count == 1)
    #expect(controller.fetchedObjects?.allSatisfy(\.isFault) == true)
    people[0].name = "Zoe"
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(controller.fetchedObjects?.map(\.isFault) == [true, true, false], "a merged row fills its object")
    #expect(names(controller) == ["Bob", "Cy", "Zoe"])
  }

  @Test("a reset empties it until it fetches again", arguments: StoreKind.allCases)
  func reset(_ kind: StoreKind) throws {
    let here = try CompanyStack(kind).context()
    for name in ["Ada", "Bob"] { try here.person(name) }
    try here.save()
    let (controller, list) = try people(here, sections: "name")
    here.reset()
    #expect(controller.fetchedObjects == nil && controller.sections == nil)
    #expect(
      list.log == [
        "will", "section delete Bob 1", "section delete Ada 0", "delete Bob 1.0", "delete Ada 0.0", "did",
      ])
    try controller.performFetch()
    #expect(names(controller) == ["Ada", "Bob"])
  }

  @Test(
    "what a child saves into the context is followed, and a child's own controller too", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let ada = try parent.person("Ada", age: 30)
    try parent.save()
    let child = ManagedObjectContext(.confinement, parent: parent)
    let (above, _) = try people(parent, "age >= 30")
    let (below, list) = try people(child, "age >= 30")
    try child.person("Bob", age: 31)
    try #require(below.fetchedObjects?.first).age = 20
    child.processPendingChanges()
    #expect(names(below) == ["Bob"] && names(above) == ["Ada"])
    try child.save()
    #expect(names(above) == ["Bob"] && ada.age == 20)
    list.forgetLog()
    try parent.save()
    _ = try child.count(for: below.fetchRequest)
    child.processPendingChanges()
    #expect(list.log == [], "a permanent ID changes nothing that is shown")
    let bob = try #require(below.fetchedObjects?.first)
    #expect(below.snapshot?.objectIDs == [bob.objectID] && !bob.objectID.isTemporaryID)
    #expect(below.indexPath(forObject: bob) == IndexPath(item: 0, section: 0))
  }

  @Test("objects that were equal but for their IDs take their places when these become permanent")
  func permanentIDs() throws {
    let context = try CompanyStack(.inMemory).context()
    let controller = FetchedResultsController<City>(
      fetchRequest: FetchRequest(entityName: "City", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context)
    try controller.performFetch()
    let list = ListView(controller)
    controller.delegate = list
    for code in [9, 3, 5] { try context.city(code, "Rome") }
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.map(\.code) == [9, 3, 5])
    try context.save()
    #expect(controller.fetchedObjects?.map(\.code) == [3, 5, 9])
    #expect(list.rows == controller.sections?.map(\.objects))
    #expect(controller.snapshot?.objectIDs.map(\.number) == [3, 5, 9])
  }

  @Test("a limit stays: what comes pushes out the last, what leaves lets in the next", arguments: StoreKind.allCases)
  func limits(_ kind: StoreKind) throws {
    let here = try CompanyStack(kind).context()
    for name in ["Bob", "Cy", "Dee", "Eve", "Fay"] { try here.person(name) }
    try here.save()
    let (first, list) = try people(here, limit: 2)
    let (second, _) = try people(here, limit: 2, offset: 2)
    try here.person("Ada")
    here.processPendingChanges()
    #expect(names(first) == ["Ada", "Bob"] && names(second) == ["Cy", "Dee"])
    #expect(list.log == ["will", "delete Cy 0.1", "insert Ada 0.0", "did"])
    here.delete(try #require(first.fetchedObjects?[0]))
    here.processPendingChanges()
    #expect(names(first) == ["Bob", "Cy"] && names(second) == ["Dee", "Eve"])
    try #require(first.fetchedObjects?[0]).name = "Zoe"
    here.processPendingChanges()
    #expect(names(first) == ["Cy", "Dee"] && names(second) == ["Eve", "Fay"])
    #expect(list.rows == first.sections?.map(\.objects))
  }

  @Test("a store that can't be read changes nothing, and the next time all is put right")
  func unreadableStore() throws {
    let stack = try CompanyStack(.inMemory)
    let here = stack.context()
    for name in ["Ada", "Bob", "Cy"] { try here.person(name) }
    try here.save()
    let (controller, list) = try people(here, limit: 2)
    stack.breaker.isBroken = true
    try #require(controller.fetchedObjects?[0]).name = "Zoe"
    here.processPendingChanges()
    #expect(names(controller) == ["Zoe", "Bob"] && list.log == [])
    stack.breaker.isBroken = false
    #expect(throws: (any Error).self) { try here.count(for: controller.fetchRequest) }
    here.processPendingChanges()
    #expect(names(controller) == ["Bob", "Cy"] && list.rows == controller.sections?.map(\.objects))
  }

  @Test("a reference that no delete rule reaches is followed when its object is deleted", arguments: StoreKind.allCases)
  func looseReferences(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (rome, ada) = (try there.city(39, "Rome"), try there.person("Ada"))
    ada.birthplace = rome
    try there.save()
    let (homeless, _) = try people(here, "birthplace = nil")
    let (romans, _) = try people(here, "birthplace.name = 'Rome'")
    #expect(names(homeless) == [] && names(romans) == ["Ada"])
    there.delete(rome)
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(names(homeless) == ["Ada"] && names(romans) == [])
  }
}
