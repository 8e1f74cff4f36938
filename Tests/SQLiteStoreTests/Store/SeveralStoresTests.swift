import ManagedObjects
import SQLiteStore
import StoreTestSupport
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
      let file = directory.file((configuration ?? "rest") + ".sqlite")
      return try coordinator.addPersistentStore(kind.store(at: file, configuration: configuration)).identifier
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

  @Test(
    "references don't lead from store to store: each is reported, and nothing is written", arguments: StoreKind.allCases
  )
  func acrossStores(_ kind: StoreKind) throws {
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Left",
          relationships: [
            RelationshipDefinition("one", to: "Right"), RelationshipDefinition("many", to: "Right", isToMany: true),
          ]), EntityDefinition("Right"),
      ], configurations: ["left": ["Left"], "right": ["Right"]])
    let coordinator = PersistentStoreCoordinator(model: model)
    for name in ["left", "right"] {
      let file = directory.file(name + ".sqlite")
      try coordinator.addPersistentStore(
        kind.store(at: file, configuration: name))
    }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let (left, right) = (try context.insert("Left"), try context.insert("Right"))
    try left.setValue(.object(right.objectID), forKey: "one")
    try left.setValue(.objects([right.objectID]), forKey: "many")
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.property) == ["one", "many"] && failures.allSatisfy { $0.code == "other_store" }
    }
    #expect(
      try context.count(for: FetchRequest<ManagedObject>(entityName: "Right", includesPendingChanges: false)) == 0)
    context.delete(left)
    try context.save()
  }

  @Test("an entity that no store holds is refused by name")
  func noStore() throws {
    try coordinator.addPersistentStore(.inMemory(configuration: "samples"))
    let context = context()
    #expect(throws: ManagedObjectError.noStore(entity: "Person")) { try context.all(Person.self) }
    try context.person("Ada")
    #expect(throws: ManagedObjectError.noStore(entity: "Person")) { try context.save() }
  }

  @Test("a configuration that the model doesn't have is refused")
  func noConfiguration() throws {
    #expect(throws: PersistentStoreError.unknownConfiguration(name: "nothing", known: ["samples"])) {
      try coordinator.addPersistentStore(.inMemory(configuration: "nothing"))
    }
  }
}
