import TestSupport
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

  @Test("the model of an imported store is freed with everything in it")
  func foreignModels() throws {
    let archive = ArchiveWriter()
    func entity(_ name: String, parent: Int? = nil, relationship: (name: String, to: String, back: String)) -> (
      Int, Int
    ) {
      let title = archive.text(name)
      let relationshipName = archive.text(relationship.name)
      let description = archive.object(
        "NSRelationshipDescription",
        [
          "_NSDestinationEntityName": .object(archive.text(relationship.to)),
          "_NSInverseRelationshipName": .object(archive.text(relationship.back)), "NSIsOptional": .bool(true),
        ])
      var fields: [String: ArchiveWriter.Field] = [
        "NSEntityName": .object(title),
        "NSProperties": .object(archive.dictionary([(relationshipName, description)])),
      ]
      if let parent { fields["NSSuperentity"] = .object(parent) }
      return (title, archive.object("NSEntityDescription", fields))
    }
    let owner = entity("Owner", relationship: ("pets", "Pet", "owner"))
    let pet = entity("Pet", parent: owner.1, relationship: ("owner", "Owner", "pets"))
    let root = archive.object("NSManagedObjectModel", ["NSEntities": .object(archive.dictionary([owner, pet]))])
    let cache = ArchiveWriter.deflated(archive.data(root: root))
    weak var description: EntityDescription?
    do {
      let model = try ManagedObjectModel(modelCache: cache, file: "App.sqlite", isKept: false)
      description = model.entitiesByName["Pet"]
      #expect(description?.superentity?.name == "Owner" && description?.relationships.count == 2)
      withExtendedLifetime(model) {}
    }
    #expect(description == nil)
  }
}
