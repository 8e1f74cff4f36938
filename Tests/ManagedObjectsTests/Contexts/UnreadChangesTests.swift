import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Kugler's trap: in Core Data a fetched results controller misses an object that a merge makes match, when the object is
/// a fault, or not known at all, in the controller's context, above all if only a relationship was changed; programs touch
/// every updated object before they merge, to turn it into a full one.
@Suite("A merge of objects that the context hasn't read reaches its lists")
struct UnreadChangesTests {
  @Test("a change of nothing but a relationship", arguments: StoreKind.allCases, [false, true])
  func relationshipOnly(_ kind: StoreKind, isRegistered: Bool) throws {
    let stack = try CompanyStack(kind)
    let there = stack.context()
    let (ada, desk) = (try there.person("Ada"), try there.insert(Desk.self))
    desk.label = "by the window"
    try there.save()
    let here = stack.context()
    let fault = isRegistered ? here.object(with: desk.objectID) : nil
    let list = FetchedResultsController<Desk>(
      fetchRequest: FetchRequest(
        entityName: "Desk", predicate: .notEqual("occupant", .null), sortDescriptors: [FetchSortDescriptor("label")]),
      managedObjectContext: here)
    try list.performFetch()
    #expect(list.fetchedObjects?.isEmpty == true)
    desk.occupant = ada
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(list.fetchedObjects?.map(\.objectID) == [desk.objectID])
    #expect(fault == nil || fault === list.fetchedObjects?.first)
    desk.occupant = nil
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    #expect(list.fetchedObjects?.isEmpty == true)
  }
}
