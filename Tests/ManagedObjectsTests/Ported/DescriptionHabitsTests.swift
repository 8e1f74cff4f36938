import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of predicates, expressions, entities and attributes.
@Suite("What programs expect of predicates and descriptions")
struct DescriptionHabitsTests {
  @Test("constants and compounds describe themselves as Foundation's do")
  func descriptions() throws {
    #expect("\(FetchPredicate.constant(true))" == "TRUEPREDICATE")
    #expect("\(FetchPredicate.constant(false))" == "FALSEPREDICATE")
    func parse(_ format: String) throws -> FetchPredicate { try FetchPredicate(format: format) }
    #expect(try (parse("x = 10") && parse("y = 30")) == parse("x = 10 AND y = 30"))
    #expect(try (parse("z = 20") || parse("k = 40")) == parse("z = 20 OR k = 40"))
    let both = try parse("x = 10") && parse("y = 30")
    let either = try parse("z = 20") || parse("k = 40")
    #expect("\(both && either)" == "(x == 10 AND y == 30) AND (z == 20 OR k == 40)")
    #expect("\(both || either)" == "(x == 10 AND y == 30) OR (z == 20 OR k == 40)")
    let left = try parse("x = 10 AND v = 11") && parse("y = 30 OR w = 5")
    let right = try parse("z = 20") || parse("k = 40 AND c = 11")
    #expect(
      "\(left || right)"
        == "((x == 10 AND v == 11) AND (y == 30 OR w == 5)) OR (z == 20 OR (k == 40 AND c == 11))")
  }

  @Test(
    "expressions of constants are worked out",
    arguments: [
      "4 + 5 - 2**3 == 1", "1 + 2 > 2", "max:({1, 2, 3, 4, 4, 5, 9, 11}) == 11", "NOT (1 > 2)",
    ])
  func constants(_ format: String) throws {
    #expect(try FetchPredicate(format: format).evaluate(with: [:] as [String: Any?]))
  }

  @Test("functions of the program's own are refused by name")
  func functions() {
    let error = #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: "FUNCTION('hello', 'substring2ToIndex:', 1) == 'h'")
    }
    #expect(error.map { "\($0)".contains("FUNCTION") } == true)
  }

  private static let vehicles = Result {
    try ManagedObjectModel(entities: [
      EntityDefinition("Vehicle"), EntityDefinition("Lorry", parent: "Vehicle"),
      EntityDefinition("Tanker", parent: "Lorry"), EntityDefinition("Driver"),
    ])
  }

  /// The nearest entity that both are kinds of.
  private func common(_ a: EntityDescription, _ b: EntityDescription) -> EntityDescription? {
    sequence(first: a) { $0.superentity }.first { b.isKindOf($0) }
  }

  @Test("entities know their place among each other")
  func hierarchy() throws {
    let names = try Self.vehicles.get().entitiesByName
    let (vehicle, lorry, tanker, driver) = (
      try #require(names["Vehicle"]), try #require(names["Lorry"]), try #require(names["Tanker"]),
      try #require(names["Driver"])
    )
    #expect(sequence(first: tanker) { $0.superentity }.dropFirst().map(\.name) == ["Lorry", "Vehicle"])
    #expect([tanker, lorry, vehicle].allSatisfy { $0.rootEntity == vehicle } && driver.rootEntity == driver)
    #expect(common(tanker, lorry) == lorry && common(lorry, tanker) == lorry && common(tanker, tanker) == tanker)
    #expect(common(lorry, vehicle) == vehicle && common(vehicle, lorry) == vehicle)
    #expect(common(lorry, driver) == nil && common(driver, lorry) == nil)
    #expect(lorry.isKindOf(vehicle) && tanker.isKindOf(vehicle) && tanker.isKindOf(lorry) && lorry.isKindOf(lorry))
    #expect(!vehicle.isKindOf(tanker) && !lorry.isKindOf(tanker) && !driver.isKindOf(vehicle))
    #expect(vehicle.subentities == [lorry] && vehicle.selfAndDescendants == [vehicle, lorry, tanker])
    func uppermost(_ entities: [EntityDescription]) -> Set<String> {
      Set(entities.filter { entity in !entities.contains { $0 != entity && entity.isKindOf($0) } }.map(\.name))
    }
    #expect(uppermost([tanker, tanker, lorry, lorry]) == ["Lorry"] && uppermost([tanker]) == ["Tanker"])
    #expect(uppermost([tanker, lorry, driver, vehicle]) == ["Vehicle", "Driver"])
  }

  @Test("a class has the name of its entity", arguments: StoreKind.allCases)
  func names(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    #expect(try context.insert(Manager.self).entity.name == "Manager" && context.person("Ada").entity.name == "Person")
    final class Unknown: ManagedObject {}
    #expect(throws: ManagedObjectError.self) { try context.insert(Unknown.self) }
  }

  @Test("attributes have the defaults that they were defined with, of every type", arguments: StoreKind.allCases)
  func attributes(_ kind: StoreKind) throws {
    let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 700), UUID())
    let url = try #require(URL(string: "https://example.org/a/"))
    let defaults: [(String, AttributeType, Value)] = [
      ("a", .integer16, 1), ("b", .integer32, 11), ("c", .integer64, .null),
      ("d", .decimal, .decimal(try #require(Decimal(string: "1.11111")))),
      ("e", .float, .double(Double(Float(1.11111)))),
      ("f", .double, .double(1.11111)), ("g", .string, "hello world"), ("h", .boolean, .bool(false)),
      ("i", .date, .date(date)), ("j", .uuid, .uuid(uuid)), ("k", .uri, .uri(url)),
      ("l", .binaryData, .data(Data("Test".utf8))),
    ]
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Thing", attributes: defaults.map { AttributeDefinition($0.0, $0.1, defaultValue: $0.2) })
    ])
    let stack = try CompanyStack(kind, model: model)
    let context = stack.context()
    let thing = try context.insert("Thing")
    try context.save()
    let stored = try stack.context().existingObject(with: thing.objectID)
    for (name, type, value) in defaults {
      let attribute = try #require(thing.entity.attributesByName[name])
      #expect(attribute.type == type && attribute.defaultValue == value)
      #expect(thing.value(forKey: name) == value && stored.value(forKey: name) == value, "\(name)")
    }
  }

  @Test("an entity's version is the same each time that it is defined")
  func versions() throws {
    func model() throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [EntityDefinition("Thing", attributes: [AttributeDefinition("a", .string)])])
    }
    #expect(try model().entityVersionHashesByName == model().entityVersionHashesByName)
    #expect(try model().versionChecksum == model().versionChecksum)
  }
}
