import Testing

@testable import ManagedObjects

@Suite("The lifetime of a model")
struct ModelLifetimeTests {
  /// A relationship of a model that nothing refers to any more.
  private func orphan() throws -> RelationshipDescription {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person", relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owner", isToMany: true)]),
      EntityDefinition("Animal", isAbstract: true),
      EntityDefinition(
        "Pet", parent: "Animal", relationships: [RelationshipDefinition("owner", to: "Person", inverse: "pets")]),
    ])
    return try #require(model.entitiesByName["Person"]?.relationshipsByName["pets"])
  }

  @Test("descriptions may outlive every reference to their model")
  func descriptionsOutliveTheirModel() throws {
    let pets = try orphan()
    // Memory of freed models would be used again by these.
    for _ in 0..<100 { _ = try orphan() }
    #expect(pets.entity.name == "Person")
    #expect(pets.destinationEntity.rootEntity.name == "Animal")
    #expect(pets.inverseRelationship?.name == "owner")
    #expect(pets.inverseRelationship?.entity === pets.destinationEntity)
  }
}
