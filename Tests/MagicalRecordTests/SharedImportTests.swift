import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// MagicalRecord's own import tests, by their data and model, over both stores.
@Suite("MagicalRecord's test data", .enabled(if: SharedImport.isThere, "the shared data aren't beside the package"))
struct SharedImportTests {
  @Test("of one entity: every type of attribute", arguments: StoreKind.allCases)
  func attributes(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let object = try #require(try SharedImport.run("SingleEntityWithNoRelationships", in: context))
    func value(_ name: String) -> Value? { object.value(forKey: name) }
    #expect(value("stringTestAttribute") == .string("This is a test value"))
    #expect(value("int16TestAttribute") == .int(256))
    #expect(value("int32TestAttribute") == .int(32))
    #expect(value("int64TestAttribute") == .int(10_158_365_420_975_381))
    #expect(value("decimalTestAttribute") == .decimal(Decimal(string: "1.2") ?? 0))
    #expect(value("doubleTestAttribute") == .double(124.3))
    #expect(value("floatTestAttribute") == .double(10_000_000_000))
    #expect(value("booleanTestAttribute") == .bool(false))
    #expect(value("booleanAsStringTestAttribute") == .bool(true))
    #expect(value("mappedStringAttribute") == .string("Mapped value"))
    #expect(value("nullTestAttribute") == .null)
    #expect(value("numberAsStringTestAttribute") == .string("10248909829"))
    #expect(value("notInJsonAttribute") == .string("Set From Core Data Model Editor"))
    #expect(value("dateTestAttribute") == .date(SharedImport.date("2011-07-23T22:30:40Z")))
    #expect(value("dateWithCustomFormat") == .date(SharedImport.date("2011-08-05T01:56:04Z")))
    #expect(value("unixTimeTestAttribute") == .date(Date(timeIntervalSince1970: 1_388_349_428)))
    #expect(value("unixTime13TestAttribute") == .date(Date(timeIntervalSince1970: 1_388_349_427.543)))
    try context.save()
  }

  @Test("without a key make an object each", arguments: StoreKind.allCases)
  func several(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let data = try SharedImport.data("MultipleEntitiesWithNoPrimaryKey")
    guard case .array(let records) = data else { throw SharedImport.NotAList() }
    let objects = try context.importObjects(records, into: "SingleEntityWithNoRelationships")
    #expect(objects.count == 4)
    #expect(Set(objects.map(\.objectID)).count == 4)
    try context.save()
    #expect(try SharedImport.count("SingleEntityWithNoRelationships", in: context) == 4)
  }

  @Test("of related entities make them of the relationship's own entity, also of an abstract one")
  func related() throws {
    let context = try SharedImport.context(.inMemory)
    let object = try #require(try SharedImport.run("SingleRelatedEntity", in: context))
    let one = try #require(SharedImport.object("testAbstractToOneRelationship", of: object))
    #expect(one.entity.name == "AbstractRelatedEntity")
    #expect(SharedImport.text("sampleBaseAttribute", of: one)?.contains("BASE") == true)
    #expect(SharedImport.objects("testAbstractToManyRelationship", of: object).count == 2)
    let concrete = try #require(SharedImport.object("testConcreteToOneRelationship", of: object))
    #expect(SharedImport.text("sampleBaseAttribute", of: concrete)?.contains("BASE") == true)
    #expect(SharedImport.text("sampleConcreteAttribute", of: concrete)?.contains("DESCENDANT") == true)
    let many = SharedImport.objects("testConcreteToManyRelationship", of: object)
    #expect(many.count == 3)
    #expect(many.allSatisfy { SharedImport.text("sampleConcreteAttribute", of: $0)?.contains("DESCENDANT") == true })
    #expect("\(#expect(throws: ManagedObjectError.self) { try context.save() } as Any)".contains("is abstract"))
  }

  @Test("with a related object by its default key find it again", arguments: StoreKind.allCases)
  func defaults(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let first = try #require(try SharedImport.run("SingleEntityRelatedToMappedEntityUsingDefaults", in: context))
    // The model says that a mapped entity is found by an attribute which it hasn't got: each record makes one.
    let related = try #require(SharedImport.object("mappedEntity", of: first))
    #expect(SharedImport.text("sampleAttribute", of: related)?.contains("sample json file") == true)
    #expect(try SharedImport.count("MappedEntity", in: context) == 1)
    try context.save()
  }

