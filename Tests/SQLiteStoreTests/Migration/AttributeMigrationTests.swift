import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Inferred migration of attributes", .onEveryStore)
struct AttributeMigrationTests {
  private let store: MigratedStore

  init() throws { store = try MigratedStore() }

  private func thing(_ attributes: [AttributeDefinition]) -> [EntityDefinition] {
    [EntityDefinition("Thing", attributes: attributes)]
  }

  private func renamed(_ attribute: AttributeDefinition, from name: String) -> AttributeDefinition {
    var attribute = attribute
    attribute.renamingIdentifier = name
    return attribute
  }

  @Test("an attribute that is new has its default in every row, one that is gone takes its values along")
  func addingAndRemoving() throws {
    try store.open(thing([AttributeDefinition("a", .string), AttributeDefinition("b", .integer16)])) {
      try $0.add("Thing", ["a": .string("x"), "b": .int(1)])
      try $0.add("Thing", ["a": .null, "b": .int(2)])
    }
    let date = Date(timeIntervalSince1970: 1.5)
    try store.open(
      thing([
        AttributeDefinition("b", .integer16),
        AttributeDefinition("c", .date, isOptional: false, defaultValue: .date(date)),
        AttributeDefinition("d", .decimal),
      ])
    ) {
      try $0.expect("Thing", "b", [.int(1), .int(2)])
      try $0.expect("Thing", "c", [.date(date), .date(date)])
      try $0.expect("Thing", "d", [.null, .null])
    }
    #expect(try store.columns(of: "Thing") == ["id", "b", "c", "d"])
    #expect(try !store.relations().contains { $0.hasPrefix("lade_new") })
  }

  @Test("an attribute is followed by its renaming identifier, through several versions too")
  func renaming() throws {
    try store.open(thing([AttributeDefinition("a", .string)])) { try $0.add("Thing", ["a": .string("x")]) }
    try store.open(thing([renamed(AttributeDefinition("b", .string), from: "a")])) {
      try $0.expect("Thing", "b", [.string("x")])
    }
    try store.open(thing([renamed(AttributeDefinition("c", .string), from: "a"), AttributeDefinition("b", .string)])) {
      try $0.expect("Thing", "c", [.string("x")])
      try $0.expect("Thing", "b", [.null])
    }
  }

  @Test("optional becomes required with a default for rows without a value, and back")
  func optionality() throws {
    try store.open(thing([AttributeDefinition("a", .integer32)])) {
      try $0.add("Thing", ["a": .int(1)])
      try $0.add("Thing")
    }
    try store.open(thing([AttributeDefinition("a", .integer32, isOptional: false, defaultValue: .int(7))])) {
      try $0.expect("Thing", "a", [.int(1), .int(7)])
    }
    try store.open(thing([AttributeDefinition("a", .integer32)])) {
      try $0.expect("Thing", "a", [.int(1), .int(7)])
    }
  }

  @Test("integers become wider, floats doubles, dates change their form")
  func types() throws {
    let dates = [Date(timeIntervalSince1970: 0.25), Date(timeIntervalSince1970: -86400)]
    try store.open(
      thing([
        AttributeDefinition("a", .integer16), AttributeDefinition("b", .float), AttributeDefinition("c", .date),
        AttributeDefinition("d", .date, userInfo: ["dateStorage": "unix"]),
      ])
    ) { context in
      for date in dates {
        try context.add("Thing", ["a": .int(-3), "b": .double(0.5), "c": .date(date), "d": .date(date)])
      }
      try context.add("Thing")
    }
    try store.open(
      thing([
        AttributeDefinition("a", .integer64), AttributeDefinition("b", .double),
        AttributeDefinition("c", .date, userInfo: ["dateStorage": "unix"]), AttributeDefinition("d", .date),
      ])
    ) {
      try $0.expect("Thing", "a", [.int(-3), .int(-3), .null])
      try $0.expect("Thing", "b", [.double(0.5), .double(0.5), .null])
      try $0.expect("Thing", "c", dates.map(Value.date) + [.null])
      try $0.expect("Thing", "d", dates.map(Value.date) + [.null])
    }
    if store.isPostgres { return }
    #expect(try store.column("SELECT typeof(c) FROM Thing") == ["real", "integer", "null"])
    #expect(try store.column("SELECT d FROM Thing")[1] == "1969-12-31 00:00:00")
  }

