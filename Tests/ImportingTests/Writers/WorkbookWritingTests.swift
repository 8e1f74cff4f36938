import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("Writing a workbook")
struct WorkbookWritingTests {
  private static let types: [AttributeType] = [.string, .integer64, .double, .decimal, .boolean, .date]

  private static func columns() throws -> [WrittenColumn] {
    let model = try ManagedObjectModel(
      entities: [EntityDefinition("E", attributes: types.enumerated().map { AttributeDefinition("a\($0)", $1) })])
    let entity = try #require(model.entitiesByName["E"])
    return try entity.attributes.sorted { $0.name < $1.name }.map { try WrittenColumn($0, name: $0.name) }
  }

  private static func write(
    _ rows: [ContiguousArray<Value>], to folder: ScratchDirectory, columns: [WrittenColumn]? = nil
  ) throws -> URL {
    let file = try AtomicFile(folder: folder.url.path, name: "file.xlsx", hiddenName: ".part")
    let writer = try WrittenFormat.xlsx.writer(
      into: file, .init(title: "Person", columns: try columns ?? Self.columns()))
    try writer.expect(Int64(rows.count))
    for row in rows { try writer.write(row, []) }
    try writer.finish()
    try file.commit()
    return folder.file("file.xlsx")
  }

  private static let odd = "a&b<c>\"d\" \u{1}\u{b}\r\n\t_x0041_ _x_ 🚢\u{FFFE}\u{FFFF}\u{FFFD} é "

  private static func rows() throws -> [ContiguousArray<Value>] {
    [
      [
        .string(odd), .int(999_999_999_999_999), .double(0.1), .decimal(try #require(Decimal(string: "1234.50"))),
        .bool(true), .date(ISODate.date(microseconds: 1_706_704_200_123_000)),
      ],
      [
        .string(""), .int(.max), .double(1e-300), .decimal(try #require(Decimal(string: "1234567890123456.78"))),
        .bool(false), .date(ISODate.date(microseconds: 1_706_704_200_000_001)),
      ],
      [.null, .int(-1), .double(.infinity), .null, .null, .date(ISODate.date(microseconds: -2_208_988_800_000_000))],
    ]
  }

  @Test("has cells by their types, and texts for what Excel would change")
  func cells() throws {
    let folder = try ScratchDirectory()
    let path = try Self.write(Self.rows(), to: folder)
    let result = try SourceFile(Array(Data(contentsOf: path)), name: "file.xlsx").read()
    #expect(result.error == nil)
    #expect(result.columns == ["a0", "a1", "a2", "a3", "a4", "a5"])
    #expect(
      result.cells == [
        [
          Self.odd, "<number>999999999999999", "<number>0.1", "<number>1234.5", "<yes>",
          "<date>2024-01-31T12:30:00.123",
        ],
        ["", "9223372036854775807", "<number>1e-300", "1234567890123456.78", "<no>", "2024-01-31T12:30:00.000001Z"],
        ["<empty>", "<number>-1", "inf", "<empty>", "<empty>", "1900-01-01T00:00:00Z"],
      ])
  }

  @Test("gives dates to the millisecond, wherever they are")
  func dates() throws {
    let folder = try ScratchDirectory()
    let instants = (0..<2_000).map { index -> Int64 in
      let index = Int64(index)
      return (-2_203_891_200_000 + index * 4_000_000_123) * 1_000
    }
    let column = try #require(Self.columns().last)
    let path = try Self.write(
      instants.map { [.date(ISODate.date(microseconds: $0))] }, to: folder, columns: [column])
    let result = try SourceFile(Array(Data(contentsOf: path)), name: "file.xlsx").read()
    #expect(result.records.count == instants.count)
    for (cells, instant) in zip(result.cells, instants) {
      let text = Array(cells[0].dropFirst("<date>".count).utf8)
      #expect(text.withUnsafeBufferPointer { ISODate.microseconds(parsing: $0) } == instant, "\(cells)")
    }
  }

  @Test("refuses what a sheet has no room for, by name")
  func limits() throws {
    let folder = try ScratchDirectory()
    let text = try #require(Self.columns().first)
    let longest = String(repeating: "🚢", count: 16_383) + "a"
    _ = try Self.write([[.string(longest)]], to: folder, columns: [text])
    #expect {
      _ = try Self.write([[.string(longest + "b")]], to: folder, columns: [text])
    } throws: { error in
      if case .noForm(column: "a0", format: "xlsx", _)? = error as? WriterError { true } else { false }
    }
    #expect(throws: WriterError.emptyRecord(format: "xlsx")) {
      _ = try Self.write([[.null]], to: folder, columns: [text])
    }
    let file = try AtomicFile(folder: folder.url.path, name: "file.xlsx", hiddenName: ".part")
    let writer = try WrittenFormat.xlsx.writer(into: file, .init(title: "E", columns: [text]))
    try writer.expect(1_048_575)
    #expect(throws: WriterError.tooMuch(format: "xlsx", what: "objects", limit: 1_048_575)) {
      try writer.expect(1_048_576)
    }
    let wide = WrittenFormat.Layout(title: "E", columns: (0..<16_385).map { WrittenColumn(name: "c\($0)") })
    #expect(throws: WriterError.tooMuch(format: "xlsx", what: "columns", limit: 16_384)) {
      _ = try WrittenFormat.xlsx.writer(into: file, wide)
    }
    for error: WriterError in [
      .tooMuch(format: "xlsx", what: "objects", limit: 1), .emptyRecord(format: "xlsx"),
      .noForm(column: "a", format: "xlsx", reason: "b"),
    ] {
      #expect("\(error)".contains("xlsx"))
    }
  }

  @Test("is the same file each time")
  func same() throws {
    let folder = try ScratchDirectory()
    let first = try Data(contentsOf: Self.write(Self.rows(), to: folder))
    #expect(try Data(contentsOf: Self.write(Self.rows(), to: folder)) == first)
  }

  @Test(
    "is what openpyxl reads", .enabled(if: PyArrow.has("openpyxl"), "openpyxl isn't installed: pip install openpyxl"))
  func oracle() throws {
    let folder = try ScratchDirectory()
    let many = (0..<5_000).map { index -> ContiguousArray<Value> in
      [.string("row \(index)"), .int(Int64(index)), .double(Double(index) / 4), .null, .null, .null]
    }
    let path = try Self.write(Self.rows() + many, to: folder).path
    let script = """
      import sys, datetime, openpyxl
      book = openpyxl.load_workbook(sys.argv[1])
      sheet = book["Person"]
      rows = list(sheet.iter_rows(values_only=True))
      assert rows[0] == ("a0", "a1", "a2", "a3", "a4", "a5"), rows[0]
      assert rows[1][1:5] == (999999999999999, 0.1, 1234.5, True), rows[1]
      assert rows[1][5] == datetime.datetime(2024, 1, 31, 12, 30, 0, 123000), rows[1]
      assert rows[2][1] == "9223372036854775807" and rows[2][4] is False, rows[2]
      assert rows[4] == ("row 0", 0, 0, None, None, None), rows[4]
      assert rows[-1][:3] == ("row 4999", 4999, 1249.75), rows[-1]
      print(len(rows), len(book.sheetnames))
      """
    let run = try ProgramOutput.now(PyArrow.python, ["python3", "-c", script, path])
    #expect(run.status == 0, "\(run.error)")
    #expect(run.text == "5004 1\n")
  }
}
