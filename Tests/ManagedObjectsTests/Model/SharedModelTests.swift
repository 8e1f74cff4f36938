import Foundation
import Testing

@testable import ManagedObjects

@Suite("Models that others made", .enabled(if: ModelFixture.hasShared, "the shared models aren't beside the package"))
struct SharedModelTests {
  func model(_ name: String) throws -> ManagedObjectModel {
    try ManagedObjectModel(contentsOf: #require(ModelFixture.shared(name)))
  }

  @Test("MagicalRecord's test model has its entities, user info and inheritance")
  func magicalRecord() throws {
    let model = try model("MagicalRecordTest.xcdatamodeld")
    #expect(model.warnings == [])
    #expect(model.entities.count == 12)
    let mapped = try #require(model.entitiesByName["MappedEntity"])
    #expect(mapped.userInfo == ["relatedByAttribute": "mapped"])
    #expect(mapped.attributesByName["testMappedEntityID"]?.userInfo == ["mappedKeyName": "id"])
    #expect(mapped.attributesByName["testMappedEntityID"]?.defaultValue == .int(0))
    let concrete = try #require(model.entitiesByName["ConcreteRelatedEntity"])
    #expect(concrete.superentity?.name == "AbstractRelatedEntity")
    #expect(concrete.superentity?.isAbstract == true)
    let secondary = try #require(model.entitiesByName["SingleEntityRelatedToMappedEntityWithSecondaryMappings"])
    #expect(secondary.attributesByName["secondaryMappedAttribute"]?.userInfo["mappedKeyName.2"] == "actualMappedKey")
    #expect(secondary.attributesByName["notImportedAttribute"]?.defaultValue == .bool(true))
    #expect(secondary.attributesByName["notImportedAttribute"]?.isOptional == false)
    let single = try #require(model.entitiesByName["SingleEntityWithNoRelationships"])
    #expect(single.attributes.count == 18)
    #expect(single.attributesByName["dateWithCustomFormat"]?.userInfo["dateFormat"] == "M/d/yyyy H-mm-ss")
    #expect(single.attributesByName["decimalTestAttribute"]?.defaultValue == .decimal(0))
    #expect(single.attributesByName["colorTestAttribute"]?.type == .transformable)
    #expect(model.entitiesByName["EntityWithDifferentClassName"]?.definition.className == "DifferentClassNameMapping")
  }

  @Test("mogenerator's test model has every attribute type, ordered relationships and fetch request templates")
  func mogenerator() throws {
    let model = try model("mogenerator.xcdatamodel")
    #expect(model.warnings == [])
    #expect(model.entities.map(\.name).contains("EntityWithBaseClass"))
    #expect(model.entities.count == 9)
    let parent = try #require(model.entitiesByName["Parent"])
    #expect(parent.superentity?.name == "Human")
    #expect(parent.attributesByName["myInt16Transient"]?.isTransient == true)
    #expect(parent.attributesByName["age"]?.definition.minimumValue == .int(0))
    let types: [String: AttributeType] = [
      "myBinaryData": .binaryData, "myBoolean": .boolean, "myDate": .date, "myDecimal": .decimal, "myDouble": .double,
      "myFloat": .float, "myInt16": .integer16, "myInt32": .integer32, "myInt64": .integer64, "myString": .string,
      "myTransformableSansClassName": .transformable,
    ]
    for (name, type) in types { #expect(parent.attributesByName[name]?.type == type, "\(name)") }
    let ordered = try #require(parent.relationshipsByName["orderedChildren"])
    #expect(ordered.isToMany && ordered.isOrdered && ordered.deleteRule == .cascade)
    #expect(ordered.inverseRelationship?.name == "parent")
    #expect(parent.relationshipsByName["children"]?.inverseRelationship == nil)
    #expect(parent.userInfo == [:])
    #expect(model.entitiesByName["Human"]?.userInfo["key with.dots..."] == "value with \"quotes\"")
    #expect(model.entitiesByName["EntitySansCustomClass"]?.definition.className == nil)
    #expect(model.fetchRequestTemplates.count == 5)
    #expect(model.fetchRequestTemplates["byParent"]?.entityName == "Child")
    #expect(model.fetchRequestTemplates["byParent"]?.predicateFormat == "parent == $parent")
    #expect(model.fetchRequestTemplates["allHumans"]?.predicateFormat == nil)
  }

  @Test("the best practices model has derived attributes, length bounds and uniqueness")
  func bestPractices() throws {
    let model = try model("BestPractices.xcdatamodeld")
    #expect(model.warnings == [])
    #expect(model.entities.map(\.name) == ["Article", "Category"])
    let article = try #require(model.entitiesByName["Article"])
    #expect(article.definition.className == "Article")
    #expect(article.attributesByName["searchName"]?.definition.derivationExpression == "canonical:(name)")
    #expect(article.attributesByName["localResource"]?.type == .uri)
    #expect(article.attributesByName["name"]?.definition.minimumValue == .int(3))
    #expect(article.attributesByName["name"]?.definition.maximumValue == .int(32))
    #expect(article.attributesByName["views"]?.definition.usesScalarValueType == true)
    #expect(article.attributesByName["creationDate"]?.isOptional == false)
    #expect(article.relationshipsByName["category"]?.inverseRelationship?.name == "articles")
    let category = try #require(model.entitiesByName["Category"])
    #expect(category.uniquenessConstraints.map { $0.map(\.name) } == [["name"]])
    #expect(category.attributesByName["color"]?.definition.valueTransformerName == "UIColorValueTransformer")
  }

  @Test("a model of six versions lists them, and its current version is the one that is marked")
  func moody() throws {
    let url = try #require(ModelFixture.shared("MoodyMigrations.xcdatamodeld"))
    let versions = try ManagedObjectModel.versions(of: url)
    #expect(versions.keys.sorted() == ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody 6"])
    let model = try ManagedObjectModel(contentsOf: url)
    #expect(model.versionIdentifier == "6")
    #expect(model.warnings == [])
    let mood = try #require(model.entitiesByName["Mood"])
    #expect(mood.attributesByName["remoteID"]?.renamingIdentifier == "remoteIdentifier")
    #expect(mood.relationshipsByName["country"]?.inverseRelationship?.name == "moods")
    let indexed = mood.indexes.map { $0.elements.compactMap(\.property) }
    #expect(
      Set(indexed) == [
        ["markedForDeletionDate"], ["remoteID"], ["markedForRemoteDeletion", "markedForDeletionDate", "date"],
      ])
    let country = try #require(model.entitiesByName["Country"])
    #expect(country.uniquenessConstraints.map { $0.map(\.name) } == [["numericISO3166Code", "uniquenessDummy"]])
  }

  @Test("every one of them loads")
  func all() throws {
    let data = try #require(ModelFixture.shared("")).deletingLastPathComponent()
    let found = try #require(FileManager.default.enumerator(at: data, includingPropertiesForKeys: nil))
    var count = 0
    for case let url as URL in found where url.pathExtension == "xcdatamodel" {
      // Xcode's old binary form has no such file, and is refused.
      guard FileManager.default.fileExists(atPath: url.appendingPathComponent("contents").path) else { continue }
      #expect(throws: Never.self, "\(url.path)") { try ManagedObjectModel(contentsOf: url) }
      count += 1
    }
    #expect(count > 9)
  }

  @Test("every version loads by its own path", arguments: ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5"])
  func version(name: String) throws {
    let model = try model("MoodyMigrations.xcdatamodeld/\(name).xcdatamodel")
    #expect(model.warnings == [])
    #expect(model.versionIdentifier == (name == "Moody" ? "1" : String(name.suffix(1))))
    #expect(model.entitiesByName["Mood"] != nil)
    #expect(
      try self.model("MoodyMigrations.xcdatamodeld/\(name).xcdatamodel/contents").entities.count == model.entities.count
    )
  }
}