  @Test(
    "whole numbers and Booleans become wider whole numbers, Decimals, Doubles and texts without losing a value",
    arguments: [
      (AttributeType.integer16, AttributeType.integer32), (.integer16, .integer64), (.integer16, .decimal),
      (.integer16, .double), (.integer16, .float), (.integer16, .string), (.integer32, .integer64),
      (.integer32, .decimal), (.integer32, .double), (.integer32, .string), (.integer64, .decimal),
      (.integer64, .double), (.integer64, .string), (.boolean, .integer16), (.boolean, .integer32),
      (.boolean, .integer64), (.boolean, .decimal), (.boolean, .double), (.boolean, .string),
    ])
  func widening(_ from: AttributeType, _ to: AttributeType) throws {
    let numbers: [Int64] = from == .boolean ? [0, 1] : [-7, 0, from == .integer64 ? 9_007_199_254_740_992 : 32_767]
    let before = numbers.map { from == .boolean ? Value.bool($0 == 1) : .int($0) }
    let after = numbers.map { number -> Value in
      switch to {
      case .decimal: .decimal(Decimal(number))
      case .double, .float: .double(Double(number))
      case .string: .string(from == .boolean ? "\(number == 1)" : "\(number)")
      default: .int(number)
      }
    }
    try store.open(thing([AttributeDefinition("price", from)])) { context in
      for value in before { try context.add("Thing", ["price": value]) }
      try context.add("Thing")
    }
    try store.open(thing([AttributeDefinition("price", to)])) { context in
      try context.expect("Thing", "price", after + [.null])
      for (place, value) in after.enumerated() {
        // Found by the value, so it is stored as a new one would be.
        let request = FetchRequest<ManagedObject>(
          entityName: "Thing", predicate: .equal("price", value), sortDescriptors: [])
        #expect(try context.fetch(request) == [context.every("Thing")[place]])
      }
    }
  }

