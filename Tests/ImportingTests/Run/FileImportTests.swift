import Foundation
import Importing
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Importing files in a program of one's own")
struct FileImportTests {
  private let folder: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try ScratchDirectory()
    let person = EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("name", .string), AttributeDefinition("age", .integer32),
        AttributeDefinition("born", .date),
      ])
    coordinator = PersistentStoreCoordinator(
      model: try ImportModel.adding(to: ManagedObjectModel(entities: [person])))
    try coordinator.addPersistentStore(.sqlite(at: folder.file("store.sqlite")))
  }

  private func write(_ data: Data, to name: String) throws -> URL {
    try data.write(to: folder.file(name))
    return folder.file(name)
  }

  private var names: [String] {
    get throws {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      return try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        .compactMap { $0.value(forKey: "name")?.plainText }.sorted()
    }
  }

  @Test("reads a file as its options say, and makes of its records what the rules say")
  func options() throws {
    let text = "Full name;age;Birthday\nZoë;36;1.2.1988\nBen;7;\nCy;x;\nDora;n/a;\n"
    let source = try write(try #require(text.data(using: .windowsCP1252)), to: "people.txt")
    var people = FileImport(into: "Person", of: coordinator)
    people.options.reading = ["format": "csv", "delimiter": ";", "encoding": "windows-1252"]
    people.options.properties["name"] = PropertyRule(column: "Full name")
    people.options.properties["born"] = PropertyRule(column: "Birthday", dateFormat: "d.M.yyyy")
    people.options.nulls = ["n/a"]
    people.options.filter = "age == nil OR age > 17"
    let result = try people.run(source)
    #expect(result.isFinished && result.records == 4)
    #expect((result.inserted, result.skipped, result.rejected) == (2, 1, 1))
    #expect(try names == ["Dora", "Zoë"])
  }

  @Test("finds the records of a document where its options say")
  func root() throws {
    let source = try write(Data(#"{"data": {"items": [{"name": "Ada"}, {"name": "Ben"}]}}"#.utf8), to: "people.json")
    var people = FileImport(into: "Person", of: coordinator)
    people.options.reading = ["root": "data.items"]
    #expect(try people.run(source).inserted == 2)
    #expect(try names == ["Ada", "Ben"])
  }

  @Test("refuses an option that there isn't, with the one that may be meant")
  func misspelt() throws {
    let source = try write(Data("name\nAda\n".utf8), to: "people.csv")
    var people = FileImport(into: "Person", of: coordinator)
    people.options.reading = ["delimeter": ";"]
    let error = #expect(throws: (any Error).self) { try people.run(source) }
    #expect("\(try #require(error))".contains("did you mean delimiter?"))
    #expect(try names.isEmpty)
  }

  @Test("reports how far it is, stops between two batches, and continues there under its name")
  func stopped() throws {
    let source = try write(Data("name\na\nb\nc\nd\ne\n".utf8), to: "people.csv")
    var people = FileImport(into: "Person", of: coordinator)
    people.name = "people"
    people.options.batchSize = 2
    var reported: [Int64] = []
    let first = try people.run(
      source, shouldStop: { reported.contains(2) }, report: { reported.append($0.records) })
    #expect(!first.isFinished && first.inserted == 2 && reported == [0, 2])
    #expect(try names == ["a", "b"])
    let second = try people.run(source, report: { reported.append($0.records) })
    #expect(second.isFinished && second.inserted == 5)
    #expect(reported.last == 5)
    #expect(try names == ["a", "b", "c", "d", "e"])
    // It is over: the next one is another.
    #expect(try people.run(source).inserted == 5)
    #expect(try names.count == 10)
  }
}
