import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("An import of an OpenDocument spreadsheet", .timeLimit(.minutes(20)))
struct OpenDocumentImportTests {
  private typealias File = OpenDocumentFile

  /// Imports a spreadsheet of the room.
  @discardableResult
  private func run(
    _ bytes: [UInt8], in room: ImportRoom, into entity: String = "*", batch: Int = 2, job: String = "1",
    stopAtAsking: Int = .max
  ) throws -> ImportEnd {
    let name = "staff.ods"
    if FileManager.default.contents(atPath: room.file(name).path) != Data(bytes) {
      try Data(bytes).write(to: room.file(name))
    }
    room.isSourceKept = true
    return try room.run("", as: name, into: entity, batch: batch, job: job, stopAtAsking: stopAtAsking)
  }

  @Test(
    "puts each table into its entity, in the order of references, and the second time changes nothing",
    arguments: StoreKind.allCases)
  func tables(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let bytes = try WorkbookFile.resource("odfpy.ods")
    let end = try run(bytes, in: room)
    #expect(end.tally == "6i 0u 0= 0r 0?")
    #expect(
      try room.rows("code", "name", "age", "country.code", "grade") == [
        "p1|Ann & Co|40|DE|1", "p2|Bob the bold|50|FR|2", "p3|Zoë\nTwo|30|FR|3", "p4| Di ||DE|1",
      ])
    #expect(try room.rows("code", "name", of: "Country") == ["DE|Germany", "FR|France"])
    #expect(end.notes.contains("Country: 2 inserted") && end.notes.contains("People into Person: 4 inserted"))
    #expect(end.notes.contains("ignored: Notes, which no entity has a file for"))
    #expect(end.notes.contains { $0.hasPrefix("ignored: Old people, hidden") })
    #expect(try run(bytes, in: room, job: "2").tally == "0i 0u 6= 0r 0?")
  }

  @Test("rejects a row by its number and its cell, in a file that can be corrected and imported again")
  func rejects() throws {
    func cell(_ type: String, _ value: String) -> String {
      "<table:table-cell office:value-type=\"\(type)\" office:value=\"\(value)\"/>"
    }
    func text(_ text: String) -> String {
      "<table:table-cell office:value-type=\"string\"><text:p>\(text)</text:p></table:table-cell>"
    }
    let error =
      "<table:table-cell table:formula=\"of:=NA()\" office:value-type=\"string\" office:string-value=\"\" "
      + "calcext:value-type=\"error\"><text:p>#N/A</text:p></table:table-cell>"
    let bytes = try File(
      File.row(["code", "name", "age"]) + File.row(text("a") + text("Ann") + cell("float", "40"))
        + File.row([""], repeated: 2) + File.row(text("b") + text("Bob") + error)
        + File.row(text("c") + text("Cy") + "<table:table-cell table:formula=\"of:=[.A1]*2\"/>")
        + File.row(text("d") + cell("float", "7") + cell("float", "1.5"))
    ).bytes()
    let room = try ImportRoom(.sqlite)
    #expect(try run(bytes, in: room, into: "Person").tally == "1i 0u 0= 3r 0?")
    let rejects = try #require(room.rejects())
    let lines = rejects.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""line":5,"column":"age","code":"cell_error""#) && lines[0].contains("(Data!C5)"))
    #expect(lines[1].contains(#""line":6,"column":"age","code":"formula_without_value""#))
    #expect(lines[2].contains(#""code":"not_an_integer""#) && lines[2].contains(#""name":7,"age":1.5"#))
    let mended = rejects.replacing(##""#N/A""##, with: "50").replacing(#""=[.A1]*2""#, with: "null")
      .replacing("\"age\":1.5", with: "\"age\":2")
    var options = ReaderOptions()
    options.format = .ods
    let name = RejectFileName.name(job: "1", source: "staff.ods", options)
    #expect(name == "1.rejects.ndjson")
    #expect(try room.run(mended, as: name, reader: options, job: "2").tally == "3i 0u 0= 0r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Ann|40", "b|Bob|50", "c|Cy|", "d|7|2"])
  }

  @Test("that is stopped wherever it asks continues from there", arguments: StoreKind.allCases)
  func stopped(_ kind: StoreKind) throws {
    let bytes = try WorkbookFile.resource("odfpy.ods")
    let usual = try ImportRoom(kind)
    let expected = try Feed.Traces(usual, run(bytes, in: usual))
    for asking in 1...30 {
      let room = try ImportRoom(kind)
      let end = try run(bytes, in: room, stopAtAsking: asking)
      if end.isFinished {
        #expect(asking > 3)
        break
      }
      try room.reopen()
      #expect(try Feed.Traces(room, run(bytes, in: room)) == expected, "asking \(asking)")
    }
  }

  @Test("that is killed at any write leaves what one run leaves", arguments: StoreKind.allCases)
  func killed(_ kind: StoreKind) throws {
    let bytes = try WorkbookFile.resource("odfpy.ods")
    try Killing.everyWrite(kind, run: { try run(bytes, in: $0) }, traces: { try Feed.Traces($0, $1) })
  }

  @Test("has a model inferred of it, with an entity for each table")
  func inference() throws {
    let room = try InferenceRoom()
    let path = try room.write(Data(WorkbookFile.resource("odfpy.ods")), as: "staff.ods")
    let model = try ModelInference().run([path])
    #expect(model.entities.count == 3)
    let people = try #require(model.entities.first { $0.columns.contains { $0.name == "birthday" } })
    let types = Dictionary(uniqueKeysWithValues: people.columns.map { ($0.name, $0.type) })
    #expect(types["birthday"] == "Date" && types["name"] == "String" && types["code"] == "String")
  }
}
