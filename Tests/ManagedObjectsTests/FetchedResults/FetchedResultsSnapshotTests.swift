import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Snapshots and differences of a fetched results controller")
struct FetchedResultsSnapshotTests {
  private func people(
    _ context: ManagedObjectContext, sections: String? = nil
  ) throws -> FetchedResultsController<Person> {
    FetchedResultsController<Person>(
      fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: context, sectionNameKeyPath: sections)
  }

  private final class Snapshots: FetchedResultsSnapshotDelegate {
    var taken: [FetchedResultsSnapshot] = []
    func controller(
      _ controller: FetchedResultsController<Person>, didChangeContentWith snapshot: FetchedResultsSnapshot
    ) { taken.append(snapshot) }
    func controllerWillChangeContent(_ controller: FetchedResultsController<Person>) {
      Issue.record("a delegate that takes snapshots gets no other call")
    }
  }

  private final class Differences: FetchedResultsDifferenceDelegate {
    var ids: [ManagedObjectID] = []
    var differences = 0
    var callbacks = 0
    func controller(
      _ controller: FetchedResultsController<Person>,
      didChangeContentWith difference: CollectionDifference<ManagedObjectID>
    ) {
      differences += 1
      ids = ids.applying(difference) ?? []
    }
    func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { callbacks += 1 }
  }

  @Test("a delegate may take snapshots instead of callbacks, the first when the controller fetches")
  func snapshots() throws {
    let context = try CompanyStack(.inMemory).context()
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    let controller = try people(context, sections: "name")
    let delegate = Snapshots()
    controller.delegate = delegate
    try controller.performFetch()
    #expect(delegate.taken.map(\.sectionNames) == [["Ada", "Bob"]])
    ada.age = 3
    context.processPendingChanges()
    #expect(delegate.taken.last?.updatedObjectIDs == [ada.objectID])
    try context.save()
    #expect(delegate.taken.count == 3)
    #expect(delegate.taken.last?.objectIDs == [ada.objectID, bob.objectID], "IDs have become permanent")
    #expect(delegate.taken.last?.sections.map { Array($0.objectIDs) } == [[ada.objectID], [bob.objectID]])
  }

  @Test("without sections a delegate may take differences; with sections it gets the callbacks")
  func differences() throws {
    let context = try CompanyStack(.inMemory).context()
    let people = try ["Ada", "Bob", "Cy", "Dee"].map { try context.person($0) }
    let controller = try self.people(context)
    let delegate = Differences()
    controller.delegate = delegate
    try controller.performFetch()
    #expect(delegate.ids == people.map(\.objectID))
    people[0].name = "Zoe"
    people[2].age = 3
    context.delete(people[1])
    context.processPendingChanges()
    #expect(delegate.ids == [2, 3, 0].map { people[$0].objectID } && delegate.differences == 2)
    try context.save()
    #expect(delegate.ids == [2, 3, 0].map { people[$0].objectID } && !delegate.ids.contains(where: \.isTemporaryID))
    #expect(delegate.callbacks == 0)
    let sectioned = try self.people(context, sections: "name")
    try sectioned.performFetch()
    let (other, former) = (Differences(), delegate.differences)
    sectioned.delegate = other
    people[2].age = 4
    context.processPendingChanges()
    #expect(other.differences == 0 && other.callbacks == 1 && delegate.differences == former + 1)
  }

  @Test("a difference has moves, and leads from one snapshot to the other whatever has changed", arguments: 1...20)
  func applying(_ seed: Int) throws {
    var random = FixedNumbers(state: UInt64(seed))
    let context = try CompanyStack(.inMemory).context()
    let controller = try people(context, sections: "name")
    try controller.performFetch()
    var former = try #require(controller.snapshot)
    for _ in 0..<10 {
      for _ in 0..<5 {
        try context.person("\(Int.random(in: 10..<20, using: &random))")
        controller.fetchedObjects?.randomElement(using: &random)?.name = "\(Int.random(in: 10..<20, using: &random))"
        controller.fetchedObjects?.randomElement(using: &random).map { context.delete($0) }
        context.processPendingChanges()
      }
      let next = try #require(controller.snapshot)
      let difference = next.difference(from: former)
      #expect(former.objectIDs.applying(difference.objectIDs) == next.objectIDs)
      #expect(former.sectionNames.applying(difference.sectionNames) == next.sectionNames)
      former = next
    }
  }

  @Test("a slow consumer gets the newest snapshot, with the difference from the one it saw last")
  func slowConsumer() async throws {
    let stack = try CompanyStack(.inMemory)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let watch = try await context.perform { context in try Watch(context) }
    var iterator = watch.updates.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first.snapshot.objectIDs.isEmpty && first.difference.objectIDs.isEmpty)
    let ids = try await context.perform { context in
      let ids = try ["Ada", "Bob", "Cy"].map { name in
        let person = try context.person(name)
        try context.obtainPermanentIDs(for: [person])
        context.processPendingChanges()
        return person.objectID
      }
      (context.object(with: ids[0]) as? Person)?.age = 7
      context.processPendingChanges()
      context.delete(context.object(with: ids[1]))
      return ids
    }
    let second = try #require(await iterator.next())
    #expect(second.snapshot.objectIDs == [ids[0], ids[2]])
    #expect(second.difference.objectIDs.insertions.count == 2 && second.difference.objectIDs.removals.isEmpty)
    #expect(second.difference.updatedObjectIDs == [ids[0]])
    var late = watch.updates.makeAsyncIterator()
    #expect(await late.next()?.snapshot.objectIDs == [ids[0], ids[2]])
    await context.perform { _ in watch.end() }
    #expect(await iterator.next() == nil)
  }

  @Test("a consumer that waits is woken by a change, and a cancelled one ends")
  func waiting() async throws {
    let stack = try CompanyStack(.inMemory)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let watch = try await context.perform { context in try Watch(context) }
    let updates = watch.updates
    let counts = Task {
      var counts: [Int] = []
      for await update in updates {
        counts.append(update.snapshot.objectIDs.count)
        if counts.last == 0 { try await context.perform { context in _ = try context.person("Ada") } }
        if counts.last == 1 { break }
      }
      return counts
    }
    #expect(try await counts.value == [0, 1])
    let waiting = Task {
      var iterator = updates.makeAsyncIterator()
      _ = await iterator.next()
      return await iterator.next() == nil
    }
    waiting.cancel()
    #expect(await waiting.value)
  }

  /// Keeps a controller on its context's queue.
  private final class Watch: @unchecked Sendable {
    // Sendable: the controller is made and released on the context's queue.
    private var controller: FetchedResultsController<Person>?
    let updates: FetchedResultsUpdates

    init(_ context: ManagedObjectContext) throws {
      let controller = FetchedResultsController<Person>(
        fetchRequest: FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")]),
        managedObjectContext: context)
      try controller.performFetch()
      self.controller = controller
      updates = controller.updates
    }

    func end() { controller = nil }
  }
}
