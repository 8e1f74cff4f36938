import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A delegate of several fetched results controllers")
struct SharedDelegateTests {
  private final class Watcher: FetchedResultsControllerDelegate {
    var inserted: [String] = []

    func controller(
      _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject, at indexPath: IndexPath?,
      for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      if type == .insert { inserted.append("\(controller.fetchRequest.entityName): \(object.entity.name)") }
    }
  }

  @Test("serves controllers of several entities", arguments: StoreKind.allCases)
  func shared(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let watcher = Watcher()
    let controllers = try ["Person", "Company"].map { entity in
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>(
          entityName: entity, sortDescriptors: [FetchSortDescriptor("name")]),
        managedObjectContext: context)
      controller.delegate = watcher
      try controller.performFetch()
      return controller
    }
    try context.person("Ada")
    try context.company("Acme")
    context.processPendingChanges()
    #expect(watcher.inserted.sorted() == ["Company: Company", "Person: Person"])
    #expect(controllers.map { $0.fetchedObjects?.count } == [1, 1])
  }
}
