import CSQLite
import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("Importing a Core Data store")
struct CoreDataImportTests {
  @Test(
    "brings all rows of all entities with their references, and changes nothing the second time",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func everything() throws {
    let room = try CoreDataRoom(copyOf: "SampleModel/SampleModel_V1.sqlite")
    let result = try room.run()
    #expect(result.isFinished && result.rejected == 0, "\(result.notes)")
    #expect(result.inserted == 145)
    #expect(try (room.count("Person"), room.count("Car"), room.count("SportCar")) == (20, 125, 10))
    #expect(try room.count("ExpensiveSportCar") == 5)
    let people = try room.rows("Person", "storeRow", "firstName", "lastName", "id")
    #expect(people.contains("1|Victoria|Coster|fefe4176-912d-429f-9c83-662fff641115"))
    #expect(try room.rows("Person", "storeRow", "updatedAt").contains { $0.hasPrefix("1|2021-04-07 15:52:49.63873") })
    #expect(try room.rows("Car", "numberPlate", "owner.firstName").contains("170|Theodora"))
    #expect(
      try room.rows("ExpensiveSportCar", "numberPlate", "maker", "isLimitedEdition").contains("303|McLaren|false"))
    #expect(try room.rows("ExpensiveSportCar", "owner.storeRow").filter { !$0.isEmpty }.count == 3)
    let again = try room.run()
    #expect(again.inserted == 0 && again.updated == 0 && again.unchanged == 145)
  }

