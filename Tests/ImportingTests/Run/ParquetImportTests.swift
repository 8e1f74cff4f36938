import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("An import of a Parquet file")
struct ParquetImportTests {
  @discardableResult
  private func run(
    _ file: String, in room: ImportRoom, into entity: String = "Person", mode: ImportMode? = nil, batch: Int = 3,
    job: String = "1", stopAtAsking: Int = .max
  ) throws -> ImportEnd {
    let bytes = try WorkbookFile.resource(file)
    if FileManager.default.contents(atPath: room.file(file).path) != Data(bytes) {
      try Data(bytes).write(to: room.file(file))
    }
    room.isSourceKept = true
    return try room.run("", as: file, into: entity, mode: mode, batch: batch, job: job, stopAtAsking: stopAtAsking)
  }

  /// What an import leaves behind.
  private struct Traces: Equatable {
    let people: [String]
    let products: [String]
    let counts: ImportCounts
    let rejects: String?

    init(_ room: ImportRoom, _ end: ImportEnd) throws {
      people = try room.rows("code", "name", "age", "grade", "born")
      products = try room.sets("sku", "maker.name", "tags.word", "chapters.code")
      counts = end.counts
      rejects = room.rejects()
    }
  }

  @Test(
    "makes objects of its rows, with dates by their type, and the second time changes nothing",
    arguments: StoreKind.allCases, [ImportMode.insert, .upsert, .synchronise])
  func rows(_ kind: StoreKind, _ mode: ImportMode) throws {
    let room = try ImportRoom(kind)
    // A name is missing, and an age is too great.
    #expect(try run("staff.parquet", in: room, mode: mode).tally == "23i 0u 0= 2r 0?")
    let rows = try room.rows("code", "name", "age", "grade")
    #expect(rows.contains("p0|Person 0|20|0") && rows.contains("p24|Person 24|44|4"))
    #expect(try room.rows("born").contains { $0.hasPrefix("1980-01-25") })
    guard mode != .insert else { return }
    #expect(try run("staff.parquet", in: room, mode: mode, job: "2").tally == "0i 0u 23= 2r 0?")
  }

  @Test("rejects a row by its number, in a file that can be corrected and imported again")
  func rejects() throws {
    let room = try ImportRoom(.sqlite)
    try run("staff.parquet", in: room)
    let rejects = try #require(room.rejects())
    let lines = rejects.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""line":12"#) && lines[1].contains(#""line":18,"column":"age""#))
    #expect(lines[1].contains(#""code":"p17","name":"Person 17","age":1000,"birthday":"1980-01-18","grade":2"#))
    var options = ReaderOptions()
    options.format = .parquet
    let name = RejectFileName.name(job: "1", source: "staff.parquet", options)
    #expect(name == "1.rejects.ndjson")
    // In a text, a date has the model's format.
    let mended = rejects.replacing("\"age\":1000", with: "\"age\":37")
      .replacing("\"name\":null", with: "\"name\":\"M\"")
      .replacing("1980-01-12", with: "12.01.1980").replacing("1980-01-18", with: "18.01.1980")
    #expect(try room.run(mended, as: name, reader: options, job: "2").tally == "2i 0u 0= 0r 0?")
    #expect(try room.count(of: "Person") == 25)
  }

  @Test("makes objects of what nests, as an import of JSON does", arguments: StoreKind.allCases, [1, 100])
  func nested(_ kind: StoreKind, _ batch: Int) throws {
    let room = try ImportRoom(kind)
    #expect(try run("products.parquet", in: room, into: "Product", batch: batch).tally == "3i 0u 0= 0r 0?")
    #expect(
      try room.sets("sku", "maker.name", "tags.word", "chapters.code")
        == ["a|Acme|new,red|2,1", "b|Bolt|red|", "c|Bolt|blue|"])
    #expect(
      try room.rows("name", "since", "seat.street", "seat.zip", of: "Maker") == ["Acme|1901|Main \"1\"|123", "Bolt|||"])
    #expect(try run("products.parquet", in: room, into: "Product", batch: batch, job: "2").tally == "0i 0u 3= 0r 0?")
  }

  @Test("that is stopped wherever it asks continues from there", arguments: StoreKind.allCases)
  func stopped(_ kind: StoreKind) throws {
    let usual = try ImportRoom(kind)
    let expected = try Traces(usual, run("staff.parquet", in: usual))
    for asking in 1...30 {
      let room = try ImportRoom(kind)
      let end = try run("staff.parquet", in: room, stopAtAsking: asking)
      if end.isFinished {
        #expect(asking > 3)
        break
      }
      try room.reopen()
      #expect(try Traces(room, run("staff.parquet", in: room)) == expected, "asking \(asking)")
    }
  }

  @Test(
    "that is killed at any write leaves what one run leaves", arguments: StoreKind.allCases,
    [("staff.parquet", "Person"), ("products.parquet", "Product")])
  func killed(_ kind: StoreKind, _ file: (name: String, entity: String)) throws {
    try Killing.everyWrite(
      kind, run: { try run(file.name, in: $0, into: file.entity, batch: 2) }, traces: { try Traces($0, $1) })
  }

  @Test("has a model inferred of what the file says of its columns")
  func inference() throws {
    let room = try InferenceRoom()
    let path = try room.write(Data(WorkbookFile.resource("types.parquet")), as: "readings.parquet")
    let model = try ModelInference().run([path])
    let types = Dictionary(
      uniqueKeysWithValues: try #require(model.definitions.first).attributes.map { ($0.name, $0.type) })
    let expected: [String: AttributeType] = [
      "i8": .integer16, "u16": .integer32, "i32": .integer32, "u32": .integer64, "u64": .decimal, "f16": .float,
      "f32": .float, "f64": .double, "flag": .boolean, "text": .string, "bin": .binaryData, "day": .date,
      "local": .date, "d9": .decimal, "d38": .decimal, "d76": .string, "uuid": .uuid,
    ]
    for (name, type) in expected where types[name] != nil { #expect(types[name] == type, "\(name)") }
    #expect(types.count > 20)
    let nested = try room.write(Data(WorkbookFile.resource("nested.parquet")), as: "nested.parquet")
    let definitions = try ModelInference().run([nested]).definitions
    // What is never null is required, and objects in a list become an entity.
    #expect(definitions.first?.attributes.first { $0.name == "kind" }?.isOptional == false)
    #expect(definitions.count > 1)
  }
}