  @Test("every type that has a text becomes it")
  func texts() throws {
    var tags = AttributeDefinition("tags", .transformable)
    tags.attributeValueClassName = "[String]"
    let date = Date(timeIntervalSince1970: 1.5)
    let uuid = UUID()
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    let long = try #require(Decimal(string: "12345678901234567890.5"))
    let attributes = [
      AttributeDefinition("a", .double), AttributeDefinition("b", .float), AttributeDefinition("c", .decimal),
      AttributeDefinition("d", .date), AttributeDefinition("e", .date, userInfo: ["dateStorage": "unix"]),
      AttributeDefinition("f", .binaryData), AttributeDefinition("g", .uuid), AttributeDefinition("h", .uri), tags,
    ]
    try store.open(thing(attributes)) { context in
      try context.add(
        "Thing",
        [
          "a": .double(0.1), "b": .double(Double(Float(0.1))), "c": .decimal(long), "d": .date(date), "e": .date(date),
          "f": .data(Data("AB".utf8)), "g": .uuid(uuid), "h": .uri(url), "tags": .data(Data(#"["x"]"#.utf8)),
        ])
      try context.add("Thing", ["a": .double(10), "b": .double(2), "c": .decimal(3)])
    }
    try store.open(thing(attributes.map { AttributeDefinition($0.name, .string) })) {
      try $0.expect("Thing", "a", [.string("0.1"), .string("10")])
      try $0.expect("Thing", "b", [.string("0.1"), .string("2")])
      try $0.expect("Thing", "c", [.string("12345678901234567890.5"), .string("3")])
      try $0.expect("Thing", "d", [.string("1970-01-01 00:00:01.5"), .null])
      try $0.expect("Thing", "e", [.string("1970-01-01 00:00:01.5"), .null])
      try $0.expect("Thing", "f", [.string("QUI="), .null])
      try $0.expect("Thing", "g", [.string(uuid.uuidString.lowercased()), .null])
      try $0.expect("Thing", "h", [.string("https://example.org/a?b=c"), .null])
      try $0.expect("Thing", "tags", [.string(#"["x"]"#), .null])
    }
  }

  @Test("a date of a year beyond 9999 becomes a text that says it")
  func lateDates() throws {
    let late = Value.date(Date(timeIntervalSince1970: 1_700_000_000_000))
    try store.open(thing([AttributeDefinition("e", .date, userInfo: ["dateStorage": "unix"])])) {
      try $0.add("Thing", ["e": late])
    }
    try store.open(thing([AttributeDefinition("e", .string)])) {
      #expect(late.plainText.count > 4)
      try $0.expect("Thing", "e", [.string(late.plainText)])
    }
  }

  @Test("a number that isn't exact in the new type is an obstacle that says what to do, and the store is as it was")
  func inexactNumbers() throws {
    try store.open(thing([AttributeDefinition("n", .integer64)])) { context in
      try context.add("Thing", ["n": .int(9_007_199_254_740_993)])
    }
    let obstacles = try store.obstacles(thing([AttributeDefinition("n", .double)]))
    #expect(
      obstacles.map { "\($0)" } == [
        "Thing.n is Double and was Integer 64, and 1 row has a number that isn't exact in it: "
          + "make it Decimal, which holds every whole number"
      ])
    try store.open(thing([AttributeDefinition("n", .integer64)])) {
      try $0.expect("Thing", "n", [.int(9_007_199_254_740_993)])
    }
  }

  @Test("a mapping model of a program's own widens values too")
  func widenedByObjects() throws {
    let old = thing([AttributeDefinition("a", .integer32), AttributeDefinition("b", .boolean)])
    try store.open(old) { try $0.add("Thing", ["a": .int(3), "b": .bool(true)]) }
    let source = try ManagedObjectModel(entities: old)
    let new = try ManagedObjectModel(
      entities: thing([AttributeDefinition("a", .decimal), AttributeDefinition("b", .string)]))
    let mapping = try MappingModel.inferred(from: source, to: new)
    try store.open(new, { $0.migration.mappingModels = [mapping] }) {
      try $0.expect("Thing", "a", [.decimal(3)])
      try $0.expect("Thing", "b", [.string("true")])
    }
  }

  @Test("what can't be inferred is one error with every obstacle, and the store is as it was")
  func obstacles() throws {
    try store.open([
      EntityDefinition("Thing", attributes: [AttributeDefinition("a", .string), AttributeDefinition("b", .integer64)]),
      EntityDefinition(
        "Other", relationships: [RelationshipDefinition("things", to: "Thing", isToMany: true)]),
    ]) { try $0.add("Thing", ["a": .string("x")]) }
    let before = try (store.relations(), store.places())
    let obstacles = try store.obstacles([
      EntityDefinition(
        "Thing",
        attributes: [
          AttributeDefinition("a", .string, isOptional: false), AttributeDefinition("b", .integer32),
          AttributeDefinition("c", .uuid, isOptional: false),
        ]),
      EntityDefinition(
        "Other",
        relationships: [
          RelationshipDefinition("things", to: "Thing"),
          RelationshipDefinition("owner", to: "Thing", isOptional: false),
        ]),
    ])
    #expect(
      obstacles.map { "\($0.entity).\($0.property ?? "")" } == [
        "Thing.a", "Thing.b", "Thing.c", "Other.things", "Other.owner",
      ])
    #expect("\(obstacles[1])".hasPrefix("Thing.b is Integer 32 and was Integer 64: keep the type Integer 64"))
    #expect(try (store.relations(), store.places()) == before)
    #expect(try store.column("SELECT a FROM \"Thing\"") == ["x"])
  }

  @Test("transient attributes need no migration, and one that is stored from now on has its default")
  func transients() throws {
    try store.open(thing([AttributeDefinition("a", .string)])) { try $0.add("Thing", ["a": .string("x")]) }
    try store.open(
      thing([AttributeDefinition("a", .string), AttributeDefinition("b", .string, isTransient: true)]),
      { $0.shouldMigrateStoreAutomatically = false }
    ) { _ in }
    try store.open(
      thing([AttributeDefinition("a", .string), AttributeDefinition("b", .string, defaultValue: .string("y"))])
    ) { try $0.expect("Thing", "b", [.string("y")]) }
  }

  @Test("rows that conflict in a new constraint are reported, and nothing is changed")
  func uniqueness() throws {
    try store.open(thing([AttributeDefinition("a", .string), AttributeDefinition("b", .integer16)])) { context in
      for name in ["x", "y", "x", "x"] { try context.add("Thing", ["a": .string(name)]) }
      try context.add("Thing")
      try context.add("Thing")
    }
    var unique = thing([AttributeDefinition("a", .string), AttributeDefinition("c", .integer16)])
    unique[0].uniquenessConstraints = [["a"]]
    #expect {
      try store.migrate(unique)
    } throws: { error in
      guard case MigrationError.notUnique(_, let violations) = error else { return false }
      return violations.count == 1 && violations[0].values == ["x"] && violations[0].count == 3
        && violations[0].constraint == ["a"] && "\(error)".contains("3 rows of Thing have a = x")
    }
    #expect(try store.columns(of: "Thing") == ["id", "a", "b"])
    try store.open(thing([AttributeDefinition("a", .string), AttributeDefinition("b", .integer16)])) { context in
      for object in try context.every("Thing").suffix(4).prefix(2) { context.delete(object) }
    }
    try store.open(unique) { try $0.expect("Thing", "a", [.string("x"), .string("y"), .null, .null]) }
    #expect(throws: ManagedObjectError.self) { try store.open(unique) { try $0.add("Thing", ["a": .string("x")]) } }
  }

  @Test("a composite's elements are followed one by one, also when it is renamed")
  func composites() throws {
    func address(_ name: String, _ elements: [AttributeDefinition]) -> AttributeDefinition {
      var composite = AttributeDefinition(name, .composite)
      composite.compositeName = "Address"
      composite.compositeElements = elements
      return composite
    }
    let (street, city) = (AttributeDefinition("street", .string), AttributeDefinition("city", .string))
    try store.open(thing([address("home", [street, city])])) {
      try $0.add("Thing", ["home": .composite(["street": .string("Elm"), "city": .string("Bath")])])
    }
    let place = renamed(address("place", [renamed(AttributeDefinition("town", .string), from: "city")]), from: "home")
    try store.open(thing([place])) { try $0.expect("Thing", "place.town", [.string("Bath")]) }
  }

  @Test("an attribute that is derived from now on is derived for every row, and the others keep their values")
  func derivations() throws {
    func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDefinition {
      AttributeDefinition(name, type, derivationExpression: expression)
    }
    func entities(_ more: [AttributeDefinition], _ count: [AttributeDefinition]) -> [EntityDefinition] {
      [
        EntityDefinition(
          "Thing", attributes: [AttributeDefinition("name", .string), derived("changed", .date, "now()")] + more,
          relationships: [RelationshipDefinition("box", to: "Box", inverse: "things")]),
        EntityDefinition(
          "Box", attributes: count,
          relationships: [RelationshipDefinition("things", to: "Thing", inverse: "box", isToMany: true)]),
      ]
    }
    let changed = try store.open(entities([], [])) { context in
      let box = try context.add("Box")
      for name in ["Ä", "B"] { try context.add("Thing", ["name": .string(name), "box": .object(box.objectID)]) }
      try context.save()
      return try context.values("Thing", "changed")
    }
    let lower = derived("lower", .string, "lowercase:(name)")
    try store.open(entities([lower], [derived("count", .integer64, "things.@count")])) {
      try $0.expect("Thing", "lower", [.string("ä"), .string("b")])
      try $0.expect("Thing", "changed", changed)
      try $0.expect("Box", "count", [.int(2)])
    }
    try store.open(entities([derived("lower", .string, "uppercase:(name)")], [])) {
      try $0.expect("Thing", "lower", [.string("Ä"), .string("B")])
    }
  }

  @Test("numbers aren't given twice after a migration")
  func numbers() throws {
    let last = try store.open(thing([AttributeDefinition("a", .string)])) { context in
      let objects = try (0..<3).map { _ in try context.add("Thing") }
      try context.save()
      let last = objects[2].objectID.uriRepresentation
      context.delete(objects[2])
      return last
    }
    try store.open(thing([AttributeDefinition("b", .string)])) { context in
      let new = try context.add("Thing")
      try context.save()
      #expect(last.lastPathComponent == "p3")
      // PostgreSQL's numbers are taken in blocks.
      #expect(store.isPostgres ? new.objectID.number > 3 : new.objectID.number == 4)
      #expect(new.objectID.uriRepresentation.host == last.host, "the store is the same")
    }
  }
}
