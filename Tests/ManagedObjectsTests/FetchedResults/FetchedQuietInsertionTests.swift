import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Fetched results controllers of a context that announces nothing")
struct FetchedQuietInsertionTests {
  @Test("show what is inserted, though no notification tells of it", arguments: StoreKind.allCases)
  func quiet(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context)
    try controller.performFetch()
    context.announcesChanges = false
    let told = Recorder<Int>()
    let observation = context.observeChanges { told.note($0.inserted.count) }
    let ada = try context.person("Ada")
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [ada])
    try context.person("Bo")
    try context.save()
    #expect(controller.fetchedObjects?.map(\.name) == ["Ada", "Bo"])
    #expect(told.items.allSatisfy { $0 == 0 })
    observation.cancel()
  }
}
