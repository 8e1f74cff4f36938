import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Inferred migration of attributes")
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
    #expect(try store.column("SELECT name FROM pragma_table_info('Thing')") == ["id", "b", "c", "d"])
    #expect(try store.column("SELECT name FROM sqlite_master WHERE name LIKE 'lade_new%'") == [])
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
    #expect(try store.column("SELECT typeof(c) FROM Thing") == ["real", "integer", "null"])
    #expect(try store.column("SELECT d FROM Thing")[1] == "1969-12-31 00:00:00")
  }

  @Test("what can't be inferred is one error with every obstacle, and the store is as it was")
  func obstacles() throws {
    try store.open([
      EntityDefinition("Thing", attributes: [AttributeDefinition("a", .string), AttributeDefinition("b", .integer64)]),
      EntityDefinition(
        "Other", relationships: [RelationshipDefinition("things", to: "Thing", isToMany: true)]),
    ]) { try $0.add("Thing", ["a": .string("x")]) }
    let before = try store.column("SELECT sql FROM sqlite_master")
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
    #expect("\(obstacles[1])".hasPrefix("Thing.b is Integer 32 and was Integer 64: keep the type"))
    #expect(try store.column("SELECT sql FROM sqlite_master") == before)
    #expect(try store.column("SELECT a FROM Thing") == ["x"])
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
    #expect(try store.column("SELECT name FROM pragma_table_info('Thing')") == ["id", "a", "b"])
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
      #expect(last.lastPathComponent == "p3" && new.objectID.uriRepresentation.lastPathComponent == "p4")
      #expect(new.objectID.uriRepresentation.host == last.host, "the store is the same")
    }
  }
}
