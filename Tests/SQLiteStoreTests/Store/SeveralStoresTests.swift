import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Several stores under one coordinator")
struct SeveralStoresTests {
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
  }

  private func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  private func addStores(_ first: StoreKind, _ second: StoreKind) throws -> [String] {
    try [(first, "samples" as String?), (second, nil)].map { kind, configuration in
      switch kind {
      case .inMemory: return try coordinator.addPersistentStore(.inMemory(configuration: configuration))
      case .sqlite:
        let file = directory.file((configuration ?? "rest") + ".sqlite")
        return try coordinator.addPersistentStore(.sqlite(at: file, configuration: configuration))
      }
    }
  }

  @Test(
    "each entity's objects go to the store of its configuration", arguments: StoreKind.allCases, StoreKind.allCases)
  func configurations(_ first: StoreKind, _ second: StoreKind) throws {
    let identifiers = try addStores(first, second)
    let writer = context()
    let (sample, ada) = (try writer.insert(Sample.self), try writer.person("Ada"))
    ada.employer = try writer.company("Acme")
    try writer.save()
    #expect(sample.objectID.storeIdentifier == identifiers[0])
    #expect(ada.objectID.storeIdentifier == identifiers[1])
    let reader = context()
    #expect(try reader.all(Sample.self).map(\.objectID) == [sample.objectID])
    #expect(try reader.all(Person.self).first?.employer?.name == "Acme")
    for object in [sample, ada] { writer.delete(object) }
    try writer.save()
    #expect(try context().all(Sample.self).isEmpty && context().all(Person.self).isEmpty)
  }

  @Test("an entity that no store holds is refused by name")
  func noStore() throws {
    try coordinator.addPersistentStore(.inMemory(configuration: "samples"))
    let context = context()
    #expect(throws: ManagedObjectError.noStore(entity: "Person")) { try context.all(Person.self) }
    try context.person("Ada")
    #expect(throws: ManagedObjectError.noStore(entity: "Person")) { try context.save() }
  }

  @Test("a configuration that the model hasn't got is refused")
  func noConfiguration() throws {
    #expect(throws: ManagedObjectError.self) {
      try coordinator.addPersistentStore(.inMemory(configuration: "nothing"))
    }
  }
}
