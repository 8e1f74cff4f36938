import GRDB
import ManagedObjects
import SQLSchema
import SQLiteStore
import TestSupport
import Testing

struct SchemaMapTests {
  private func schema(_ entities: [EntityDefinition]) throws -> SchemaMap {
    try SchemaMap(model: try ManagedObjectModel(entities: entities))
  }

  private func statement(_ schema: SchemaMap, _ beginning: String) -> String? {
    schema.createStatements.first { $0.hasPrefix(beginning) }
  }

  @Test("a table is created in text that people read")
  func text() throws {
    let schema = try SchemaMap(model: PredicateFixture.model)
    #expect(
      statement(schema, "CREATE TABLE IF NOT EXISTS \"Country\"") == """
        CREATE TABLE IF NOT EXISTS "Country" (
          "id" INTEGER PRIMARY KEY,
          "code" TEXT NOT NULL,
          "name" TEXT,
          "population" INTEGER,
          "founded" TEXT,
          "seat_street" TEXT,
          "seat_position_latitude" REAL,
          "seat_position_longitude" REAL,
          "capital_id" INTEGER REFERENCES "City"("id") DEFERRABLE INITIALLY DEFERRED
        )
        """)
    #expect(
      statement(schema, "CREATE TABLE IF NOT EXISTS \"Station\"") == """
        CREATE TABLE IF NOT EXISTS "Station" (
          "number" INTEGER PRIMARY KEY,
          "label" TEXT
        )
        """)
    #expect(
      statement(schema, "CREATE TABLE IF NOT EXISTS \"Vehicle\"") == """
        CREATE TABLE IF NOT EXISTS "Vehicle" (
          "id" INTEGER PRIMARY KEY,
          "entity" TEXT NOT NULL,
          "plate" TEXT,
          "seats" INTEGER,
          "sign" TEXT,
          "load" REAL,
          "home_id" INTEGER REFERENCES "City"("id") DEFERRABLE INITIALLY DEFERRED
        )
        """)
    #expect(
      statement(schema, "CREATE TABLE IF NOT EXISTS \"City_tags\"") == """
        CREATE TABLE IF NOT EXISTS "City_tags" (
          "City_id" INTEGER REFERENCES "City"("id") DEFERRABLE INITIALLY DEFERRED NOT NULL,
          "Tag_id" INTEGER REFERENCES "Tag"("id") DEFERRABLE INITIALLY DEFERRED NOT NULL,
          PRIMARY KEY ("City_id", "Tag_id")
        ) WITHOUT ROWID
        """)
  }

  @Test("SQLite takes every statement, twice over, and finds nothing amiss")
  func executes() throws {
    let schema = try SchemaMap(model: PredicateFixture.model)
    let queue = try DatabaseQueue()
    try queue.write { db in
      for statement in schema.createStatements + schema.createStatements { try db.execute(sql: statement) }
      #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
      for (table, columns) in schema.columnsByTable {
        #expect(try db.columns(in: table).map(\.name) == columns)
      }
    }
  }

  @Test("both sides of a many-to-many relationship meet in one table")
  func pairing() throws {
    let schema = try SchemaMap(model: PredicateFixture.model)
    let tags = try #require(PredicateFixture.entity("City").relationshipsByName["tags"])
    let cities = try #require(PredicateFixture.entity("Tag").relationshipsByName["cities"])
    #expect(schema.joinTables.map(\.name) == ["Country_route", "City_tags", "Tag_favourites"])
    #expect(schema.pairing(of: tags).table == "City_tags")
    #expect(schema.pairing(of: tags).sourceColumn == "City_id")
    #expect(schema.pairing(of: cities).table == "City_tags")
    #expect(schema.pairing(of: cities).sourceColumn == "Tag_id")
    #expect(schema.pairing(of: cities).destinationColumn == "City_id")
  }

  @Test("a relationship of an entity with itself has two columns")
  func selfPairing() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person",
        relationships: [RelationshipDefinition("friends", to: "Person", inverse: "friends", isToMany: true)])
    ])
    let schema = try SchemaMap(model: model)
    let friends = try #require(model.entitiesByName["Person"]?.relationshipsByName["friends"])
    #expect(schema.pairing(of: friends).sourceColumn == "Person_id")
    #expect(schema.pairing(of: friends).destinationColumn == "friends_id")
  }

  @Test("a name that is taken, in any case, gets an underscore in front")
  func clashes() throws {
    let schema = try schema([
      EntityDefinition(
        "Thing",
        attributes: [
          AttributeDefinition("ID", .string), AttributeDefinition("entity", .string),
          AttributeDefinition("owner_id", .string),
          AttributeDefinition("Name", .string), AttributeDefinition("name", .string),
        ],
        relationships: [RelationshipDefinition("owner", to: "thing")]),
      EntityDefinition("Sub", parent: "Thing"),
      EntityDefinition("thing", attributes: [AttributeDefinition("_id", .string), AttributeDefinition("id", .string)]),
      EntityDefinition("sqlite_stat"), EntityDefinition("lade_metadata"),
    ])
    #expect(
      schema.tables.map { $0.columns.map(\.name) } == [
        ["_id", "_entity", "ID", "entity", "owner_id", "Name", "_name", "_owner_id"], ["__id", "_id", "id"], ["id"],
        ["id"],
      ])
    #expect(schema.tables.map(\.name) == ["Thing", "_thing", "_sqlite_stat", "_lade_metadata"])
    try DatabaseQueue().write { db in
      for statement in schema.createStatements { try db.execute(sql: statement) }
    }
  }

  @Test("siblings share columns of the same name and type only")
  func siblings() throws {
    let schema = try schema([
      EntityDefinition("Shape", attributes: [AttributeDefinition("label", .string, isOptional: false)]),
      EntityDefinition(
        "Circle", parent: "Shape",
        attributes: [AttributeDefinition("size", .double, isOptional: false), AttributeDefinition("kind", .string)],
        relationships: [RelationshipDefinition("next", to: "Shape")]),
      EntityDefinition(
        "Square", parent: "Shape",
        attributes: [AttributeDefinition("size", .double), AttributeDefinition("kind", .integer16)],
        relationships: [RelationshipDefinition("next", to: "Other")]),
      EntityDefinition("Other"),
    ])
    #expect(
      schema.tables[0].columns.map { "\($0.name) \($0.declaration.prefix { $0 != " " })" } == [
        "id INTEGER", "entity TEXT", "label TEXT", "size REAL", "kind TEXT", "Square_kind INTEGER", "next_id INTEGER",
        "Square_next_id INTEGER",
      ])
    #expect(schema.tables[0].columns[2].declaration == "TEXT NOT NULL")
    #expect(schema.tables[0].columns[3].declaration == "REAL")
  }

  @Test("indexes are made for constraints, fetch indexes and foreign keys, and none twice")
  func indexes() throws {
    let schema = try schema([
      EntityDefinition(
        "Stop",
        attributes: [
          AttributeDefinition("code", .string), AttributeDefinition("name", .string),
          AttributeDefinition("when", .date),
          AttributeDefinition("mood", .string, isTransient: true),
        ],
        relationships: [RelationshipDefinition("line", to: "Line"), RelationshipDefinition("zone", to: "Line")],
        uniquenessConstraints: [["code"], ["name", "when"]],
        indexes: [
          FetchIndexDefinition(
            "byLine", elements: [.init(property: "line"), .init(property: "when", isAscending: false)]),
          FetchIndexDefinition("byCode", elements: [.init(property: "code")]),
          FetchIndexDefinition("byPart", elements: [.init(property: "name")], partialPredicateFormat: "name != nil"),
          FetchIndexDefinition("byLength", elements: [.init(property: nil, expression: "name.length")]),
          FetchIndexDefinition("byMood", elements: [.init(property: "mood")]),
        ]),
      EntityDefinition(
        "Line", attributes: [AttributeDefinition("id", .integer64, isOptional: false)], userInfo: ["primaryKey": "id"]),
    ])
    #expect(
      schema.indexes.map(\.createStatement) == [
        "CREATE UNIQUE INDEX IF NOT EXISTS \"Stop_code_unique\" ON \"Stop\" (\"code\")",
        "CREATE UNIQUE INDEX IF NOT EXISTS \"Stop_name_when_unique\" ON \"Stop\" (\"name\", \"when\")",
        "CREATE INDEX IF NOT EXISTS \"Stop_byLine\" ON \"Stop\" (\"line_id\", \"when\" DESC)",
        "CREATE INDEX IF NOT EXISTS \"Stop_byPart\" ON \"Stop\" (\"name\") WHERE \"name\" IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS \"Stop_zone_id\" ON \"Stop\" (\"zone_id\")",
      ])
    #expect(schema.warnings.count == 2)
  }

  @Test("a subentity's constraint leaves other entities' rows alone")
  func partialConstraints() throws {
    let schema = try schema([
      EntityDefinition("Party", attributes: [AttributeDefinition("name", .string)]),
      EntityDefinition("Person", parent: "Party", uniquenessConstraints: [["name"]]),
      EntityDefinition(
        "Company", parent: "Party", attributes: [AttributeDefinition("vat", .string)], uniquenessConstraints: [["vat"]]),
    ])
    #expect(schema.indexes.map(\.condition) == ["\"entity\" IN ('Person')", nil])
  }

  @Test("an attribute that has no column in SQLite is refused with its name")
  func composites() {
    #expect(throws: SchemaError.unsupportedAttribute(entity: "A", attribute: "b", type: "Composite")) {
      _ = try schema([EntityDefinition("A", attributes: [AttributeDefinition("b", .composite)])])
    }
  }

  @Test("a to-one relationship's column has the name that the model gives it, which can't be taken twice")
  func columnNames() throws {
    let schema = try schema([
      EntityDefinition(
        "Trip", attributes: [AttributeDefinition("stop_row", .string)],
        relationships: [
          RelationshipDefinition("route", to: "Route", userInfo: ["columnName": "route_row"]),
          RelationshipDefinition("stop", to: "Route", userInfo: ["columnName": "stop_row"]),
          RelationshipDefinition("line", to: "Route", userInfo: ["columnName": ""]),
          RelationshipDefinition("many", to: "Route", isToMany: true, userInfo: ["columnName": "many"]),
        ]),
      EntityDefinition("Route", attributes: [AttributeDefinition("route_id", .string)]),
    ])
    #expect(schema.tables[0].columns.map(\.name) == ["id", "stop_row", "route_row", "_stop_row", "line_id"])
  }

  @Test("a table of more columns than SQLite allows is refused with what to do, and one of as many is made")
  func tooManyColumns() throws {
    func wide(_ count: Int) -> [EntityDefinition] {
      [EntityDefinition("Wide", attributes: (1...count).map { AttributeDefinition("c\($0)", .integer64) })]
    }
    #expect(throws: SchemaError.tooManyColumns(table: "Wide", count: 2001, limit: 2000, database: "SQLite")) {
      _ = try schema(wide(2000))
    }
    let stack = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: wide(1999)))
    let directory = try ScratchDirectory()
    try stack.addPersistentStore(.sqlite(at: directory.file("wide.sqlite")))
    try stack.close()
  }

  @Test("a relationship into another store has a column without a foreign key, and a warning")
  func otherStores() throws {
    let model = PredicateFixture.model
    let schema = try SchemaMap(model: model, entities: model.entities.filter { $0.name == "Country" })
    #expect(schema.tables.map(\.name) == ["Country"])
    #expect(statement(schema, "CREATE TABLE")?.contains("\"capital_id\" INTEGER\n") == true)
    #expect(schema.warnings.count == 2)
  }
}
