import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import CoreDataStores

@Suite("The layout of a Core Data store")
struct CoreDataLayoutTests {
  private static let stores = [
    "SampleModel/SampleModel_V1.sqlite", "SampleModel/SampleModel_V2.sqlite", "SampleModel2/SampleModel2_V1.sqlite",
    "SampleModel2/SampleModel2_V2.sqlite", "SampleModel3/SampleModel3_V1.sqlite",
  ]

  @Test(
    "places every property of a store that Core Data wrote",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"),
    arguments: stores)
  func complete(_ name: String) throws {
    let connection = try StoreConnection(copyOf: name)
    let layout = try CoreDataLayout(connection.model(), of: connection)
    #expect(layout.problems.isEmpty, "\(layout.problems.values)")
    #expect(layout.entities.count == layout.model.entities.count)
  }

  @Test(
    "of a new store is that which Core Data makes, to the letter",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"), arguments: stores)
  func new(_ name: String) throws {
    let connection = try StoreConnection(copyOf: name)
    let theirs = try CoreDataSchema(connection)
    let ours = try CoreDataLayout(of: connection.model()).schema
    let isHistory = { (table: String) in table.hasPrefix("ACHANGE") || table.hasPrefix("ATRANSACTION") }
    #expect(Set(ours.items.map(\.sql)) == Set(theirs.items.filter { !isHistory($0.table) }.map(\.sql)))
    for (table, columns) in ours.columns { #expect(theirs.columns[table] == columns) }
    let numbered = theirs.modelEntities.map { "\($0.number) \($0.parent)" }
    #expect(ours.entities.map { "\($0.number) \($0.parent)" } == numbered)
  }

  /// Siblings with a property of one name, an ordered relationship, and pairs.
  private static let music = [
    EntityDefinition(
      "Album", attributes: [AttributeDefinition("title", .string)],
      relationships: [RelationshipDefinition("tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true)]),
    EntityDefinition(
      "Track", isAbstract: true, attributes: [AttributeDefinition("title", .string), AttributeDefinition("at", .date)],
      relationships: [
        RelationshipDefinition("album", to: "Album", inverse: "tracks"),
        RelationshipDefinition("tags", to: "Tag", inverse: "tracks", isToMany: true, isOrdered: true),
      ]),
    EntityDefinition("Song", parent: "Track", attributes: [AttributeDefinition("place", .string)]),
    EntityDefinition(
      "Live", parent: "Track",
      attributes: [AttributeDefinition("place", .string), AttributeDefinition("seats", .integer32)]),
    EntityDefinition(
      "Tag", attributes: [AttributeDefinition("name", .string)],
      relationships: [
        RelationshipDefinition("tracks", to: "Track", inverse: "tags", isToMany: true),
        RelationshipDefinition("friends", to: "Tag", inverse: "friends", isToMany: true),
        RelationshipDefinition("first", to: "Track"),
      ]),
  ]

  @Test("names columns of siblings, orders and pairs as Core Data does")
  func names() throws {
    let layout = try CoreDataLayout(of: ManagedObjectModel(entities: Self.music))
    let tables = layout.schema.items.filter { $0.type == "table" }.map(\.sql)
    let expected: [String] = [
      "CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )",
      "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFIRST INTEGER, Z3_FIRST INTEGER, "
        + "ZNAME VARCHAR )",
      "CREATE TABLE Z_2FRIENDS ( Z_2FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_2FRIENDS, REFLEXIVE) )",
      "CREATE TABLE Z_2TRACKS ( Z_2TAGS INTEGER, Z_3TRACKS INTEGER, Z_FOK_2TAGS INTEGER, "
        + "PRIMARY KEY (Z_2TAGS, Z_3TRACKS) )",
      "CREATE TABLE ZTRACK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZALBUM INTEGER, "
        + "Z_FOK_ALBUM INTEGER, ZSEATS INTEGER, ZAT TIMESTAMP, ZTITLE VARCHAR, ZPLACE VARCHAR, ZPLACE1 VARCHAR )",
    ]
    #expect(Array(tables.prefix(5)) == expected)
    let indexes = layout.schema.items.filter { $0.type == "index" }.map(\.sql)
    #expect(indexes.contains("CREATE INDEX Z_2TRACKS_Z_3TRACKS_INDEX ON Z_2TRACKS (Z_3TRACKS, Z_2TAGS)"))
    #expect(indexes.contains("CREATE INDEX ZTRACK_Z_ENT_INDEX ON ZTRACK (Z_ENT)"))
    #expect(layout.schema.entities.map(\.name) == ["Album", "Tag", "Track", "Live", "Song"])
  }

  @Test("of a file is what its tables say: numbers, joins and columns of siblings that follow no rule")
  func found() throws {
    let connection = try StoreConnection(
      """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (7, 'Album', 0, 2), (3, 'Track', 0, 4), (4, 'Live', 3, 0), (9, 'Song', 3, 0),
        (5, 'Tag', 0, 2), (16001, 'CHANGE', 0, 5);
      CREATE TABLE ZALBUM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR);
      CREATE TABLE ZTRACK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZALBUM INTEGER, Z_FOK_TRACKS INTEGER,
        ZTITLE VARCHAR, ZAT TIMESTAMP, ZPLACE VARCHAR, ZPLACE1 VARCHAR, ZSEATS INTEGER);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZFIRST INTEGER,
        Z3_FIRST INTEGER);
      CREATE TABLE Z_18LABELS1 (Z_5TAGS1 INTEGER, Z_3TRACKS INTEGER, Z_FOK_5TAGS INTEGER,
        PRIMARY KEY (Z_5TAGS1, Z_3TRACKS));
      CREATE TABLE Z_5FRIENDS (Z_5FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_5FRIENDS, REFLEXIVE));
      INSERT INTO ZTRACK (Z_PK, Z_ENT, ZPLACE) VALUES (1, 9, 'studio');
      INSERT INTO ZTRACK (Z_PK, Z_ENT, ZPLACE1) VALUES (2, 4, 'arena');
      """)
    let model = try ManagedObjectModel(entities: Self.music)
    let layout = try CoreDataLayout(model, of: connection)
    #expect(layout.problems.isEmpty, "\(layout.problems.values)")
    func column(_ entity: String, _ name: String) -> String? {
      (model.entitiesByName[entity]?.propertiesByName[name] as? AttributeDescription).flatMap { layout.column(of: $0) }
    }
    func place(_ entity: String, _ name: String) -> CoreDataLayout.Relationship? {
      (model.entitiesByName[entity]?.propertiesByName[name] as? RelationshipDescription).flatMap {
        layout.place(of: $0)
      }
    }
    // By number, Live would have the first column; its rows have values in the other.
    #expect(column("Song", "place") == "ZPLACE" && column("Live", "place") == "ZPLACE1")
    let album = CoreDataLayout.Reference(column: "ZALBUM", orderColumn: "Z_FOK_TRACKS")
    #expect(place("Album", "tracks") == .toMany(album) && place("Live", "album") == .toOne(album))
    #expect(place("Tag", "first") == .toOne(.init(column: "ZFIRST", entityColumn: "Z3_FIRST")))
    let tags = CoreDataLayout.Join(
      table: "Z_18LABELS1", source: "Z_3TRACKS", target: "Z_5TAGS1", order: "Z_FOK_5TAGS")
    #expect(place("Song", "tags") == .join(tags))
    #expect(
      place("Tag", "tracks") == .join(.init(table: "Z_18LABELS1", source: "Z_5TAGS1", target: "Z_3TRACKS", order: nil)))
    #expect(
      place("Tag", "friends")
        == .join(.init(table: "Z_5FRIENDS", source: "REFLEXIVE", target: "Z_5FRIENDS", order: nil)))
    #expect(layout.entity(numbered: 9)?.name == "Song" && layout.joins.count == 2)
  }

  @Test("names what a file doesn't have, and refuses to make up what isn't known")
  func unknown() throws {
    let connection = try StoreConnection(
      """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Tag', 0, 0);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
      """)
    let tag = EntityDefinition(
      "Tag", attributes: [AttributeDefinition("name", .string), AttributeDefinition("size", .integer16)],
      relationships: [RelationshipDefinition("others", to: "Tag", isToMany: true)])
    let model = try ManagedObjectModel(entities: [tag])
    let layout = try CoreDataLayout(model, of: connection)
    let found: [String] = layout.problems.values.map { problem in "\(problem.place): \(problem.reason)" }.sorted()
    #expect(
      found == ["Tag.others: it has no inverse", "Tag.size: the table ZTAG has no column ZSIZE for it"])
    let error = #expect(throws: CoreDataFileError.self) { try CoreDataLayout(of: model) }
    #expect(error.map { "\($0)" }?.contains("Tag.others leads to several objects and has no inverse") == true)
  }
}
