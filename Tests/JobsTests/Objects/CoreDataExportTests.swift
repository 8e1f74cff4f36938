import CoreDataStores
import Foundation
import GRDB
import ManagedObjects
import TestSupport
import Testing

@testable import Importing
@testable import Jobs

@Suite("Exporting a Core Data store", .timeLimit(.minutes(20)))
struct CoreDataExportTests {
  // MARK: Round trips

  /// What the oracle, which knows nothing of this library, says of two stores.
  private struct Verdict: Decodable {
    var tables: Int
    var rows: Int
    var values: Int
    var roundedDates: Int
    var differences: [String]
  }

  private static func compare(_ original: URL, _ exported: URL, _ options: String...) throws -> Verdict {
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    let oracle = package.appendingPathComponent("Tests/CoreDataOracle/compare-stores").path
    let run = try ProgramOutput.now(
      URL(fileURLWithPath: "/usr/bin/env"), ["python3", oracle, original.path, exported.path] + options)
    return try JSONDecoder().decode(Verdict.self, from: run.output)
  }

  private static func options(_ template: CoreDataTemplate, file: String = "Out.sqlite") throws -> String {
    let template = String(decoding: try JSONEncoder().encode(template), as: UTF8.self)
    return #"{"format": "core-data", "file": "\#(file)", "template": \#(template)}"#
  }

  /// A store that has what another one has.
  private static func house(with store: URL, _ model: ManagedObjectModel) async throws -> Warehouse {
    let house = try await Warehouse(model: ImportModel.adding(to: CoreDataRowNumbers.adding(to: model)))
    try Data(contentsOf: store).write(to: house.active.appendingPathComponent("App.sqlite"))
    let options = String(decoding: try JSONEncoder().encode(ImportOptions(mode: .upsert)), as: UTF8.self)
    let job = try await house.queue.submit(
      JobSubmission(
        kind: ImportOperation.kind, source: "App.sqlite", store: "main", entity: "*", lane: "import",
        submittedBy: "anna"
      ).with { ($0.activeName, $0.resolvedOptions) = ("App.sqlite", options) })
    let ended = try await house.queue.whenEnded(job.id)
    #expect(ended.state == .completed && ended.progress.rejected == 0, "\(ended.reason ?? "") \(ended.note ?? "")")
    return house
  }

  @Test(
    "a store that is imported and exported again is the same to the byte, but for numbers of updates and the last digits of dates and decimals",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"),
    arguments: [
      ("SampleModel/SampleModel_V1.sqlite", 145), ("SampleModel/SampleModel_V2.sqlite", 145),
      ("SampleModel2/SampleModel2_V1.sqlite", 5468), ("SampleModel2/SampleModel2_V2.sqlite", 126),
      ("SampleModel3/SampleModel3_V1.sqlite", 12), ("../Recipes/Recipes.sqlite", 50),
    ])
  func roundTrip(_ name: String, _ rows: Int) async throws {
    let folder = try ScratchDirectory()
    let store = folder.file("App.sqlite")
    try CoreDataFiles.data(name).write(to: store)
    let model = name.contains("Recipes") ? try Self.recipes() : try CoreDataStoreModel.read(store)
    let house = try await Self.house(with: store, model)
    let job = try await house.run("export", nil, Self.options(CoreDataTemplate(contentsOf: store)))
    #expect(job.state == .completed && job.progress.records == Int64(rows), "\(job.reason ?? "") \(job.note ?? "")")
    let verdict = try Self.compare(store, house.exports.appendingPathComponent("Out.sqlite"))
    #expect(verdict.differences == [] && verdict.rows == rows)
  }

