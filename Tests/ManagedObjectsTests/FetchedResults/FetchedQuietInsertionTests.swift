import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Fetched results controllers of a context that announces nothing")
struct FetchedQuietInsertionTests {
  @Test("show inserted objects that no notification announces", arguments: StoreKind.allCases)
  func quiet(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context)
    try controller.performFetch()
    context.announcesChanges = false
    let received = Recorder<Int>()
    let observation = context.observeChanges { received.note($0.inserted.count) }
    let ada = try context.person("Ada")
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [ada])
    try context.person("Bo")
    try context.save()
    #expect(controller.fetchedObjects?.map(\.name) == ["Ada", "Bo"])
    #expect(received.items.allSatisfy { $0 == 0 })
    observation.cancel()
  }
}
