import Foundation
import MagicalRecord
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Rows that a child saves into a parent which has no reason to make objects of them.
@Suite("Rows that pass through a parent")
struct AdoptedRowsTests {
  private static let model = Result {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        "Stop",
        attributes: [AttributeDefinition("code", .integer64), AttributeDefinition("name", .string)],
        uniquenessConstraints: [["code"]])
    ])
  }

  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: try Self.model.get())
    try coordinator.addPersistentStore(.sqlite(at: directory.file("stops.sqlite")))
  }

  /// A context that nothing observes, and one below it.
  private func pair() -> (parent: ManagedObjectContext, child: ManagedObjectContext) {
    let parent = ManagedObjectContext(.confinement, coordinator: coordinator)
    parent.announcesChanges = false
    return (parent, ManagedObjectContext(.confinement, parent: parent))
  }

  @discardableResult
  private func insert(_ code: Int64, _ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
    let stop = try context.insert("Stop")
    try stop.setValue(.int(code), forKey: "code")
    try stop.setValue(.string(name), forKey: "name")
    return stop
  }

  private func names(_ context: ManagedObjectContext) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: "Stop", sortDescriptors: [FetchSortDescriptor("code")])
    return try context.fetch(request).map { $0.value(forKey: "name")?.plainText ?? "" }
  }

  private var stored: [String] {
    get throws { try names(ManagedObjectContext(.confinement, coordinator: coordinator)) }
  }

  @Test("reach the store without objects in between, and get permanent IDs on both sides")
  func passing() throws {
    let (parent, child) = pair()
    let stops = try (1...3).map { try insert(Int64($0), "stop \($0)", in: child) }
    let former = stops.map(\.objectID)
    try child.save()
    #expect(parent.hasChanges)
    try parent.save()
    #expect(!parent.hasChanges && parent.registeredObjectCount == 0)
    #expect(try stored == ["stop 1", "stop 2", "stop 3"])
    // The child takes the IDs with the next thing that it does.
    #expect(try child.count(for: FetchRequest<ManagedObject>(entityName: "Stop")) == 3)
    #expect(stops.allSatisfy { !$0.objectID.isTemporaryID })
    let found = try parent.existingObject(with: former[1])
    #expect(found.objectID == stops[1].objectID && found.value(forKey: "name") == "stop 2")
  }

  @Test("are objects as soon as somebody asks, in the order in which they came")
  func asking() throws {
    let (parent, child) = pair()
    try insert(1, "own", in: parent)
    try insert(2, "first", in: child)
    try child.save()
    try insert(3, "second", in: child)
    try child.save()
    try insert(4, "last", in: parent)
    #expect(parent.insertedObjects.map { $0.value(forKey: "name")?.plainText } == ["own", "first", "second", "last"])
    try parent.insertedObjects[1].setValue("changed", forKey: "name")
    parent.delete(parent.insertedObjects[2])
    try parent.save()
    #expect(try stored == ["own", "changed", "last"])
  }

  @Test("are found by a fetch, and by their temporary IDs, before they are saved")
  func looking() throws {
    let (parent, child) = pair()
    let stop = try insert(1, "new", in: child)
    try child.save()
    let other = ManagedObjectContext(.confinement, parent: parent)
    #expect(try names(other) == ["new"])
    try insert(2, "newer", in: child)
    try child.save()
    #expect(try parent.existingObject(with: stop.objectID).value(forKey: "name") == "new")
    #expect(try names(parent) == ["new", "newer"])
    parent.rollback()
    #expect(!parent.hasChanges)
    try insert(3, "dropped", in: child)
    try child.save()
    parent.reset()
    #expect(!parent.hasChanges)
    #expect(try stored.isEmpty)
  }

  @Test("that have taken unique values are settled by the parent's policy, as objects")
  func conflicts() throws {
    let first = ManagedObjectContext(.confinement, coordinator: coordinator)
    try insert(1, "stored", in: first)
    try first.save()
    let (parent, child) = pair()
    try insert(1, "mine", in: child)
    try insert(2, "another", in: child)
    try child.save()
    let error = #expect(throws: ManagedObjectError.self) { try parent.save() }
    guard case .constraintConflicts(let conflicts)? = error else {
      Issue.record("another error")
      return
    }
    #expect(conflicts.count == 1)
    #expect(parent.hasChanges && parent.insertedObjects.count == 2)
    parent.mergePolicy = .mergeByPropertyObjectTrump
    try parent.save()
    #expect(try stored == ["mine", "another"])
  }

  @Test("are known to the view of a stack with a private writer, by the IDs that they had")
  func privateWriter() async throws {
    let container = PersistentContainer(coordinator: coordinator, stack: .privateWriter, viewQueue: .privateQueue)
    container.viewContext.performAndWait { view in view.announcesChanges = false }
    let background = container.newBackgroundContext()
    let id = try background.performAndWait { context in
      let stop = try insert(1, "deep", in: context)
      try insert(2, "deeper", in: context)
      try context.save()
      return stop.objectID
    }
    try await container.viewContext.saveToPersistentStore()
    #expect(try stored == ["deep", "deeper"])
    try container.viewContext.performAndWait { view in
      let stop = try view.existingObject(with: id)
      #expect(stop.value(forKey: "name") == "deep" && !stop.objectID.isTemporaryID)
    }
  }
}
