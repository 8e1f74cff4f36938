import Foundation
import Testing

@testable import Importing

@Suite("A workbook")
struct WorkbookTests {
  private static let rows = WorkbookFile.row(1, ["a"]) + WorkbookFile.row(2, ["1"])

  private func file(_ names: [(String, String?)]) -> WorkbookFile {
    var file = WorkbookFile()
    file.sheets = names.map { ($0.0, Self.rows, $0.1) }
    return file
  }

  private func error(_ file: WorkbookFile, member: String? = nil) throws -> ReaderError? {
    var options = ReaderOptions()
    options.member = member
    return try file.read(options).error
  }

  @Test("is read by its only sheet that isn't hidden, or by the one that is named")
  func sheets() throws {
    #expect(try error(file([("One", nil), ("Two", "hidden")])) == nil)
    #expect(try error(file([("One", "veryHidden")])) == nil)
    let several = file([("One", nil), ("Two", nil), ("Old", "hidden")])
    #expect(try error(several) == .workbook(.severalSheets(found: ["One", "Two"])))
    for member in ["One", "two", "Old", "O?e", "T*"] { #expect(try error(several, member: member) == nil, "\(member)") }
    #expect(try error(several, member: "O*") == .workbook(.severalSheets(found: ["One", "Old"])))
    #expect(
      try error(several, member: "Six") == .workbook(.sheetNotFound(sheet: "Six", found: ["One", "Two", "Old"])))
  }

  @Test("is recognised by its content, whatever it is called")
  func recognition() throws {
    for name in ["a.xlsx", "A.XLSX", "a", "a.csv", "a.zip"] {
      let result = try WorkbookFile(Self.rows).read(as: name)
      #expect(result.error == nil && result.cells == [["1"]], "\(name)")
    }
  }

  @Test("of another kind is refused by its name")
  func others() throws {
    func refusal(_ bytes: [UInt8], _ name: String, _ options: ReaderOptions = ReaderOptions()) throws -> ReaderError? {
      try SourceFile(bytes, name: name).read(options).error
    }
    var binary = WorkbookFile(Self.rows)
    binary.parts = ["xl/workbook.xml": nil, "xl/workbook.bin": "x"]
    #expect(try refusal(binary.bytes(), "a.xlsb") == .workbook(.binaryFormat))
    #expect(try refusal(binary.bytes(), "a.xlsx") == .workbook(.binaryFormat))
    #expect(try refusal(Self.compound("EncryptedPackage"), "a.xlsx") == .workbook(.encrypted))
    #expect(try refusal(Self.compound("Workbook"), "a.xls") == .workbook(.oldFormat))
    #expect(try refusal(Self.compound("Book"), "a.xls") == .workbook(.oldFormat))
    var options = ReaderOptions()
    options.format = .xlsx
    #expect(try refusal(Array("a,b\n1,2\n".utf8), "a.xlsx", options) == .workbook(.notAWorkbook))
    #expect(try refusal(Array("a,b\n1,2\n".utf8), "a.xlsx") == .workbook(.notAWorkbook))
    #expect(try refusal(Packing.zip([("a.csv", Array("a\n1\n".utf8))]), "a.xlsx", options) == .workbook(.notAWorkbook))
    let document = try Packing.zip([("[Content_Types].xml", Array("<Types/>".utf8)), ("word/document.xml", [])])
    #expect(try refusal(document, "a.docx") == .binaryFile(offset: 0, looksLike: "an Office document"))
    for error in [WorkbookError.oldFormat, .binaryFormat, .encrypted] {
      #expect("\(error)".contains("save it"))
    }
  }

