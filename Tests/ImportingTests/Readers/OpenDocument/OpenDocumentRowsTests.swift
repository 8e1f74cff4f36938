import Foundation
import Testing

@testable import Importing

@Suite("A table of an OpenDocument spreadsheet", .timeLimit(.minutes(20)))
struct OpenDocumentRowsTests {
  private typealias File = OpenDocumentFile

  /// The values of the second row, under columns named A, B and so on.
  private func values(_ cells: String, width: Int = 1) throws -> [String] {
    let result = try File(File.row((0..<width).map { SheetPlace.column($0) }) + File.row(cells)).read()
    #expect(result.error == nil && result.problems.allSatisfy { $0 == nil })
    return result.cells.first ?? []
  }

  private func value(_ attributes: String, _ content: String = "") throws -> String? {
    // The second cell, so that there is a row in any case.
    let second = "<table:table-cell office:value-type=\"boolean\" office:boolean-value=\"true\"/>"
    return try values("<table:table-cell \(attributes)>\(content)</table:table-cell>" + second, width: 2).first
  }

  @Test("that odfpy wrote has its rows, with texts, spans, numbers, dates and gaps")
  func odfpy() throws {
    var options = ReaderOptions()
    options.member = "People"
    let result = try SourceFile(WorkbookFile.resource("odfpy.ods"), name: "odfpy.ods").read(options)
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

  @Test(
    "gives values by their types, whatever their cells show",
    arguments: [
      ("float", "value", "40", "<number>40"), ("float", "value", "0.1", "<number>0.1"),
      ("float", "value", "1.1000000000000001", "<number>1.1"), ("float", "value", "-1E-3", "<number>-1E-3"),
      ("float", "value", "+.5", "<number>0.5"), ("float", "value", "INF", "INF"), ("float", "value", "", "<empty>"),
      ("float", "value", "123456789012345678", "<number>123456789012345678"),
      ("percentage", "value", "0.125", "<number>0.125"), ("currency", "value", "12.5", "<number>12.5"),
      ("date", "date-value", "2024-01-31", "<date>2024-01-31"),
      ("date", "date-value", "2024-01-31T12:30:00", "<date>2024-01-31T12:30:00"),
      ("time", "time-value", "PT12H30M00S", "<date>12:30:00"), ("time", "time-value", "PT09H05M01S", "<date>09:05:01"),
      ("time", "time-value", "PT36H15M00S", "36:15:00"), ("time", "time-value", "P1DT2H", "26:00:00"),
      ("time", "time-value", "PT12H29M59.999999999S", "<date>12:30:00"),
      ("time", "time-value", "PT0.25S", "<date>00:00:00.250"), ("time", "time-value", "-PT1H", "-01:00:00"),
      ("time", "time-value", "P1M", "P1M"), ("time", "time-value", "PT", "PT"), ("time", "time-value", "P", "P"),
      ("time", "time-value", "PT99999999999H", "PT99999999999H"), ("time", "time-value", "PT1S2H", "PT1S2H"),
      ("boolean", "boolean-value", "true", "<yes>"), ("boolean", "boolean-value", "false", "<no>"),
      ("string", "string-value", "a &amp;&#10;b", "a &\nb"), ("string", "string-value", "", ""),
      ("unknown", "value", "7", "shown"), ("date", "value", "7", "shown"),
    ])
  func types(type: String, attribute: String, value: String, read: String) throws {
    let attributes = "office:value-type=\"\(type)\" office:\(attribute)=\"\(value)\""
    #expect(try self.value(attributes, "<text:p>shown</text:p>") == read)
    #expect(try self.value("calcext:value-type=\"\(type)\" " + attributes, "<text:p>shown</text:p>") == read)
  }

  @Test(
    "gives the text of paragraphs with their elements, and without annotations and drawings",
    arguments: [
      ("<text:p>a</text:p>", "a"), ("<text:p/>", ""), ("<text:p>a</text:p><text:p/><text:p>b</text:p>", "a\n\nb"),
      ("<text:p>a<text:s/>b<text:s text:c=\"3\"/>c</text:p>", "a b   c"), ("<text:p>a <text:s/>b</text:p>", "a  b"),
      ("<text:p>a<text:tab/>b<text:line-break/>c</text:p>", "a\tb\nc"),
      ("<text:p>a<text:span>b<text:span> c</text:span></text:span><text:a>d</text:a></text:p>", "ab cd"),
      ("<text:p>\n  a\n  b\n</text:p>", "a b"), ("<text:p><text:s/>a </text:p>", " a "),
      ("<text:p>&lt;a&gt; &amp; <![CDATA[<b>]]><!-- c --></text:p>", "<a> & <b>"),
      ("<office:annotation><text:p>x</text:p></office:annotation><text:p>a</text:p>", "a"),
      ("<text:p>a<office:annotation><text:p>x</text:p></office:annotation>b</text:p>", "ab"),
      ("<text:p>a</text:p><draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>", "a"),
      (
        "<text:p><text:ruby><text:ruby-base>課</text:ruby-base><text:ruby-text>カ</text:ruby-text></text:ruby></text:p>",
        "課"
      ),
    ])
  func paragraphs(xml: String, text: String) throws {
    #expect(try value("office:value-type=\"string\"", xml) == text)
    #expect(try value("", xml) == text)
  }

  @Test("gives computed values, errors, and formulas that no program has computed")
  func formulas() throws {
    let formula = "table:formula=\"of:=SUM([.A1:.A3])\""
    #expect(try value("\(formula) office:value-type=\"float\" office:value=\"6\"", "<text:p>6</text:p>") == "<number>6")
    #expect(try value("\(formula) office:value-type=\"string\"", "<text:p>x</text:p>") == "x")
    #expect(try value("\(formula) office:value-type=\"string\" office:string-value=\"\"") == "")
    #expect(try value(formula) == "<fault>=SUM([.A1:.A3])")
    #expect(try value("\(formula) office:value-type=\"float\"") == "<fault>=SUM([.A1:.A3])")
    let empty = "office:value-type=\"string\" office:string-value=\"\""
    #expect(
      try value("\(formula) \(empty) calcext:value-type=\"error\"", "<text:p>#WERT!</text:p>") == "<fault>#WERT!")
    #expect(try value("calcext:value-type=\"error\" \(empty)") == "<fault>#ERROR!")
    #expect(try value("\(formula) \(empty)", "<text:p>#DIV/0!</text:p>") == "<fault>#DIV/0!")
    #expect(
      try value("\(formula) office:value-type=\"float\" office:value=\"0\"", "<text:p>Err:502</text:p>")
        == "<fault>Err:502")
    #expect(try value("office:value-type=\"string\"", "<text:p>#N/A</text:p>") == "#N/A")
  }

  @Test("has merged cells as one, and what they cover as missing")
  func merged() throws {
    let cells = """
      <table:table-cell office:value-type="string" table:number-columns-spanned="3"><text:p>a</text:p></table:table-cell>\
      <table:covered-table-cell table:number-columns-repeated="2" office:value-type="float" office:value="7"/>\
      <table:table-cell office:value-type="float" office:value="1"/>
      """
    #expect(try values(cells, width: 4) == ["a", "<empty>", "<empty>", "<number>1"])
  }

  @Test("has repeated rows and cells as often as they say, and empty ones at no cost")
  func repetition() throws {
    let cells = """
      <table:table-cell table:number-columns-repeated="2"/>\
      <table:table-cell table:number-columns-repeated="3" office:value-type="float" office:value="7"/>\
      <table:table-cell table:number-columns-repeated="16379"/>
      """
    let rows =
      File.row([], repeated: 2) + File.row(["a", "b", "c", "d", "e"]) + File.row(cells, repeated: 3)
      + File.row([""], repeated: 1_000_000) + File.row(["x"]) + File.rest
    let result = try File(rows).read()
    #expect(result.error == nil && result.columns == ["a", "b", "c", "d", "e"])
    #expect(result.lines == [4, 5, 6, 1_000_007])
    #expect(result.cells[1] == ["<empty>", "<empty>", "<number>7", "<number>7", "<number>7"])
    #expect(result.cells[3] == ["x", "<empty>", "<empty>", "<empty>", "<empty>"])
    let header = try File(File.row(["a"], repeated: 3)).read()
    #expect(header.columns == ["a"] && header.cells == [["a"], ["a"]] && header.lines == [2, 3])
  }

  @Test("has the rows of groups and headers, hidden or not, in their order")
  func groups() throws {
    let inner = "<table:table-row-group table:display=\"false\">\(File.row(["2"]))</table:table-row-group>"
    let rows = """
      <table:table-source/><table:shapes><text:p>x</text:p></table:shapes>\
      <table:table-header-rows>\(File.row(["a"]))</table:table-header-rows>\
      <table:table-row-group>\(File.row(["1"]))\(inner)</table:table-row-group>\
      <table:table-rows><table:table-row table:visibility="collapse">\
      <table:table-cell office:value-type="string"><text:p>3</text:p></table:table-cell></table:table-row></table:table-rows>
      """
    let file = File(rows)
    let result = try file.read()
    #expect(result.error == nil && result.cells == [["1"], ["2"], ["3"]])
    for (index, end) in try file.read(limit: 1).ends.enumerated() {
      #expect(try file.read(from: end).records == Array(result.records[(index + 1)...]))
    }
  }

  @Test("names its columns in the first row with cells, after those that are skipped; a name is missing where none is")
  func header() throws {
    let rows =
      File.row([""]) + File.row(["A title"]) + File.row([], repeated: 1) + File.row(["a", "", " c "])
      + File.row(["1", "2", "3"]) + File.row(["1", "2", "3", "4"])
    var options = ReaderOptions()
    options.skipLines = 3
    let result = try File(rows).read(options)
    #expect(result.columns == ["a", "", "c"])
    #expect(result.cells[0] == ["1", "2", "3"])
    #expect(result.problems == [nil, .tooManyFields(expected: 3, found: 4)])
    (options.skipLines, options.header, options.columns) = (4, false, ["x", "y", "z"])
    let plain = try File(rows).read(options)
    #expect(plain.columns == ["x", "y", "z"] && plain.lines == [5, 6])
    (options.skipLines, options.columns) = (2, ["x"])
    #expect(try File(File.row(["1"], repeated: 5)).read(options).lines == [3, 4, 5])
    #expect(try File("").read().error == .emptyFile)
    #expect(try File(File.rest).read().error == .emptyFile)
    #expect(try File(File.row(["a"])).read() == ReadResult(columns: ["a"]))
  }

  @Test("is read on from the end of any batch to the same records, also amid repeated rows")
  func resumption() throws {
    var rows = File.row(["a", "b"], repeated: 2)
    for row in 1..<20 {
      rows += File.row(["text \(row % 7)", "\(row)"], repeated: row % 4 + 1) + "\n"
      if row % 5 == 4 { rows += File.row([""], repeated: row) }
    }
    let file = File(rows + File.rest)
    let whole = try file.read()
    #expect(whole.error == nil && whole.records.count > 40)
    let single = try file.read(limit: 1)
    #expect(single.records == whole.records && single.ends.count == whole.records.count)
    for (index, end) in single.ends.enumerated() {
      let rest = try file.read(from: end, limit: 4)
      #expect(rest.error == nil && rest.records == Array(whole.records[(index + 1)...]), "\(index)")
      #expect(rest.ends.last ?? end == single.ends.last)
    }
    let end = try #require(single.ends.dropFirst(5).first)
    for (bytes, line) in [(end.byteOffset + 1, end.line), (end.byteOffset, end.line + 9), (end.byteOffset, 2_000_000)] {
      let wrong = ReaderPosition(byteOffset: bytes, line: line, record: end.record, state: end.state)
      let error = try file.read(from: wrong).error
      guard case .positionInvalid = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test("is the same in blocks of any size", arguments: [7, 100, 1_000])
  func blocks(_ size: Int) throws {
    var options = ReaderOptions()
    options.member = "People"
    let file = try SourceFile(WorkbookFile.resource("odfpy.ods"), name: "odfpy.ods")
    let workbook = try OpenDocumentWorkbook(descriptor: file.descriptor, options: options, blockSize: size)
    let reader = try SheetReader(workbook, options: options, from: nil)
    let batch = RecordBatch()
    var records: [ReadRecord] = []
    while try reader.read(into: batch, limit: 2) {
      records += (0..<batch.count).map { SourceFile.record($0, of: batch) }
    }
    #expect(try records == file.read(options).records)
  }

  @Test("has rows that are too long as records with a problem, whatever makes them long")
  func problems() throws {
    var options = ReaderOptions()
    options.maximumRecordBytes = 10
    let repeated =
      "<table:table-cell table:number-columns-repeated=\"3\" office:value-type=\"string\"><text:p>12345</text:p>"
      + "</table:table-cell>"
    let spaces =
      "<table:table-cell office:value-type=\"string\"><text:p>a<text:s text:c=\"90\"/></text:p></table:table-cell>"
    let rows =
      File.row(["a", "b", "c"]) + File.row(["123456", "123456"]) + File.row(repeated) + File.row(spaces)
      + File.row(["1"])
    let result = try File(rows).read(options)
    let problem = RecordProblem.recordTooLong(limit: 10)
    #expect(result.problems == [problem, problem, problem, nil])
  }
}