  @Test(
    "brings decimals, derived values, transformables as bytes, and relationships across hierarchies",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func values() throws {
    let room = try CoreDataRoom(copyOf: "SampleModel2/SampleModel2_V2.sqlite")
    let result = try room.run()
    #expect(result.isFinished && result.rejected == 0, "\(result.notes)")
    #expect(try (room.count("Page"), room.count("Feedback"), room.count("Author")) == (119, 3, 1))
    #expect(!result.notes.contains { $0.contains("ignored") }, "an abstract entity has no rows to ignore")
    #expect(
      try room.rows("Book", "storeRow", "title", "price", "pagesCount", "author.alias") == [
        "1|title 2 - author 1|3.3333333333|1|Alessandro", "2|title 1 - author 1|10.11|99|Alessandro",
      ])
    #expect(
      try room.rows("GraphicNovel", "storeRow", "isBlackAndWhite", "pagesCount", "uniqueID") == [
        "3|true|19|697b7706-16d7-4504-b474-226b987e1bed"
      ])
    #expect(try room.rows("Page", "storeRow", "number", "book.storeRow").contains("1|19|3"))
    #expect(try room.rows("Feedback", "rating", "bookID").contains("4.2|ae289a08-ec9e-49d5-a96b-cbdfd53d451f"))
    let covers = try room.rows("Book", "frontCover")
    #expect(covers.allSatisfy { Data(base64Encoded: $0)?.count == 277 })
  }

  /// A store in the layout of Core Data: `Song` and `Live` are siblings with a `place` each, albums have ordered songs, songs
  /// have many tags, and each artist has one page. Numbers of entities and the name of the join table follow no rule.
  private static let music = """
    INSERT INTO Z_PRIMARYKEY VALUES (7, 'Album', 0, 2), (3, 'Track', 0, 4), (9, 'Live', 3, 0), (4, 'Song', 3, 0),
      (5, 'Tag', 0, 2), (6, 'Artist', 0, 2), (2, 'Page', 0, 2), (16001, 'CHANGE', 0, 5);
    CREATE TABLE ZALBUM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR);
    CREATE TABLE ZTRACK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZALBUM INTEGER, Z_FOK_ALBUM INTEGER,
      ZTITLE VARCHAR, ZPLACE VARCHAR, ZPLACE1 VARCHAR);
    CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE Z_18LABELS1 (Z_5TAGS1 INTEGER, Z_3TRACKS INTEGER, PRIMARY KEY (Z_5TAGS1, Z_3TRACKS));
    CREATE TABLE ZARTIST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGE INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZPAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZARTIST INTEGER, ZLINK VARCHAR);
    INSERT INTO ZALBUM VALUES (1, 7, 1, 'Early'), (2, 7, 1, 'Late');
    INSERT INTO ZTRACK VALUES (1, 4, 1, 1, 3072, 'C', 'studio', NULL), (2, 4, 1, 1, 1024, 'A', 'cellar', NULL),
      (3, 9, 1, 1, 2048, 'B', NULL, 'arena'), (4, 9, 1, 2, 1024, 'D', NULL, 'club');
    INSERT INTO ZTAG VALUES (1, 5, 1, 'calm'), (2, 5, 1, 'loud');
    INSERT INTO Z_18LABELS1 VALUES (1, 1), (1, 2), (2, 3), (1, 3);
    INSERT INTO ZARTIST VALUES (1, 6, 1, 2, 'Ada'), (2, 6, 1, NULL, 'Ben');
    INSERT INTO ZPAGE VALUES (2, 2, 1, 1, 'https://example.org/ada');
    """

  private static let musicEntities = [
    EntityDefinition(
      "Album", attributes: [AttributeDefinition("title", .string)],
      relationships: [RelationshipDefinition("tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true)]),
    EntityDefinition(
      "Track", isAbstract: true, attributes: [AttributeDefinition("title", .string)],
      relationships: [
        RelationshipDefinition("album", to: "Album", inverse: "tracks"),
        RelationshipDefinition("tags", to: "Tag", inverse: "tracks", isToMany: true),
      ]),
    EntityDefinition("Song", parent: "Track", attributes: [AttributeDefinition("place", .string)]),
    EntityDefinition("Live", parent: "Track", attributes: [AttributeDefinition("place", .string)]),
    EntityDefinition(
      "Tag", attributes: [AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("tracks", to: "Track", inverse: "tags", isToMany: true)]),
    EntityDefinition(
      "Artist", attributes: [AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("page", to: "Page", inverse: "artist")]),
    EntityDefinition(
      "Page", attributes: [AttributeDefinition("link", .uri)],
      relationships: [RelationshipDefinition("artist", to: "Artist", inverse: "page")]),
  ]

  @Test("knows an entity that was renamed after the store was made")
  func renamed() throws {
    let tables = """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Auto', 0, 2), (2, 'FastAuto', 1, 0);
      CREATE TABLE ZAUTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZSPEED INTEGER);
      INSERT INTO ZAUTO VALUES (1, 1, 1, 'slow', NULL), (2, 2, 1, 'fast', 300);
      """
    var car = EntityDefinition("Car", attributes: [AttributeDefinition("name", .string)])
    var fast = EntityDefinition("FastCar", parent: "Car", attributes: [AttributeDefinition("speed", .integer32)])
    (car.renamingIdentifier, fast.renamingIdentifier) = ("Auto", "FastAuto")
    let room = try CoreDataRoom(tables, [car, fast])
    let result = try room.run()
    #expect(result.isFinished && result.rejected == 0, "\(result.notes)")
    #expect(try room.rows("Car", "storeRow", "name") == ["1|slow"])
    #expect(try room.rows("FastCar", "storeRow", "name", "speed") == ["2|fast|300"])
  }

  @Test("finds join tables and columns by what is in them, and keeps the order of ordered relationships")
  func relationships() throws {
    let room = try CoreDataRoom(Self.music, Self.musicEntities)
    let result = try room.run()
    #expect(result.isFinished && result.rejected == 0, "\(result.notes)")
    #expect(try room.rows("Album", "title", "tracks.title") == ["Early|A B C", "Late|D"])
    #expect(try room.rows("Song", "title", "place", "tags.name") == ["A|cellar|calm", "C|studio|calm"])
    #expect(try room.rows("Live", "title", "place", "tags.name") == ["B|arena|calm loud", "D|club|"])
    #expect(try room.rows("Artist", "name", "page.link") == ["Ada|https://example.org/ada", "Ben|"])
    #expect(result.notes.contains { $0.contains("the store has no model in it") })
    #expect(result.notes.contains("Album: 2 inserted"), "\(result.notes)")
    let again = try room.run()
    #expect(again.inserted == 0 && again.updated == 0)
  }

  @Test(
    "that is stopped anywhere continues, and leaves what one run leaves",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func stopped() throws {
    let whole = try CoreDataRoom(copyOf: "SampleModel/SampleModel_V1.sqlite")
    try whole.run()
    let expected = try whole.rows("Car", "storeRow", "numberPlate", "owner.storeRow")
    for asking in 1...12 {
      let room = try CoreDataRoom(copyOf: "SampleModel/SampleModel_V1.sqlite")
      var asked = 0
      let part = try room.run(name: "one", batchSize: 20) {
        asked += 1
        return asked > asking
      }
      if part.isFinished { break }
      let rest = try room.run(name: "one", batchSize: 20)
      #expect(rest.isFinished && rest.inserted == 145, "asking \(asking)")
      #expect(try room.rows("Car", "storeRow", "numberPlate", "owner.storeRow") == expected)
    }
  }

  @Test(
    "reads what only the write-ahead log has, and writes neither file",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func writeAheadLog() throws {
    let room = try CoreDataRoom(copyOf: "SampleModel/SampleModel_V1.sqlite")
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    let app = room.folder.file("Running.sqlite")
    try FileManager.default.copyItem(at: room.source, to: app)
    try #require(sqlite3_open(app.path, &connection) == SQLITE_OK)
    for sql in [
      "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0",
      "UPDATE ZPERSON SET ZFIRSTNAME = 'Changed' WHERE Z_PK = 1",
      "INSERT INTO ZPERSON (Z_PK, Z_ENT, ZUPDATEDAT, ZFIRSTNAME, ZLASTNAME, ZID) "
        + "SELECT Z_PK + 1000, Z_ENT, ZUPDATEDAT, 'New', ZLASTNAME || Z_PK, randomblob(16) FROM ZPERSON",
      "BEGIN", "DELETE FROM ZCAR",
    ] {
      try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
    }
    // As an app's files are copied while it runs.
    try FileManager.default.removeItem(at: room.source)
    try FileManager.default.copyItem(at: app, to: room.source)
    let log = URL(fileURLWithPath: room.source.path + "-wal")
    try FileManager.default.copyItem(at: URL(fileURLWithPath: app.path + "-wal"), to: log)
    let before = try (Data(contentsOf: room.source), Data(contentsOf: log))
    let result = try room.run()
    #expect(result.isFinished && result.rejected == 0, "\(result.notes)")
    #expect(try room.rows("Person", "storeRow", "firstName").contains("1|Changed"))
    #expect(try (room.count("Person"), room.count("Car")) == (40, 125))
    #expect(try before == (Data(contentsOf: room.source), Data(contentsOf: log)))
    #expect(!FileManager.default.fileExists(atPath: room.source.path + "-shm"))
  }

  @Test("takes a log that was cut or damaged only as far as it is whole")
  func damagedLog() throws {
    let folder = try ScratchDirectory()
    let file = folder.file("a.sqlite")
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    try #require(sqlite3_open(file.path, &connection) == SQLITE_OK)
    for sql in [
      "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)",
      "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)",
    ] {
      try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
    }
    let log = try Data(contentsOf: URL(fileURLWithPath: file.path + "-wal"))
    let frame = 24 + 4096
    var found: [Int] = []
    for frames in 0...(log.count - 32) / frame {
      let cut = folder.file("cut\(frames).sqlite")
      try FileManager.default.copyItem(at: file, to: cut)
      try log.prefix(32 + frames * frame + 100).write(to: URL(fileURLWithPath: cut.path + "-wal"))
      let source = try ImportSource(cut)
      let count = try withExtendedLifetime(source) { () throws -> Int in
        let database = try SQLiteDatabase(
          descriptor: source.descriptor, log: source.log?.descriptor, fileSize: 1 << 20, isQueried: false,
          maximumRecordBytes: 1 << 20)
        guard database.tables == ["t"] else { return -1 }
        let rows = try database.prepare("SELECT count(*) FROM t").get()
        return try rows.next() ? Int(rows.integer(0)) : -2
      }
      found.append(count)
    }
    #expect(found == found.sorted() && found.last == 3 && found.contains(1), "\(found)")
  }

  @Test("refuses a store of too many entities, an entity alone, and a database that isn't a store")
  func refused() throws {
    let tables = """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Photo', 0, 1);
      CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZIMAGE BLOB);
      INSERT INTO ZPHOTO VALUES (1, 1, 1, x'01090A');
      """
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = true
    let room = try CoreDataRoom(tables, [EntityDefinition("Photo", attributes: [image])])

    let many = try CoreDataRoom(
      """
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 5000)
      INSERT INTO Z_PRIMARYKEY SELECT i, 'E' || i, 0, 0 FROM n;
      """, [EntityDefinition("Photo")])
    let tooMany = #expect(throws: ReaderError.self) { try many.run() }
    #expect(tooMany.map { "\($0)" }?.contains("more than 5000 entities") == true)

    var one = FileImport(into: "Photo", of: room.coordinator)
    for format in ["core-data", "sqlite"] {
      one.options.reading = ["format": format]
      let advice = #expect(throws: (any Error).self) { try one.run(room.source) }
      #expect(advice.map { "\($0)" }?.contains("import it into the entity \"*\"") == true)
    }

    // Data in the row has a byte before it that says so.
    #expect(try room.run().inserted == 1)
    #expect(try room.rows("Photo", "image") == ["CQo="])

    let folder = try ScratchDirectory()
    let plain = folder.file("plain.sqlite")
    try SQLiteFixture.make("CREATE TABLE t (a)", at: plain)
    let other = try CoreDataRoom(
      folder, plain, ManagedObjectModel(entities: [EntityDefinition("Photo", attributes: [image])]))
    let refusal = #expect(throws: (any Error).self) { try other.run(reading: ["format": "core-data"]) }
    #expect(refusal.map { "\($0)" }?.contains("isn't a Core Data store") == true)
  }

  @Test(
    "a converted model is the model that it was converted from",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func converted() throws {
    let folder = try ScratchDirectory()
    for name in ["SampleModel/SampleModel.momd", "SampleModel3/SampleModel3.momd/SampleModel3_v3.mom"] {
      let model = try ManagedObjectModel(contentsOf: CoreDataFiles.url(name))
      let path = folder.file("Model.xcdatamodel").path
      try ModelFileWriter(model).write(to: path, overwrites: true)
      let read = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
      #expect(read.entities.map(\.definition) == model.entities.map(\.definition))
      #expect(read.versionIdentifier == model.versionIdentifier && read.warnings == [])
    }
    let store = folder.file("App.sqlite")
    try CoreDataFiles.data("SampleModel2/SampleModel2_V2.sqlite").write(to: store)
    let model = try CoreDataStoreModel.read(store)
    let path = folder.file("App.xcdatamodel").path
    try ModelFileWriter(model).write(to: path, overwrites: false)
    let read = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
    let kept = model.entities.map { entity in
      var kept = entity.definition
      // Model files have no notation for these.
      for index in kept.attributes.indices { kept.attributes[index].validationPredicates = [] }
      return kept
    }
    #expect(read.entities.map(\.definition) == kept && ModelFileWriter(model).omissions.count == 1)
    #expect(read.configurations == model.configurations && read.warnings == [])
  }
}
