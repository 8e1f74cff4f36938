import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("An import of a workbook")
struct WorkbookImportTests {
  /// Imports a workbook of the room.
  @discardableResult
  private func run(
    _ bytes: [UInt8], in room: ImportRoom, as name: String = "staff.xlsx", into entity: String = "*",
    mode: ImportMode? = nil, reader: ReaderOptions = ReaderOptions(), batch: Int = 2, job: String = "1",
    stopAtAsking: Int = .max, mapping: MappingOptions = MappingOptions()
  ) throws -> ImportEnd {
    if FileManager.default.contents(atPath: room.file(name).path) != Data(bytes) {
      try Data(bytes).write(to: room.file(name))
    }
    room.isSourceKept = true
    return try room.run(
      "", as: name, into: entity, mode: mode, reader: reader, batch: batch, job: job, stopAtAsking: stopAtAsking,
      mapping: mapping)
  }

  @Test(
    "puts each sheet into its entity, in the order of references, and the second time changes nothing",
    arguments: StoreKind.allCases)
  func sheets(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let bytes = try WorkbookFile.resource("openpyxl.xlsx")
    let end = try run(bytes, in: room)
    #expect(end.tally == "6i 0u 0= 0r 0?")
    #expect(
      try room.rows("code", "name", "age", "country.code", "grade") == [
        "p1|Ann & Co|40|DE|1", "p2|Bob the bold|50|FR|2", "p3|Zoë\nTwo|30|FR|3", "p4| Di ||DE|1",
      ])
    #expect(try room.rows("code", "name", of: "Country") == ["DE|Germany", "FR|France"])
    // The model has a format for texts; a cell that is a date needs none.
    #expect(try room.rows("born").contains { $0.hasPrefix("1984-02-29") })
    #expect(end.notes.contains("Country: 2 inserted") && end.notes.contains("People into Person: 4 inserted"))
    #expect(end.notes.contains("ignored: Notes, which no entity has a file for"))
    #expect(end.notes.contains { $0.hasPrefix("ignored: Old people, hidden") })
    #expect(try run(bytes, in: room, job: "2").tally == "0i 0u 6= 0r 0?")
  }

  @Test("of one sheet that the options name goes into one entity")
  func member() throws {
    let room = try ImportRoom(.sqlite)
    var options = ReaderOptions()
    options.member = "Country"
    let end = try run(WorkbookFile.resource("openpyxl.xlsx"), in: room, into: "Country", reader: options)
    #expect(end.tally == "2i 0u 0= 0r 0?")
  }

  private static let faulty = WorkbookFile(
    WorkbookFile.row(1, ["code", "name", "age", "email"])
      + """
      <row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is></c><c r="B2" t="inlineStr"><is><t>Ann</t></is></c>\
      <c r="C2"><v>40</v></c></row>
      <row r="5"><c r="A5" t="inlineStr"><is><t>b</t></is></c><c r="B5" t="inlineStr"><is><t>Bob</t></is></c>\
      <c r="C5" t="e"><v>#N/A</v></c></row>
      <row r="6"><c r="A6" t="inlineStr"><is><t>c</t></is></c><c r="B6" t="inlineStr"><is><t>Cy</t></is></c>\
      <c r="C6"><f>A1*2</f></c></row>
      <row r="7"><c r="A7" t="inlineStr"><is><t>d</t></is></c><c r="B7"><v>7</v></c><c r="C7"><v>1.5</v></c></row>
      """)

  @Test("rejects a row by its number and its cell, in a file that can be corrected and imported again")
  func rejects() throws {
    let room = try ImportRoom(.sqlite)
    let end = try run(Self.faulty.bytes(), in: room, into: "Person")
    #expect(end.tally == "1i 0u 0= 3r 0?")
    let rejects = try #require(room.rejects())
    let lines = rejects.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""line":5,"column":"age","code":"cell_error""#) && lines[0].contains("(Data!C5)"))
    #expect(lines[1].contains(#""line":6,"column":"age","code":"formula_without_value""#))
    #expect(lines[2].contains(#""code":"not_an_integer""#) && lines[2].contains(#""name":7,"age":1.5"#))
    let mended = rejects.replacing(##""#N/A""##, with: "50").replacing(#""=A1*2""#, with: "null")
      .replacing("\"age\":1.5", with: "\"age\":2")
    var options = ReaderOptions()
    options.format = .xlsx
    let name = RejectFileName.name(job: "1", source: "staff.xlsx", options)
    #expect(name == "1.rejects.ndjson")
    #expect(try room.run(mended, as: name, reader: options, job: "2").tally == "3i 0u 0= 0r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Ann|40", "b|Bob|50", "c|Cy|", "d|7|2"])
  }

  @Test("takes an error for null where the recipe says so")
  func errors() throws {
    let room = try ImportRoom(.memory)
    var mapping = MappingOptions()
    mapping.nulls = ["#N/A"]
    #expect(try run(Self.faulty.bytes(), in: room, into: "Person", mapping: mapping).tally == "2i 0u 0= 2r 0?")
    #expect(try room.rows("code", "age") == ["a|40", "b|"])
  }

  @Test("doesn't take a number for a date, nor a date for a number")
  func kinds() throws {
    let room = try ImportRoom(.memory)
    let rows =
      WorkbookFile.row(1, ["code", "name", "birthday", "age"])
        + """
        <row r="2"><c t="str"><v>a</v></c><c t="str"><v>A</v></c><c s="1"><v>45322</v></c></row>
        <row r="3"><c t="str"><v>b</v></c><c t="str"><v>B</v></c><c><v>45322</v></c></row>
        <row r="4"><c t="str"><v>c</v></c><c t="str"><v>C</v></c><c/><c r="D4" s="1"><v>45</v></c></row>
        <row r="5"><c t="str"><v>d</v></c><c t="str"><v>D</v></c><c t="str"><v>31.01.2024</v></c></row>
        """
    let end = try run(WorkbookFile(rows, formats: ["0", "14"]).bytes(), in: room, into: "Person")
    #expect(end.tally == "2i 0u 0= 2r 0?")
    #expect(try room.rows("code").count == 2)
    let codes = (room.rejects() ?? "").matches(of: #/"code":"([a-z_]{3,})"/#).map { String($0.1) }
    #expect(codes == ["not_a_date", "not_an_integer"])
  }

  @Test("that is stopped wherever it asks continues from there", arguments: StoreKind.allCases)
  func stopped(_ kind: StoreKind) throws {
    let bytes = try WorkbookFile.resource("openpyxl.xlsx")
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
    let bytes = try WorkbookFile.resource("openpyxl.xlsx")
    try Killing.everyWrite(kind, run: { try run(bytes, in: $0) }, traces: { try Feed.Traces($0, $1) })
  }

  @Test("has a model inferred of it, with an entity for each sheet")
  func inference() throws {
    let room = try InferenceRoom()
    let path = try room.write(Data(WorkbookFile.resource("openpyxl.xlsx")), as: "staff.xlsx")
    let model = try ModelInference().run([path])
    #expect(model.entities.count == 3)
    let people = try #require(model.entities.first { $0.columns.contains { $0.name == "birthday" } })
    let types = Dictionary(uniqueKeysWithValues: people.columns.map { ($0.name, $0.type) })
    #expect(types["birthday"] == "Date" && types["name"] == "String" && types["code"] == "String")
    let one = try room.write(Data(WorkbookFile.resource("xlsxwriter.xlsx")), as: "readings.xlsx")
    #expect(try ModelInference().run([one]).entities.map(\.name) == ["Reading"])
  }
}