  @Test("with a related object by a mapped key find it again", arguments: StoreKind.allCases)
  func mappedKey(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let name = "SingleEntityRelatedToMappedEntityUsingMappedPrimaryKey"
    let existing = try context.insert("MappedEntity")
    try existing.setValue(.int(42), forKey: "testMappedEntityID")
    try context.save()
    let object = try #require(try SharedImport.run(name, in: context))
    let related = try #require(SharedImport.object("mappedEntity", of: object))
    #expect(related === existing)
    #expect(SharedImport.text("sampleAttribute", of: related)?.contains("sample json file") == true)
    #expect(try SharedImport.count("MappedEntity", in: context) == 1)
  }

  @Test("with nested attributes read them by their key paths")
  func nested() throws {
    let context = try SharedImport.context(.inMemory)
    let object = try #require(
      try SharedImport.run("SingleEntityRelatedToMappedEntityWithNestedMappedAttributes", in: context))
    let related = try #require(SharedImport.object("mappedEntity", of: object))
    #expect(related.value(forKey: "nestedAttribute") == .string("This is a nested value"))
    #expect(related.value(forKey: "mappedEntityID") == .int(42))
  }

  @Test("with secondary names are read by them, relationships too")
  func secondary() throws {
    let context = try SharedImport.context(.inMemory)
    let object = try #require(
      try SharedImport.run("SingleEntityRelatedToMappedEntityWithSecondaryMappings", in: context))
    #expect(object.value(forKey: "secondaryMappedAttribute") == .string("mapped value from sample json file"))
    #expect(object.value(forKey: "notImportedAttribute") == .bool(true))
    let related = try #require(SharedImport.object("mappedRelationship", of: object))
    #expect(related.value(forKey: "testMappedEntityID") == .int(50))
  }

  @Test("with objects in a list are all related", arguments: StoreKind.allCases)
  func listOfObjects(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let entity = "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey"
    let object = try #require(try SharedImport.run(entity, in: context))
    #expect(SharedImport.objects("mappedEntities", of: object).count == 4)
    try context.save()
    #expect(try SharedImport.count("MappedEntity", in: context) == 4)
  }

  @Test("with a list of keys are related to the objects that have them", arguments: StoreKind.allCases)
  func listOfKeys(_ kind: StoreKind) throws {
    let context = try SharedImport.context(kind)
    let entity = "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey"
    let owner = try context.insert(entity)
    try owner.setValue(.int(84), forKey: "testPrimaryKey")
    for number in 0..<10 {
      let mapped = try context.insert("MappedEntity")
      try mapped.setValue(.int(Int64(number)), forKey: "testMappedEntityID")
      try mapped.setValue(.string("test attribute \(number)"), forKey: "sampleAttribute")
      if number == 9, let slot = owner.entity.slot(of: "mappedEntities") { owner.add(mapped, to: slot) }
    }
    try context.save()
    let data = try SharedImport.data("SingleEntityRelatedToManyMappedEntitiesUsingListOfPrimaryKeys")
    let object = try #require(try context.importObject(data, into: entity))
    #expect(object === owner)
    #expect(try SharedImport.count("MappedEntity", in: context) == 10)
    let related = SharedImport.objects("mappedEntities", of: object)
    #expect(related.count == 5)
    #expect(related.allSatisfy { SharedImport.text("sampleAttribute", of: $0)?.hasPrefix("test attribute") == true })
    try context.save()
  }
}

/// The files, and ways to look at what came of them.
enum SharedImport {
  struct NotAList: Error {}

  private static let folder: URL = {
    var url = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<5 { url.deleteLastPathComponent() }
    return url.appendingPathComponent("shared/data")
  }()
  private static let modelFile = folder.appendingPathComponent("models/MagicalRecordTest.xcdatamodeld")
  static let isThere = FileManager.default.fileExists(atPath: modelFile.path)

  static func context(_ kind: StoreKind) throws -> ManagedObjectContext {
    let stack = try CompanyStack(kind, model: ManagedObjectModel(contentsOf: modelFile))
    return stack.context()
  }

  static func data(_ name: String) throws -> ImportedValue {
    try ImportedValue(json: Data(contentsOf: folder.appendingPathComponent("json/\(name).json")))
  }

  static func run(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.importObject(data(name), into: name)
  }

  static func count(_ entity: String, in context: ManagedObjectContext) throws -> Int {
    try context.count(for: FetchRequest<ManagedObject>(entityName: entity))
  }

  static func object(_ name: String, of object: ManagedObject) -> ManagedObject? {
    object.entity.slot(of: name).flatMap { object.object($0) }
  }

  static func objects(_ name: String, of object: ManagedObject) -> Set<ManagedObject> {
    object.entity.slot(of: name).map { object.objects($0) } ?? []
  }

  static func text(_ name: String, of object: ManagedObject) -> String? {
    if case .string(let text)? = object.value(forKey: name) { return text }
    return nil
  }

  static func date(_ text: String) -> Date { ISODate.date(parsing: text) ?? .distantPast }
}