  /// A compound file whose directory has an entry of this name.
  private static func compound(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1] + [UInt8](repeating: 0, count: 1_016)
    (bytes[30], bytes[48]) = (9, 0)
    bytes.replaceSubrange(512 + 128..<512 + 128 + name.utf16.count * 2, with: name.utf16.flatMap { [UInt8($0), 0] })
    return bytes
  }

  @Test(
    "that is damaged or hostile ends with an error that names the part",
    arguments: [
      ("xl/worksheets/sheet0.xml", "<worksheet><sheetData><row r=\"1\">"),
      ("sheet", "<row r=\"1\">"),
      ("xl/worksheets/sheet0.xml", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><worksheet><sheetData/></worksheet>"),
      ("sheet", "<row r=\"1\"><c r=\"A1\"><v>&a;</v></c></row>"),
      ("xl/worksheets/sheet0.xml", "<other/>"),
      ("xl/worksheets/sheet0.xml", ""),
      ("sheet", "<row r=\"1\"><c r=\"XFE1\"><v>1</v></c></row>"),
      ("sheet", "<row r=\"1048577\"/>"),
      ("sheet", "<row r=\"3\"/><row r=\"2\"/>"),
      ("sheet", "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>7</v></c></row>"),
      ("sheet", "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>x</v></c></row>"),
      ("sheet", "<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"A1\"><v>1</v></c></row>"),
      ("xl/worksheets/sheet0.xml", String(repeating: "<a>", count: 100_000)),
      ("xl/workbook.xml", "<workbook><sheets><sheet/></sheets></workbook>"),
    ])
  func damaged(name: String, xml: String) throws {
    let isRows = name == "sheet"
    let part = isRows ? "xl/worksheets/sheet0.xml" : name
    var file = WorkbookFile(isRows ? xml : Self.rows)
    if !isRows { file.parts[part] = xml }
    let error = try #require(try error(file))
    guard case .workbook(.malformed(part, _, _)) = error else {
      Issue.record("\(error)")
      return
    }
    #expect("\(error)".contains(part))
  }

  @Test("that refers to a part it doesn't have, or to one outside of it, names that")
  func missing() throws {
    var file = WorkbookFile(Self.rows)
    file.parts["xl/worksheets/sheet0.xml"] = .some(nil)
    #expect(try error(file) == .workbook(.missingPart(name: "xl/worksheets/sheet0.xml")))
    var outside = WorkbookFile(Self.rows)
    outside.parts["xl/_rels/workbook.xml.rels"] =
      "<Relationships><Relationship Id=\"s0\" Type=\"x/worksheet\" Target=\"../../../etc/passwd\"/></Relationships>"
    #expect(try error(outside) == .workbook(.missingPart(name: "etc/passwd")))
    var external = outside
    external.parts["xl/_rels/workbook.xml.rels"] =
      "<Relationships><Relationship Id=\"s0\" Type=\"x/worksheet\" TargetMode=\"External\" Target=\"http://a.example/\"/>"
      + "</Relationships>"
    #expect(try error(external) == .workbook(.missingPart(name: "Data")))
  }

  @Test("of cells at the limits of a sheet costs no more memory than its records")
  func limits() throws {
    let last = "<c r=\"XFD1048576\"><v>1</v></c>"
    let rows = WorkbookFile.row(1, ["a"]) + "<row r=\"1048576\">\(last)</row>"
    let result = try WorkbookFile(rows).read()
    #expect(result.lines == [1_048_576] && result.problems == [.tooManyFields(expected: 1, found: 16_384)])
  }

  @Test("whose few bytes unpack to many, or repeat a long text, is refused at the limit")
  func bombs() throws {
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 1 << 20
    let row = WorkbookFile.row(1, ["a"])
    let spaces = WorkbookFile(row + String(repeating: " ", count: 2 << 20))
    #expect(try spaces.read(options).error == .source(.unpacksTooFar(limit: 1 << 20)))
    let text = String(repeating: "x", count: 30_000)
    let cells = (2..<60).map { "<row r=\"\($0)\"><c r=\"A\($0)\" t=\"s\"><v>0</v></c></row>" }.joined()
    let repeated = WorkbookFile(row + cells, strings: ["<t>\(text)</t>"])
    #expect(try repeated.read(options).error == .source(.unpacksTooFar(limit: 1 << 20)))
    #expect(try repeated.read().records.count == 58)
  }

  @Test("that is cut off anywhere, or has a byte changed, ends in an error of ours or in records")
  func mutations() throws {
    let bytes = try WorkbookFile(
      WorkbookFile.row(1, ["a"]) + "<row r=\"2\"><c t=\"s\" s=\"0\"><v>0</v></c></row>", strings: ["<t>x</t>"],
      formats: ["14"]
    ).bytes()
    for length in stride(from: 0, to: bytes.count, by: 37) {
      let result = try SourceFile(Array(bytes[..<length]), name: "a.xlsx").read()
      #expect(result.error != nil)
    }
    var dice = Dice(seed: 7)
    for _ in 0..<200 {
      var changed = bytes
      changed[dice.roll(bytes.count)] ^= UInt8(1 << dice.roll(8))
      _ = try SourceFile(changed, name: "a.xlsx").read()
    }
  }
}

@Suite("Bytes that are spilled to a file")
struct SpilledBytesTests {
  @Test("are what was appended, in whatever order they are read, with a few blocks in memory")
  func reading() throws {
    let spilled = SpilledBytes(slots: 2)
    var all: [UInt8] = []
    var dice = Dice(seed: 3)
    for _ in 0..<60 {
      let piece = (0..<dice.roll(20_000)).map { _ in UInt8(dice.roll(256)) }
      try piece.withUnsafeBytes { try spilled.append($0) }
      all += piece
      guard !all.isEmpty else { continue }
      let start = dice.roll(all.count)
      let count = min(all.count - start, dice.roll(100_000))
      var read: [UInt8] = []
      try spilled.copy(from: Int64(start), count: count, to: &read)
      #expect(read == Array(all[start..<start + count]))
    }
    #expect(spilled.isSpilled && spilled.count == Int64(all.count))
  }

  @Test("stay in memory while they are few")
  func few() throws {
    let spilled = SpilledBytes(slots: 2)
    for number in 0..<1_000 { try spilled.append(number: Int64(number)) }
    #expect(!spilled.isSpilled)
    #expect(try (0..<1_000).allSatisfy { try spilled.number(at: Int64($0) * 8) == Int64($0) })
  }
}
