import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of `NSFetchedResultsController`.
@Suite("A controller's reports, counted")
struct FollowedListTests {
  private func controller(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate? = nil, sections: String? = nil
  ) throws -> (FetchedResultsController<Person>, ListView<Person>) {
    let controller = FetchedResultsController<Person>(
      fetchRequest: FetchRequest(
        entityName: "Person", predicate: predicate,
        sortDescriptors: [FetchSortDescriptor(sections ?? "name", ascending: false)]),
      managedObjectContext: context, sectionNameKeyPath: sections)
    try controller.performFetch()
    let list = ListView(controller) { $0.name ?? "" }
    controller.delegate = list
    return (controller, list)
  }

  /// How many of each kind were reported: "delete 1, insert 2".
  private func kinds(_ list: ListView<Person>) -> String {
    let kinds = list.log.compactMap { line -> String? in
      guard let word = line.split(separator: " ").first, word != "will", word != "did" else { return nil }
      return word == "section" ? line.split(separator: " ").prefix(2).joined(separator: " ") : String(word)
    }
    return Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }

  private func people(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for name in ["Ada", "Bob", "Cid", "Dee", "Eve"] { try context.person(name, email: "\(name.prefix(1))@x") }
    try context.save()
    return (stack, context)
  }

  @Test("a fetch reports nothing", arguments: StoreKind.allCases)
  func fetch(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (controller, list) = try controller(context)
    context.processPendingChanges()
    #expect(list.log.isEmpty && controller.managedObjectContext === context)
    #expect(controller.object(at: IndexPath(item: 0, section: 0)) === controller.fetchedObjects?.first)
  }

  @Test("refreshing all neither deletes nor inserts", arguments: StoreKind.allCases)
  func refreshAll(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (controller, list) = try controller(context)
    context.refreshAllObjects()
    context.processPendingChanges()
    #expect(!list.log.contains { $0.hasPrefix("insert") || $0.hasPrefix("delete") })
    #expect(controller.fetchedObjects?.map(\.name) == ["Eve", "Dee", "Cid", "Bob", "Ada"])
  }

  @Test("changes of every kind are reported in one group", arguments: StoreKind.allCases)
  func mixed(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (controller, list) = try controller(context)
    let all = try #require(controller.fetchedObjects)
    context.delete(all[0])
    (all[1].age, all[2].age) = (1, 2)
    all[4].name = "moved"
    for name in ["zz1", "zz2"] { try context.person(name) }
    context.processPendingChanges()
    #expect(kinds(list) == "delete 1, insert 2, move 1, update 2" && list.batches == 1)
    #expect(list.rows == [try #require(controller.fetchedObjects)])
  }

  @Test("sections go when they are empty, and come with their first object", arguments: StoreKind.allCases)
  func sections(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (controller, list) = try controller(context, sections: "email")
    for person in try #require(controller.fetchedObjects) where ["Ada", "Bob"].contains(person.name) {
      person.email = "z@x"
    }
    context.processPendingChanges()
    #expect(kinds(list).contains("section delete 2, section insert 1"), "\(list.log)")
    #expect(list.rows == controller.sections?.map(\.objects))
  }

  @Test("an object that no longer matches is reported as deleted", arguments: StoreKind.allCases)
  func unmatched(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (controller, list) = try controller(context, .equal("name", "Cid"))
    try #require(controller.fetchedObjects?.first).name = "Cid no more"
    try context.save()
    #expect(kinds(list) == "delete 1" && controller.fetchedObjects == [])
  }

  @Test("a merge reports members whose sets have changed, and registers what it shows", arguments: StoreKind.allCases)
  func merged(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, bob, desk) = (try context.person("Ada"), try context.person("Bob"), try context.insert(Desk.self))
    try context.save()
    let (controller, list) = try controller(context)
    let other = stack.context()
    let project = try other.insert(Project.self)
    let cid = try other.person("Cid")
    try #require(try other.existingObject(with: ada.objectID) as? Person).projects = [project]
    context.mergeChanges(fromContextDidSave: try #require(try other.saveAndTell()))
    context.processPendingChanges()
    #expect(kinds(list) == "insert 1, update 1")
    #expect(controller.fetchedObjects?.count == 3)
    let registered = Set(context.registeredObjects.map(\.objectID))
    #expect(registered.isSuperset(of: [ada, bob, desk].map(\.objectID) + [cid.objectID]))
  }

  @Test("a reset reports nothing, and neither does the save after it", arguments: StoreKind.allCases)
  func reset(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let (_, list) = try controller(context)
    let ada = try #require(try context.named("Ada", Person.self))
    ada.projects = [try context.insert(Project.self)]
    try context.person("Fay")
    context.reset()
    try context.save()
    #expect(kinds(list) == "", "\(list.log)")
  }

  @Test("rows of a batch insert appear when their IDs are merged", arguments: StoreKind.allCases)
  func batch(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (controller, list) = try controller(context)
    var request = BatchInsertRequest(
      entityName: "Person", objects: ["Ada", "Bob", "Cid"].map { ["name": .string($0)] })
    request.resultType = .objectIDs
    let other = stack.context()
    let ids = try #require(try other.execute(request).objectIDs)
    try other.save()
    context.processPendingChanges()
    #expect(kinds(list) == "")
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [ManagedObjectContext.NotificationKey.insertedObjects.rawValue: ids],
      into: [context.queue])
    context.processPendingChanges()
    #expect(kinds(list) == "insert 3" && controller.fetchedObjects?.count == 3)
  }
}
