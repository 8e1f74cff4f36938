import Foundation
import SQLiteStore
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("Stores that are opened and closed again and again", .serialized)
struct OpenedStoresTests {
  /// What the openings leave behind. Not counted.
  private struct Traces {
    weak var coordinator: PersistentStoreCoordinator?
    weak var store: PersistentStore?
    weak var context: ManagedObjectContext?
    weak var object: ManagedObject?

    var isGone: Bool { coordinator == nil && store == nil && context == nil && object == nil }
  }

  private func open(_ file: URL, _ model: ManagedObjectModel) throws -> (Traces, ManagedObjectID) {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addPersistentStore(.sqlite(at: file))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let note = try context.insert("Note")
    try context.save()
    let traces = Traces(coordinator: coordinator, store: store, context: context, object: note)
    try coordinator.close()
    return (traces, note.objectID)
  }

  @Test("a thousand openings leave nothing, and IDs made before stay valid")
  func openings() throws {
    let scratch = try ScratchDirectory()
    let model = try ManagedObjectModel(entities: [EntityDefinition("Note"), EntityDefinition("Page")])
    let files = (0..<10).map { scratch.file("\($0).sqlite") }
    var (traces, ids): ([Traces], [ManagedObjectID]) = ([], [])
    func round() throws {
      for file in files {
        let (trace, id) = try open(file, model)
        traces.append(trace)
        ids.append(id)
      }
    }
    try round()
    let (scopes, stores) = (Set(ids.map { ObjectIdentifier($0.scope) }), Set(ids.map(\.storeIdentifier)))
    for _ in 1..<100 { try round() }
    #expect(traces.count == 1000 && traces.allSatisfy(\.isGone))
    #expect(scopes.count == files.count && stores.count == files.count)
    // One scope for each entity and store, not for each opening.
    #expect(Set(ids.map { ObjectIdentifier($0.scope) }) == scopes)
    #expect(Set(ids).count == 1000 && ids.allSatisfy { $0.entity.name == "Note" })
  }

  @Test("a model that a store's file contains is made once, however often it is read")
  func models() throws {
    let definition = ModelDefinition(CompanyModel.model)
    let first = try definition.model()
    for _ in 0..<100 {
      #expect(try ModelDefinition(text: definition.text(), store: "test").model() === first)
    }
    #expect(try ModelDefinition(CompanyModel.older).model() !== first)
  }
}
