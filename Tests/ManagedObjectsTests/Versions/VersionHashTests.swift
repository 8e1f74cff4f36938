import Foundation
import ManagedObjects
import TestSupport
import Testing

@Suite("Version hashes")
struct VersionHashTests {
  private func hash(_ name: String = "Person", _ change: (inout EntityDefinition) -> Void = { _ in }) throws -> Data {
    var person = EntityDefinition(
      "Person",
      attributes: [AttributeDefinition("name", .string), AttributeDefinition("born", .date)],
      relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owner", isToMany: true)])
    change(&person)
    let pet = EntityDefinition(
      "Pet", relationships: [RelationshipDefinition("owner", to: "Person", inverse: "pets")])
    let child = EntityDefinition("Child", parent: "Person")
    let model = try ManagedObjectModel(entities: [person, pet, child, EntityDefinition("Other")])
    return try #require(model.entityVersionHashesByName[name])
  }

  @Test("are 32 bytes, the same in every process")
  func stable() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition("Person", attributes: [AttributeDefinition("name", .string)])
    ])
    let hash = try #require(model.entitiesByName["Person"]?.versionHash)
    #expect(hash.count == 32)
    #expect(
      hash.base64EncodedString() == "dz8J5GzaxBbC5Draxu4dqQE8XqSPSnEOsoYXAiw6Azs=",
      "files keep it: another text under the hash makes every one of them migrate")
  }

  @Test(
    "change with what a store depends on",
    arguments: [
      { $0.isAbstract = true }, { $0.parent = "Other" }, { $0.versionHashModifier = "2" },
      { $0.attributes.append(AttributeDefinition("age", .integer16)) }, { $0.attributes.removeLast() },
      { $0.attributes[0].name = "title" }, { $0.attributes[0].type = .uri }, { $0.attributes[0].isOptional = false },
      { $0.attributes[0].versionHashModifier = "x" }, { $0.attributes[0].isTransient = true },
      { $0.attributes[1].userInfo["dateStorage"] = "unix" }, { $0.relationships[0].isOrdered = true },
      { $0.relationships[0].minimumCount = 1 }, { $0.relationships[0].deleteRule = .cascade },
      { $0.relationships[0].versionHashModifier = "x" }, { $0.uniquenessConstraints = [["name"]] },
    ] as [@Sendable (inout EntityDefinition) -> Void])
  func counts(change: @Sendable (inout EntityDefinition) -> Void) throws {
    #expect(try hash("Person", change) != hash())
    #expect(try hash("Other", change) == hash("Other"))
  }

  @Test(
    "don't change with what it doesn't",
    arguments: [
      { $0.className = "Human" }, { $0.userInfo["a"] = "b" }, { $0.attributes.reverse() },
      { $0.attributes[0].defaultValue = .string("x") }, { $0.attributes[0].minimumValue = .int(3) },
      { $0.attributes[0].regularExpression = "x+" }, { $0.attributes[0].userInfo["a"] = "b" },
      { $0.attributes[0].renamingIdentifier = "title" }, { $0.renamingIdentifier = "Human" },
      { $0.indexes = [FetchIndexDefinition("byName", elements: [.init(property: "name")])] },
      { $0.attributes.append(AttributeDefinition("mood", .string, isTransient: true)) },
      { $0.fetchedProperties = [FetchedPropertyDefinition("all", entityName: "Pet", predicateFormat: nil)] },
    ] as [@Sendable (inout EntityDefinition) -> Void])
  func doesNotCount(change: @Sendable (inout EntityDefinition) -> Void) throws {
    #expect(try hash("Person", change) == hash())
  }

  @Test("of an entity change with what it inherits")
  func inherited() throws {
    #expect(try hash("Child") { $0.attributes[0].isOptional = false } != hash("Child"))
    #expect(try hash("Child") { $0.relationships[0].isOrdered = true } != hash("Child"))
    #expect(try hash("Child") { $0.uniquenessConstraints = [["name"]] } != hash("Child"))
  }

  @Test("a model's checksum is of all its entities, in any order")
  func checksum() throws {
    let (a, b) = (EntityDefinition("A"), EntityDefinition("B"))
    let model = try ManagedObjectModel(entities: [a, b])
    #expect(try model.versionChecksum == ManagedObjectModel(entities: [b, a]).versionChecksum)
    #expect(try model.versionChecksum != ManagedObjectModel(entities: [a]).versionChecksum)
  }

  @Test("a definition comes back from the text that a store keeps, with every field")
  func definitions() throws {
    let values: [Value] = [
      .null, .bool(true), .int(-7), .double(0.1), .double(.infinity), .decimal(12.34), .string("ä \"x\""),
      .date(Date(timeIntervalSinceReferenceDate: 0.1)), .data(Data([0, 255])), .uuid(UUID()),
    ]
    var attributes = values.enumerated().map { AttributeDefinition("a\($0)", .undefined, defaultValue: $1) }
    attributes[0].renamingIdentifier = "old"
    attributes[0].userInfo = ["elements": "x"]
    attributes[0].type = .date
    attributes[0].derivationExpression = "now:()"
    attributes[1].compositeElements = [AttributeDefinition("part", .string)]
    var entity = EntityDefinition(
      "A", isAbstract: true, className: "K", attributes: attributes,
      relationships: [RelationshipDefinition("r", to: "A", isToMany: true, isOrdered: true, deleteRule: .deny)],
      uniquenessConstraints: [["a0", "a2"]],
      indexes: [FetchIndexDefinition("i", elements: [.init(property: "a0", isAscending: false)])])
    entity.fetchedProperties = [FetchedPropertyDefinition("f", entityName: "A", predicateFormat: "a0 = 1")]
    let model = try ManagedObjectModel(
      entities: [entity], configurations: ["c": ["A"]],
      fetchRequestTemplates: [.init("t", entityName: "A", predicateFormat: nil)], versionIdentifier: "3")
    let definition = ModelDefinition(model)
    #expect(try ModelDefinition(text: definition.text(), store: "") == definition)
    #expect(try ModelDefinition(text: definition.text(), store: "").text() == definition.text())
    #expect(try definition.model().versionChecksum == model.versionChecksum)
  }

  @Test("a text that was written before a field was there is read with what the field is by itself")
  func olderTexts() throws {
    let text = """
      {"configurations":{},"fetchRequestTemplates":[],"entities":[{"name":"A",
      "attributes":[{"name":"a","type":"String","isOptional":false}],"relationships":[{"name":"b","destination":"A"}]}]}
      """
    let definition = try ModelDefinition(text: text, store: "")
    #expect(
      definition.entities == [
        EntityDefinition(
          "A", attributes: [AttributeDefinition("a", .string, isOptional: false)],
          relationships: [RelationshipDefinition("b", to: "A")])
      ])
    #expect(throws: MigrationError.self) { try ModelDefinition(text: "{", store: "") }
    #expect(throws: MigrationError.self) { try ModelDefinition(text: "{\"entities\":[{\"name\":7}]}", store: "") }
  }
}
