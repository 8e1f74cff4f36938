import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A fetched results controller")
struct FetchedResultsTests {
  private func people(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate? = nil, sort: [String] = ["name"],
    sections: String? = nil
  ) throws -> FetchedResultsController<Person> {
    let controller = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(
        entityName: "Person", predicate: predicate, sortDescriptors: sort.map { FetchSortDescriptor($0) }),
      managedObjectContext: context, sectionNameKeyPath: sections)
    try controller.performFetch()
    return controller
  }

  private func list(_ controller: FetchedResultsController<Person>) -> ListView<Person> {
    let list = ListView(controller) { $0.name ?? "-" }
    controller.delegate = list
    return list
  }

  private func names(_ controller: FetchedResultsController<Person>) -> [[String?]]? {
    controller.sections?.map { $0.objects.map(\.name) }
  }

  @Test("shows its objects in order and in sections", arguments: StoreKind.allCases)
  func sections(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (acme, mill) = (try context.company("Acme"), try context.company("Mill"))
    for (name, company) in [("Bob", mill), ("Ada", acme), ("Eve", nil), ("Cy", acme)] as [(String, Company?)] {
      try context.person(name).employer = company
    }
    try context.save()
    let controller = try people(context, sort: ["employer.name", "name"], sections: "employer.name")
    #expect(controller.sections?.map(\.name) == ["", "Acme", "Mill"])
    #expect(names(controller) == [["Eve"], ["Ada", "Cy"], ["Bob"]])
    #expect(controller.sections?.map(\.numberOfObjects) == [1, 2, 1])
    let cy = controller.object(at: IndexPath(item: 1, section: 1))
    #expect(cy.name == "Cy" && controller.indexPath(forObject: cy) == IndexPath(row: 1, section: 1))
    #expect(controller.fetchedObjects?.map(\.name) == ["Eve", "Ada", "Cy", "Bob"])
    #expect(controller.snapshot?.sections.map(\.objectIDs.count) == [1, 2, 1])
  }

  @Test(
    "that takes too long to examine changes ends, and shows what is there after the next fetch",
    arguments: StoreKind.allCases)
  func interrupted(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let acme = try context.company("Acme")
    try context.person("Ada").employer = acme
    try context.save()
    let format = "SUBQUERY(employer.employees, $e, $e.name != name).@count >= 0"
    let controller = try people(context, FetchPredicate(format: format))
    var isEnded = false
    controller.makeInterruption = { Interruption { .timedOut } }
    controller.wasInterrupted = { isEnded = true }
    try context.person("Bob").employer = acme
    context.processPendingChanges()
    #expect(isEnded && controller.fetchedObjects == nil)
    try context.save()
    controller.makeInterruption = nil
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map(\.name) == ["Ada", "Bob"])
  }

  @Test("has one empty section without section names, and none with them", arguments: StoreKind.allCases)
  func empty(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let plain = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context)
    #expect(plain.fetchedObjects == nil && plain.sections == nil && plain.snapshot == nil)
    try plain.performFetch()
    #expect(plain.sections?.map(\.numberOfObjects) == [0] && plain.fetchedObjects == [])
    #expect(try people(context, sort: ["employer.name"], sections: "employer.name").sections?.count == 0)
  }

  @Test("reports sections before objects, and deletions before insertions, moves and updates")
  func order() throws {
    let context = try CompanyStack(.inMemory).context()
    let companies = try ["Acme", "Mill", "Zoo"].map { try context.company($0) }
    var people: [Person] = []
    for (index, name) in ["Ada", "Bob", "Cy", "Dee", "Eve"].enumerated() {
      let person = try context.person(name, age: 30)
      person.employer = companies[[0, 1, 1, 1, 1][index]]
      people.append(person)
    }
    try context.save()
    let controller = try self.people(context, sort: ["employer.name", "name"], sections: "employer.name")
    let list = list(controller)
    people[2].age = 31
    context.delete(people[1])
    context.delete(people[0])
    people[4].name = "Al"
    try context.person("Fay").employer = companies[2]
    context.processPendingChanges()
    #expect(
      list.log == [
        "will", "section delete Acme 0", "section insert Zoo 1", "delete Bob 1.0", "delete Ada 0.0", "insert Fay 1.0",
        "move Al 1.3→0.0", "update Cy 1.1→0.1", "did",
      ])
    #expect(list.rows == controller.sections?.map(\.objects))
  }

  @Test("reports a changed sort key as a move even where it changes no place, and anything else as an update")
  func movesAndUpdates() throws {
    let context = try CompanyStack(.inMemory).context()
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    let controller = try people(context)
    let list = list(controller)
    ada.name = "Al"
    bob.age = 30
    context.processPendingChanges()
    #expect(list.log == ["will", "move Al 0.0→0.0", "update Bob 0.1→0.1", "did"])
    list.forgetLog()
    bob.name = "Aa"
    bob.age = 31
    context.processPendingChanges()
    #expect(list.log == ["will", "move Aa 0.1→0.0", "did"])
    list.forgetLog()
    context.processPendingChanges()
    #expect(list.log == [], "nothing has changed")
  }

  @Test("section names may be computed in Swift", arguments: StoreKind.allCases)
  func computedSections(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    for name in ["Ada", "Al", "Bob"] { try context.person(name) }
    let controller = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context, sectionName: { $0.name.map { String($0.prefix(1)) } })
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["A", "B"])
    let list = list(controller)
    controller.fetchedObjects?[1].name = "Bea"
    context.processPendingChanges()
    #expect(list.log == ["will", "move Bea 0.1→1.0", "did"])
    #expect(names(controller) == [["Ada"], ["Bea", "Bob"]])
  }

  @Test("index titles are first letters, each once, unless the delegate has others")
  func indexTitles() throws {
    let context = try CompanyStack(.inMemory).context()
    for name in ["ada", "al", "bob"] { try context.person(name) }
    let controller = try people(context, sections: "name")
    #expect(controller.sectionIndexTitles == ["A", "B"])
    #expect(controller.sections?.map(\.indexTitle) == ["A", "A", "B"])
    #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
    #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 0)
    #expect(controller.section(forSectionIndexTitle: "B", at: 0) == nil)
    #expect(controller.sectionIndexTitle(forSectionName: "") == nil)
    let titles = Titles()
    controller.delegate = titles
    #expect(controller.sectionIndexTitles == ["3", "2"])
  }

  private final class Titles: FetchedResultsControllerDelegate {
    func controller(
      _ controller: FetchedResultsController<Person>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? { "\(sectionName.count)" }
  }

  @Test("refuses a request without an order, and sections that the order tears apart")
  func refusals() throws {
    let context = try CompanyStack(.inMemory).context()
    #expect(throws: FetchedResultsError.noSortDescriptors(entity: "Person")) { try people(context, sort: []) }
    for (name, age) in [("Ada", 1), ("Bob", 2), ("Ada", 3)] as [(String, Int32)] { try context.person(name, age: age) }
    #expect(throws: FetchedResultsError.sectionsOutOfOrder(name: "Ada", objectIndex: 2)) {
      try people(context, sort: ["age"], sections: "name")
    }
    #expect(throws: FetchedResultsError.self) { try people(context, sections: "nome") }
    #expect(throws: FetchedResultsError.self) { try people(context, sections: "employer") }
    #expect("\(FetchedResultsError.noSortDescriptors(entity: "Person"))".contains("add one"))
  }

  @Test("sections that change places, or get the same name twice, are reported so that a list can follow")
  func tornSections() throws {
    let context = try CompanyStack(.inMemory).context()
    for (name, age) in [("Ada", 1), ("Ada", 2), ("Bob", 3), ("Cy", 4)] as [(String, Int32)] {
      try context.person(name, age: age)
    }
    let controller = try people(context, sort: ["age"], sections: "name")
    let list = list(controller)
    let all = try #require(controller.fetchedObjects)
    all[0].age = 9
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["Ada", "Bob", "Cy", "Ada"])
    #expect(list.rows == controller.sections?.map(\.objects))
    all[1].age = 8
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["Bob", "Cy", "Ada"])
    #expect(list.rows == controller.sections?.map(\.objects))
    all[2].age = 20
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["Cy", "Ada", "Bob"])
    #expect(list.rows == controller.sections?.map(\.objects))
  }

  @Test("a change made while changes are reported is reported afterwards, in a group of its own")
  func reentrance() throws {
    let context = try CompanyStack(.inMemory).context()
    try context.person("Ada")
    let controller = try people(context)
    let list = list(controller)
    list.onChange = { person in
      guard person.name == "Bob" else { return }
      person.name = "Aa"
      context.processPendingChanges()
    }
    try context.person("Bob")
    context.processPendingChanges()
    #expect(list.batches == 2 && names(controller) == [["Aa", "Ada"]])
    #expect(list.rows == controller.sections?.map(\.objects))
  }

  @Test("a new request takes effect with the next fetch")
  func requestChanges() throws {
    let context = try CompanyStack(.inMemory).context()
    for name in ["Ada", "Bob"] { try context.person(name) }
    let controller = try people(context)
    controller.fetchRequest.predicate = .equal("name", .string("Bob"))
    try context.person("Cy")
    context.processPendingChanges()
    #expect(names(controller) == [["Ada", "Bob", "Cy"]])
    try controller.performFetch()
    #expect(names(controller) == [["Bob"]])
    try context.person("Dee")
    context.processPendingChanges()
    #expect(names(controller) == [["Bob"]])
  }
}