  /// The model of the Recipes store, which is from before stores had models in them.
  private static func recipes() throws -> ManagedObjectModel {
    func texts(_ names: String...) -> [AttributeDefinition] { names.map { AttributeDefinition($0, .string) } }
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        "Image", attributes: [AttributeDefinition("image", .transformable)],
        relationships: [RelationshipDefinition("recipe", to: "Recipe", inverse: "image")]),
      EntityDefinition(
        "Ingredient", attributes: texts("amount", "name") + [AttributeDefinition("displayOrder", .integer16)],
        relationships: [RelationshipDefinition("recipe", to: "Recipe", inverse: "ingredients")]),
      EntityDefinition(
        "Recipe",
        attributes: texts("instructions", "name", "overview", "prepTime")
          + [AttributeDefinition("thumbnailImage", .transformable)],
        relationships: [
          RelationshipDefinition("image", to: "Image", inverse: "recipe"),
          RelationshipDefinition("ingredients", to: "Ingredient", inverse: "recipe", isToMany: true),
          RelationshipDefinition("type", to: "RecipeType"),
        ]),
      EntityDefinition("RecipeType", attributes: texts("name")),
    ])
  }

  @Test(
    "a store that is made from a compiled model has the schema and the hashes that Core Data gives one",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"),
    arguments: [
      ("SampleModel/SampleModel_V1.sqlite", "SampleModel/SampleModel.momd"),
      ("SampleModel3/SampleModel3_V1.sqlite", "SampleModel3/SampleModel3.momd"),
    ])
  func compiled(_ name: String, _ model: String) async throws {
    let store = CoreDataFiles.url(name)
    let house = try await Self.house(with: store, ManagedObjectModel(contentsOf: CoreDataFiles.url(model)))
    let job = try await house.run(
      "export", nil, Self.options(CoreDataTemplate(contentsOf: CoreDataFiles.url(model))))
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let exported = house.exports.appendingPathComponent("Out.sqlite")
    #expect(try Self.compare(store, exported, "--schema-only").differences == [])
    // Its cache is the compiled model.
    #expect(
      try CoreDataStoreModel.read(exported).entities.map(\.name)
        == ManagedObjectModel(contentsOf: CoreDataFiles.url(model)).entities.map(\.name))
  }

  // MARK: A small store

  /// Siblings with a property of one name, an ordered relationship, ordered pairs, and data that may be in files.
  private static func music(isNumbered: Bool = true) throws -> ManagedObjectModel {
    var sleeve = AttributeDefinition("sleeve", .binaryData)
    sleeve.allowsExternalBinaryDataStorage = true
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Album",
        attributes: [
          AttributeDefinition("title", .string), sleeve, AttributeDefinition("key", .uuid),
          AttributeDefinition("link", .uri), AttributeDefinition("price", .decimal),
        ],
        relationships: [
          RelationshipDefinition("tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true)
        ]),
      EntityDefinition(
        "Track", isAbstract: true, attributes: [AttributeDefinition("at", .date)],
        relationships: [
          RelationshipDefinition("album", to: "Album", inverse: "tracks"),
          RelationshipDefinition("tags", to: "Tag", inverse: "tracks", isToMany: true, isOrdered: true),
        ]),
      EntityDefinition("Live", parent: "Track", attributes: [AttributeDefinition("place", .string)]),
      EntityDefinition("Song", parent: "Track", attributes: [AttributeDefinition("place", .string)]),
      EntityDefinition(
        "Tag", attributes: [AttributeDefinition("name", .string)],
        relationships: [
          RelationshipDefinition("tracks", to: "Track", inverse: "tags", isToMany: true),
          RelationshipDefinition("first", to: "Track"),
        ]),
    ])
    return isNumbered ? try CoreDataRowNumbers.adding(to: model) : model
  }

  /// A template as a store of the model has it, with hashes that are none.
  private static func template(_ model: ManagedObjectModel) throws -> CoreDataTemplate {
    let hashes = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, Data(repeating: 7, count: 32)) })
    return try CoreDataTemplate(model: model, hashes: hashes)
  }

  private static func fill(_ house: Warehouse) throws {
    try house.change { context in
      let early = try context.insert("Album")
      for (name, value) in [
        ("title", Value.string("Early")), ("sleeve", .data(Data([9, 8]))), ("price", .decimal(10)),
        ("key", .uuid(try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")))),
        ("link", .uri(try #require(URL(string: "https://example.org/a")))),
      ] {
        try early.setValue(value, forKey: name)
      }
      var tags: [ManagedObject] = []
      for name in ["calm", "loud"] {
        tags.append(try context.insert("Tag"))
        try tags[tags.count - 1].setValue(.string(name), forKey: "name")
      }
      var tracks: [ManagedObject] = []
      for (entity, place) in [("Song", "studio"), ("Live", "arena")] {
        let track = try context.insert(entity)
        try track.setValue(.string(place), forKey: "place")
        try track.setValue(.date(Date(timeIntervalSinceReferenceDate: 86_400)), forKey: "at")
        tracks.append(track)
      }
      early.hold(try #require(early.entity.relationshipsByName["tracks"]), tracks.reversed().map(\.objectID))
      for track in tracks {
        track.hold(try #require(track.entity.relationshipsByName["tags"]), tags.reversed().map(\.objectID))
      }
      try tags[0].setValue(.object(tracks[1].objectID), forKey: "first")
    }
  }

  private static func rows(_ file: URL, _ sql: String) throws -> [String] {
    try DatabaseQueue(path: file.path).read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map { value -> String in
          if case .blob(let data) = value.storage { return data.map { String(format: "%02x", $0) }.joined() }
          return value.description
        }.joined(separator: "|")
      }
    }
  }

  @Test("values, references, orders and pairs are kept as Core Data keeps them")
  func kept() async throws {
    let model = try Self.music(isNumbered: false)
    let house = try await Warehouse(model: ImportModel.adding(to: model))
    try Self.fill(house)
    let job = try await house.run("export", nil, Self.options(Self.template(model)))
    #expect(job.state == .completed && job.progress.records == 5, "\(job.reason ?? "")")
    let file = house.exports.appendingPathComponent("Out.sqlite")
    #expect(
      try Self.rows(file, "SELECT Z_PK, Z_ENT, Z_OPT, ZPRICE, ZTITLE, ZLINK, ZKEY, ZSLEEVE FROM ZALBUM") == [
        "1|1|1|10|\"Early\"|\"https://example.org/a\"|00112233445566778899aabbccddeeff|010908"
      ])
    let tracks = try Self.rows(file, "SELECT Z_ENT, ZALBUM, ZAT, ZPLACE, ZPLACE1 FROM ZTRACK ORDER BY Z_FOK_ALBUM")
    #expect(tracks == ["4|1|86400|\"arena\"|NULL", "5|1|86400|NULL|\"studio\""])
    let pairs = try Self.rows(
      file,
      "SELECT t.Z_ENT, g.ZNAME FROM Z_2TRACKS j JOIN ZTRACK t ON t.Z_PK = j.Z_3TRACKS JOIN ZTAG g ON g.Z_PK = j.Z_2TAGS "
        + "ORDER BY t.Z_ENT, j.Z_FOK_2TAGS")
    #expect(pairs == ["4|\"loud\"", "4|\"calm\"", "5|\"loud\"", "5|\"calm\""])
    let first = try Self.rows(file, "SELECT g.Z3_FIRST, t.Z_ENT FROM ZTAG g JOIN ZTRACK t ON t.Z_PK = g.ZFIRST")
    #expect(first == ["4|4"])
    let maxima = try Self.rows(file, "SELECT Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    #expect(
      maxima == ["\"Album\"|0|1", "\"Tag\"|0|2", "\"Track\"|0|2", "\"Live\"|3|0", "\"Song\"|3|0"])
    #expect(try Self.rows(file, "PRAGMA auto_vacuum") == ["2"])
  }

  @Test("large data are files beside the exported store, those of a replaced one go, and all of it imports again")
  func files() async throws {
    let model = try Self.music(isNumbered: false)
    let house = try await Warehouse(model: ImportModel.adding(to: model))
    let large = Data(repeating: 7, count: 150_000)
    try house.change { context in
      for data in [large, Data([1])] { try context.insert("Album").setValue(.data(data), forKey: "sleeve") }
    }
    let folder = house.exports.appendingPathComponent(".Out_SUPPORT/_EXTERNAL_DATA")
    var names: [Set<String>] = []
    for _ in 0..<2 {
      let job = try await house.run("export", nil, Self.options(Self.template(model)))
      #expect(job.state == .completed, "\(job.reason ?? "")")
      names.append(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)))
    }
    let name = try #require(names[1].first)
    #expect(names.map(\.count) == [1, 1] && names[0] != names[1])
    #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == large)
    let file = house.exports.appendingPathComponent("Out.sqlite")
    let reference = name.utf8.map { String(format: "%02x", $0) }.joined()
    #expect(try Self.rows(file, "SELECT ZSLEEVE FROM ZALBUM ORDER BY 1") == ["0101", "02\(reference)00"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: house.exports.path).sorted() == [
        ".Out_SUPPORT", "Out.sqlite",
      ])

    let coordinator = PersistentStoreCoordinator(
      model: try ImportModel.adding(to: CoreDataRowNumbers.adding(to: model)))
    let directory = try ScratchDirectory()
    try coordinator.addPersistentStore(.sqlite(at: directory.file("ours.sqlite")))
    let result = try FileImport(into: "*", of: coordinator).run(file)
    #expect(result.inserted == 2 && result.rejected == 0, "\(result.notes)")
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let sleeves = try context.fetch(FetchRequest<ManagedObject>(entityName: "Album")).map { $0.value(forKey: "sleeve") }
    #expect(Set(sleeves) == [.data(large), .data(Data([1]))])
  }

  @Test("an exported store imports again to the same objects, by the numbers of their rows")
  func back() async throws {
    let model = try Self.music(isNumbered: false)
    let house = try await Warehouse(model: ImportModel.adding(to: model))
    try Self.fill(house)
    _ = try await house.run("export", nil, Self.options(Self.template(model)))
    let file = house.exports.appendingPathComponent("Out.sqlite")
    let again = try await Self.house(with: file, model)
    let job = try await again.run("export", nil, Self.options(Self.template(model), file: "Again.sqlite"))
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let verdict = try Self.compare(file, again.exports.appendingPathComponent("Again.sqlite"))
    // Each has a UUID of its own.
    #expect(verdict.differences.filter { !$0.hasPrefix("Z_METADATA") } == [], "\(verdict.differences)")
    #expect(verdict.rows == 9)
  }

  @Test("objects that the app doesn't have get numbers behind all of its own")
  func numbered() async throws {
    let model = try Self.music(isNumbered: false)
    var entities = try CoreDataRowNumbers.adding(to: model).entities.map(\.definition)
    for index in entities.indices {
      for place in entities[index].attributes.indices where entities[index].attributes[place].name == "storeRow" {
        entities[index].attributes[place].isOptional = true
        entities[index].attributes[place].usesScalarValueType = false
      }
    }
    let house = try await Warehouse(model: ImportModel.adding(to: ManagedObjectModel(entities: entities)))
    try house.change { context in
      for (name, number) in [("calm", Value.int(40)), ("loud", .null), ("slow", .null)] {
        let tag = try context.insert("Tag")
        try tag.setValue(.string(name), forKey: "name")
        try tag.setValue(number, forKey: "storeRow")
      }
    }
    let job = try await house.run("export", nil, Self.options(Self.template(model)))
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let file = house.exports.appendingPathComponent("Out.sqlite")
    let numbers = try Self.rows(file, "SELECT Z_PK, ZNAME FROM ZTAG ORDER BY Z_PK")
    #expect(numbers.first == "40|\"calm\"" && numbers.count == 3)
  }

  // MARK: Refusals

  @Test("what the app's model demands and the store doesn't have is refused, and what neither has is said")
  func unlike() async throws {
    var theirs = try Self.music(isNumbered: false).entities.map(\.definition)
    let house = try await Warehouse(model: ImportModel.adding(to: Self.music(isNumbered: false)))
    theirs[0].attributes.append(AttributeDefinition("label", .string, isOptional: false))
    let refused = try await house.run(
      "export", nil, Self.options(Self.template(ManagedObjectModel(entities: theirs))))
    // Templates without a model are taken to be of the store's own.
    #expect(refused.state == .completed)
    let template = try Self.template(ManagedObjectModel(entities: theirs))
    let plan = { try CoreDataExportPlan(template, house.data.model, theirs: ManagedObjectModel(entities: theirs)) }
    let error = #expect(throws: JobFailure.self) { try plan() }
    #expect(error?.message.contains("Album.label of the template must have a value") == true)
    theirs[0].attributes[theirs[0].attributes.count - 1].isOptional = true
    #expect(try plan().notes == ["Album without label, which the store doesn't have"])
  }

  @Test(
    "a template can make tables, indexes and triggers and nothing else",
    arguments: [
      "ATTACH DATABASE '/tmp/other.sqlite' AS other", "CREATE TABLE ZTAG2 AS SELECT 1", "DROP TABLE ZTAG",
      "CREATE VIEW ZVIEW AS SELECT 1", "CREATE INDEX ZI ON ZTAG (zeroblob(1000000000))", "PRAGMA journal_mode = WAL",
      "CREATE VIRTUAL TABLE ZR USING rtree(id, a, b)", "VACUUM INTO '/tmp/other.sqlite'",
    ])
  func hostile(_ sql: String) async throws {
    let model = try Self.music(isNumbered: false)
    let house = try await Warehouse(model: ImportModel.adding(to: model))
    var template = try Self.template(model)
    template.schema.items.append(.init(type: "table", name: "ZX", table: "ZX", sql: sql))
    let job = try await house.run("export", nil, Self.options(template))
    #expect(job.state == .discarded && job.reason?.contains("can't be used") == true, "\(job.reason ?? "")")
    #expect(try house.files == [])
    #expect(!FileManager.default.fileExists(atPath: "/tmp/other.sqlite"))
  }

  @Test("options that have no meaning for a whole store are refused, and so is a store without a template")
  func options() throws {
    let template = try Self.options(Self.template(Self.music()))
    let submission = { (entity: String?, options: String) in
      JobSubmission(kind: "export", store: "main", entity: entity).with { $0.resolvedOptions = options }
    }
    let model = try ImportModel.adding(to: Self.music())
    try ExportOperation.check(submission(nil, template), in: model)
    for (entity, options, part) in [
      ("Album", template, "leave out Album"),
      (nil, #"{"format": "core-data"}"#, "needs a template"),
      (nil, template.replacing(#"{"format""#, with: #"{"limit": 3, "format""#), "written as a whole"),
      ("Album", template.replacing("core-data", with: "csv"), "only the format core-data has a template"),
    ] as [(String?, String, String)] {
      let error = #expect(throws: JobFailure.self) { try ExportOperation.check(submission(entity, options), in: model) }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }
}
