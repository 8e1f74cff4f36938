import Foundation
import Testing

@testable import Importing

@Suite("A sheet of a workbook")
struct SheetReaderTests {
  /// The values of the second row, under columns named A, B and so on.
  private func values(
    _ cells: String, strings: [String] = [], formats: [String] = [], is1904: Bool = false, width: Int = 1
  ) throws -> [String] {
    var file = WorkbookFile(
      WorkbookFile.row(1, (0..<width).map { SheetPlace.column($0) }) + "<row r=\"2\">\(cells)</row>", strings: strings,
      formats: formats)
    file.is1904 = is1904
    let result = try file.read()
    #expect(result.error == nil)
    return result.cells.first ?? []
  }

  @Test("that openpyxl wrote has its rows, with texts, runs, numbers, dates and gaps")
  func openpyxl() throws {
    var options = ReaderOptions()
    options.member = "People"
    let result = try SourceFile(WorkbookFile.resource("openpyxl.xlsx"), name: "openpyxl.xlsx").read(options)
    #expect(result.error == nil)
    #expect(result.columns == ["code", "name", "age", "birthday", "country_code", "grade"])
    #expect(result.lines == [2, 3, 4, 6])
    #expect(
      result.cells == [
        ["p1", "Ann & Co", "<number>40", "<date>1984-02-29", "DE", "<number>1"],
        ["p2", "Bob the bold", "<number>50", "<date>1974-12-31", "FR", "<number>2"],
        ["p3", "Zoë\nTwo", "<number>30", "<date>1994-06-01T12:30:00", "FR", "<number>3"],
        ["p4", " Di ", "<empty>", "<empty>", "DE", "<yes>"],
      ])
  }

  @Test("that XlsxWriter wrote in the 1904 system has dates, times, durations, computed values and errors")
  func xlsxWriter() throws {
    let result = try SourceFile(WorkbookFile.resource("xlsxwriter.xlsx"), name: "xlsxwriter.xlsx").read()
    #expect(result.error == nil)
    #expect(
      result.cells == [
        [
          "<date>2024-01-31T12:30:00", "<date>09:05:00", "36:00:00", "<number>1.1", "<number>2.2", "<fault>#DIV/0!",
          "<no>",
        ],
        [
          "merged", "<empty>", "<empty>", "<number>123456789012345", "<empty>", "<empty>", "<empty>",
        ],
      ])
  }

  @Test(
    "takes shared texts by their numbers, without phonetic guides, whatever the order of the parts",
    arguments: [false, true])
  func sharedTexts(isReversed: Bool) throws {
    var file = WorkbookFile(
      """
      <row r="1"><c r="A1" t="s"><v>2</v></c><c r="B1" t="s"><v>0</v></c></row>
      <row r="2"><c r="A2" t="s"><v>3</v></c><c r="B2" t="s"><v>1</v></c></row>
      <row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" t="s"><v>4</v></c></row>
      """,
      strings: [
        "<t>b</t>", "<t>課長</t><rPh sb=\"0\" eb=\"2\"><t>カチョウ</t></rPh>", "<t>a</t>",
        "<r><t xml:space=\"preserve\">one </t></r><r><rPr><b/></rPr><t>&amp; two</t></r>", "<t/>",
      ])
    file.isReversed = isReversed
    let result = try file.read()
    #expect(result.columns == ["a", "b"])
    #expect(result.cells == [["one & two", "課長"], ["課長", ""]])
  }

  @Test("gives numbers as they are in the file, and in fewer digits where Excel wrote more than the value has")
  func numbers() throws {
    let cells = ["0.1", "1.1000000000000001", "123456789012345678", "-1E-3", "0.30000000000000004", "5", "abc"]
      .enumerated().map { "<c r=\"\(SheetPlace.column($0))2\"><v>\($1)</v></c>" }.joined()
    #expect(
      try values(cells, width: 7) == [
        "<number>0.1", "<number>1.1", "<number>123456789012345678", "<number>-1E-3", "<number>0.30000000000000004",
        "<number>5", "abc",
      ])
  }

  @Test(
    "gives dates by the style of the cell",
    arguments: [
      ("14", "45322", "<date>2024-01-31"), ("22", "45322.75", "<date>2024-01-31T18:00:00"),
      ("21", "0.5", "<date>12:00:00"), ("46", "1.25", "30:00:00"), ("47", "0.0000115740740740741", "<date>00:00:01"),
      ("14", "45322.5", "<date>2024-01-31T12:00:00"), ("14", "1", "<date>1900-01-01"), ("14", "59", "<date>1900-02-28"),
      ("14", "60", "<date>1900-02-29"), ("14", "61", "<date>1900-03-01"), ("14", "0", "<date>1900-01-00"),
      ("14", "2958465", "<date>9999-12-31"), ("14", "2958466", "<number>2958466"), ("14", "-1", "<number>-1"),
      ("yyyy\\-mm\\-dd;@", "45322", "<date>2024-01-31"), ("[$-407]d. mmmm yyyy", "45322", "<date>2024-01-31"),
      ("[h]:mm", "2", "48:00:00"), ("mm:ss.0", "0.5", "<date>12:00:00"), ("0.00\" days\"", "45322", "<number>45322"),
      ("[Red]0;[Blue]-0", "7", "<number>7"), ("General", "45322", "<number>45322"), ("0.00E+00", "7", "<number>7"),
      ("0_d", "7", "<number>7"), ("0\\d", "7", "<number>7"), ("0;yyyy", "7", "<number>7"),
      ("mmm", "45322", "<date>2024-01-31"),
      ("0", "45322", "<number>45322"), ("h:mm AM/PM", "45322.5", "<date>2024-01-31T12:00:00"),
    ])
  func dates(format: String, number: String, shown: String) throws {
    #expect(try values("<c r=\"A2\" s=\"0\"><v>\(number)</v></c>", formats: [format]) == [shown])
  }

  @Test("counts days from 1904 where the workbook says so")
  func system1904() throws {
    #expect(try values("<c s=\"0\"><v>0</v></c>", formats: ["14"], is1904: true) == ["<date>1904-01-01"])
    #expect(try values("<c s=\"0\"><v>60</v></c>", formats: ["14"], is1904: true) == ["<date>1904-03-01"])
    #expect(try values("<c s=\"0\"><v>43860</v></c>", formats: ["14"], is1904: true) == ["<date>2024-01-31"])
  }

  @Test("gives every number of milliseconds of a day back", arguments: [0.0, 0.999999, 12.3456, 45322.000001])
  func milliseconds(_ serial: Double) {
    var text: [UInt8] = []
    #expect(ExcelDate(is1904: false).append(serial, .elapsed, to: &text))
    let parts = String(decoding: text, as: UTF8.self).split { ":.".contains($0) }.compactMap { Double($0) }
    let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2] + (parts.count > 3 ? parts[3] / 1000 : 0)
    #expect(abs(seconds - serial * 86_400) < 0.001)
  }

  @Test("gives booleans, errors, ISO dates, computed texts, and formulas that no program has computed")
  func kinds() throws {
    #expect(
      try values(
        """
        <c r="A2" t="b"><v>1</v></c><c r="B2" t="e"><v>#N/A</v></c><c r="C2" t="d"><v>2024-01-31T10:00:00</v></c>
        <c r="D2" t="str"><f>A1&amp;"x"</f><v>_x0041_x_x005F_</v></c><c r="E2"><f>SUM(A1:A3)</f></c>
        <c r="F2" t="str"><f>""</f><v></v></c><c r="G2"><f t="shared" si="0"/><v>4</v></c><c r="H2" s="3"/>
        """, width: 8) == [
          "<yes>", "<fault>#N/A", "<date>2024-01-31T10:00:00", "Ax_", "<fault>=SUM(A1:A3)", "", "<number>4", "<empty>",
        ])
  }

  @Test("finds in cells of the usual form what it finds in those that it reads token by token")
  func plainCells() throws {
    let cells = [
      "<c r=\"A2\"><v>1</v></c>", "<c r=\"A2\" s=\"1\"><v>45322</v></c>", "<c r=\"A2\" t=\"s\"><v>1</v></c>",
      "<c t=\"s\" r=\"A2\"><v>0</v></c>", "<c r=\"A2\" t=\"b\"><v>0</v></c>", "<c r=\"A2\" t=\"e\"><v>#REF!</v></c>",
      "<c r=\"A2\" t=\"str\"><v>_x0041_</v></c>", "<c r=\"A2\" t=\"inlineStr\"><is><t>a b</t></is></c>",
      "<c r=\"A2\" t=\"inlineStr\"><is><t xml:space=\"preserve\"> a</t></is></c>", "<c r=\"A2\" s=\"1\"/>", "<c/>",
      "<c r=\"A2\"><v></v></c>", "<c r=\"A2\" t=\"d\"><v>2024-01-31</v></c>", "<c r=\"A2\" t=\"s\"><v>9</v></c>",
      "<c r=\"2\"><v>1</v></c>", "<c r=\"XFE2\"><v>1</v></c>", "<c r=\"A2\"><v>1</c>",
    ]
    for cell in cells {
      func result(_ cell: String) throws -> ReadResult {
        // The second cell, so that there is a row in any case.
        let row = "<row r=\"2\">\(cell)<c r=\"B2\"><v>1</v></c></row>"
        return try WorkbookFile(
          WorkbookFile.row(1, ["a", "b"]) + row, strings: ["<t>x</t>", "<t>y</t>"], formats: ["0", "14"]
        ).read()
      }
      let plain = try result(cell)
      let slow = try result(cell.replacing("<c", with: "<c cm=\"1\"", maxReplacements: 1))
      #expect(plain.cells == slow.cells && (plain.error == nil) == (slow.error == nil), "\(cell)")
    }
  }

  @Test("is the same in blocks of any size", arguments: ["openpyxl.xlsx", "xlsxwriter.xlsx"], [7, 100, 1_000])
  func blocks(_ name: String, _ size: Int) throws {
    var options = ReaderOptions()
    options.member = name == "openpyxl.xlsx" ? "People" : nil
    let file = try SourceFile(WorkbookFile.resource(name), name: name)
    let whole = try file.read(options)
    let workbook = try ExcelWorkbook(descriptor: file.descriptor, options: options, blockSize: size)
    let reader = try SheetReader(workbook, options: options, from: nil)
    let batch = RecordBatch()
    var records: [ReadRecord] = []
    while try reader.read(into: batch, limit: 2) {
      records += (0..<batch.count).map { SourceFile.record($0, of: batch) }
    }
    #expect(records == whole.records)
  }

  @Test("has rows and cells where their references say, or in order where they have none")
  func references() throws {
    let file = WorkbookFile(
      """
      <row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>
      <row r="4"><c r="B4"><v>1</v></c></row><row/><row><c><v>2</v></c><c><v>3</v></c></row>
      <row r="9"><c r="B9"><v>4</v></c><c r="A9"><v>5</v></c></row>
      """)
    let result = try file.read()
    #expect(result.error == nil)
    #expect(result.lines == [4, 6, 9])
    #expect(
      result.cells == [["<empty>", "<number>1"], ["<number>2", "<number>3"], ["<number>5", "<number>4"]])
  }

  @Test("is the same under another prefix, in the strict variant, in UTF-16, and with a byte order mark")
  func spellings() throws {
    let rows = WorkbookFile.row(1, ["a"]) + "<row r=\"2\"><c r=\"A2\"><v>1</v></c></row>"
    var strict = WorkbookFile(rows)
    strict.namespace = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    strict.relationships = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    var prefixed = WorkbookFile(rows)
    let sheet = rows.replacing("</", with: "</x:").replacing(#/<(?=[a-z])/#, with: "<x:")
    prefixed.parts["xl/worksheets/sheet0.xml"] =
      "\u{FEFF}<x:worksheet xmlns:x=\"m\"><x:dimension ref=\"A1\"/><x:sheetData>\(sheet)</x:sheetData></x:worksheet>"
    for file in [strict, prefixed] {
      let result = try file.read()
      #expect(result.error == nil)
      #expect(result.columns == ["a"] && result.cells == [["<number>1"]])
    }
  }

  @Test("names its columns in the first row with cells, after those that are skipped; a name is missing where none is")
  func header() throws {
    let rows =
      WorkbookFile.row(2, ["A title"]) + WorkbookFile.row(4, ["a", "", " c "])
      + WorkbookFile.row(5, ["1", "2", "3"]) + WorkbookFile.row(6, ["1", "2", "3", "4"])
    var options = ReaderOptions()
    options.skipLines = 3
    let result = try WorkbookFile(rows).read(options)
    #expect(result.columns == ["a", "", "c"])
    #expect(result.cells[0] == ["1", "2", "3"])
    #expect(result.problems == [nil, .tooManyFields(expected: 3, found: 4)])
    (options.skipLines, options.header, options.columns) = (4, false, ["x", "y", "z"])
    let plain = try WorkbookFile(rows).read(options)
    #expect(plain.columns == ["x", "y", "z"] && plain.lines == [5, 6])
    #expect(try WorkbookFile(WorkbookFile.row(1, ["a", "a"])).read().error == .duplicateColumn(name: "a"))
    #expect(try WorkbookFile("").read().error == .emptyFile)
    #expect(try WorkbookFile(WorkbookFile.row(1, ["a"])).read() == ReadResult(columns: ["a"]))
  }

  @Test("is read on from the end of any batch to the same records")
  func resumption() throws {
    var rows = WorkbookFile.row(1, ["a", "b"])
    for row in 2..<40 where row % 5 != 0 {
      let text = "<c r=\"A\(row)\" t=\"s\"><v>\(row % 7)</v></c>"
      rows += "<row r=\"\(row)\">\(text)<c r=\"B\(row)\"><v>\(row)</v></c></row>\n"
      if row % 5 == 4 { rows += "<row r=\"\(row + 1)\"/>" }
    }
    let file = WorkbookFile(rows, strings: (0..<7).map { "<t>text \($0)</t>" })
    let whole = try file.read()
    #expect(whole.error == nil && whole.records.count == 31)
    let single = try file.read(limit: 1)
    #expect(single.records == whole.records && single.ends.count == 31)
    for (index, end) in single.ends.enumerated() {
      let rest = try file.read(from: end, limit: 4)
      #expect(rest.error == nil && rest.records == Array(whole.records[(index + 1)...]), "\(index)")
      #expect(rest.ends.last ?? end == single.ends.last)
    }
  }

  @Test("has rows that are too long, and texts that aren't UTF-8, as records with a problem")
  func problems() throws {
    var options = ReaderOptions()
    options.maximumRecordBytes = 10
    let rows =
      WorkbookFile.row(1, ["a", "b"]) + WorkbookFile.row(2, ["123456", "123456"]) + WorkbookFile.row(3, ["1"])
    let result = try WorkbookFile(rows).read(options)
    #expect(result.problems == [.recordTooLong(limit: 10), nil])
    let zero = WorkbookFile(WorkbookFile.row(1, ["a"]) + WorkbookFile.row(2, ["_x0000_"]))
    #expect(try zero.read().problems == [.nulByte])
  }
}
