import Foundation
import Testing

@testable import Importing

@Suite("An OpenDocument spreadsheet", .timeLimit(.minutes(20)))
struct OpenDocumentTests {
  private typealias File = OpenDocumentFile
  private static let rows = File.row(["a"]) + File.row(["1"])

  private func file(_ tables: [(String, String?)]) -> OpenDocumentFile {
    var file = File()
    file.tables = tables.map { ($0.0, Self.rows, $0.1) }
    return file
  }

  private func error(_ file: OpenDocumentFile, member: String? = nil) throws -> ReaderError? {
    var options = ReaderOptions()
    options.member = member
    return try file.read(options).error
  }

  @Test("is read by its only table that isn't hidden, or by the one that is named", arguments: [false, true])
  func tables(isFlat: Bool) throws {
    func file(_ tables: [(String, String?)]) -> OpenDocumentFile {
      var file = self.file(tables)
      file.isFlat = isFlat
      return file
    }
    #expect(try error(file([("One", nil), ("Two", File.hidden)])) == nil)
    #expect(try error(file([("One", File.hidden)])) == nil)
    #expect(try error(file([("One", nil), ("'file:///b.ods'#$Sheet1", "ta_extref")])) == nil)
    let several = file([("One", nil), ("Two", nil), ("Old", File.hidden)])
    #expect(try error(several) == .workbook(.severalSheets(found: ["One", "Two"])))
    for member in ["One", "two", "Two", "Old", "O?e", "T*"] {
      #expect(try error(several, member: member) == nil, "\(member)")
    }
    #expect(try error(several, member: "O*") == .workbook(.severalSheets(found: ["One", "Old"])))
    #expect(
      try error(several, member: "Six") == .workbook(.sheetNotFound(sheet: "Six", found: ["One", "Two", "Old"])))
    #expect(try error(file([])) == .workbook(.noSheet))
  }

  @Test("is recognised by its content, whatever it is called")
  func recognition() throws {
    for name in ["a.ods", "A.ODS", "a", "a.csv", "a.zip", "a.xlsx"] {
      let result = try File(Self.rows).read(as: name)
      #expect(result.error == nil && result.cells == [["1"]], "\(name)")
    }
    var flat = File(Self.rows)
    flat.isFlat = true
    for name in ["a.fods", "a.xml", "a"] { #expect(try flat.read(as: name).cells == [["1"]], "\(name)") }
    var untyped = File(Self.rows)
    untyped.parts["mimetype"] = .some(nil)
    var options = ReaderOptions()
    options.format = .ods
    #expect(try untyped.read(options).cells == [["1"]])
  }

  @Test("of another kind, or with a password, is refused by its name")
  func others() throws {
    var options = ReaderOptions()
    options.format = .ods
    for (bytes, name) in [
      (Array("a,b\n1,2\n".utf8), "a.ods"), (Array("<?xml version=\"1.0\"?><a/>".utf8), "a.fods"),
    ] { #expect(try SourceFile(bytes, name: name).read().error == .workbook(.notOpenDocument), "\(name)") }
    #expect(
      try SourceFile(WorkbookFile(WorkbookFile.row(1, ["a"])).bytes(), name: "a").read(options).error
        == .workbook(.notOpenDocument))
    options.format = .xlsx
    #expect(try File(Self.rows).read(options).error == .workbook(.openDocument))
    var encrypted = File(Self.rows)
    encrypted.parts = [
      "META-INF/manifest.xml": """
      <manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>\
      </manifest:file-entry></manifest:manifest>
      """, "content.xml": "\u{1}\u{2}\u{3}",
    ]
    #expect(try error(encrypted) == .workbook(.encrypted))
    var whole = File(Self.rows)
    whole.parts = ["encrypted-package": "x", "content.xml": nil]
    #expect(try error(whole) == .workbook(.encrypted))
    var old = File(Self.rows)
    old.parts["META-INF/manifest.xml"] = "<!DOCTYPE manifest SYSTEM \"Manifest.dtd\"><manifest/>"
    #expect(try error(old) == nil)
    var missing = File(Self.rows)
    missing.parts["content.xml"] = .some(nil)
    #expect(try error(missing) == .workbook(.missingPart(name: "content.xml")))
    var text = File()
    text.parts["content.xml"] = "<document-content><body><text/></body></document-content>"
    #expect(try error(text) == .workbook(.notOpenDocument))
    let packed = try Packing.compressed(File(Self.rows).bytes(), .gzip)
    let refused = try SourceFile(packed, name: "a.ods.gz").read()
    #expect(refused.error?.description.hasSuffix("unpack the outer one first") == true, "\(refused)")
  }

  /// Where each is put, and what.
  private static let hostile: [(place: String, xml: String)] = [
    ("content", "<a/>"), ("content", ""),
    ("content", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><document-content/>"),
    ("content", "<document-content/>"), ("content", String(repeating: "<a>", count: 100_000)),
    ("content", "<document-content><body><spreadsheet><table/></spreadsheet></body></document-content>"),
    ("rows", "<table:table-row><table:table-cell></table:table-row>"), ("rows", "<table:table-row>"),
    ("rows", "<table:table-row><table:table-cell><text:p>&a;</text:p></table:table-cell></table:table-row>"),
    ("rows", OpenDocumentFile.row(["1"], repeated: 1_048_576)),
    ("rows", OpenDocumentFile.row([""], repeated: 1_048_575) + OpenDocumentFile.row(["1"])),
    ("rows", OpenDocumentFile.row([""], repeated: .max) + OpenDocumentFile.row(["1"])),
    ("rows", OpenDocumentFile.row([""], repeated: 999_999_999_999_999_999) + OpenDocumentFile.row(["1"])),
    ("rows", OpenDocumentFile.row(["1"], repeated: 999_999_999_999_999_999)),
    ("rows", OpenDocumentFile.row(["1"], repeated: 0)), ("rows", OpenDocumentFile.row(["1"], repeated: -1)),
    ("cells", "<table:table-cell table:number-columns-repeated=\"16385\"><text:p>1</text:p></table:table-cell>"),
    ("cells", "<table:table-cell table:number-columns-repeated=\"9223372036854775807\"/>"),
    (
      "cells",
      "<table:table-cell table:number-columns-repeated=\"999999999999999999\"/><table:table-cell><text:p>1</text:p>"
        + "</table:table-cell>"
    ),
    ("cells", "<table:table-cell><text:p><text:s text:c=\"999999999999999999\"/></text:p></table:table-cell>"),
    ("cells", "<table:table-cell><text:p><text:s text:c=\"99999999\"/></text:p></table:table-cell>"),
    ("cells", "<table:table-cell>" + String(repeating: "<text:p>", count: 300)),
  ]

  @Test("that is damaged or hostile ends with an error that names the part", arguments: hostile)
  func damaged(place: String, xml: String) throws {
    var file = File(File.row(["a"]) + (place == "cells" ? File.row(xml) : xml))
    if place == "content" { file.parts["content.xml"] = xml }
    let error = try #require(try error(file))
    guard case .workbook(.malformed("content.xml", _, _)) = error else {
      Issue.record("\(error)")
      return
    }
    #expect("\(error)".contains("content.xml"))
  }

  @Test("whose empty rows and cells go beyond the limits of a sheet is read")
  func emptiness() throws {
    let empty = "<table:table-cell table:number-columns-repeated=\"999999999999999999\"/>"
    let rows =
      File.row(["a"]) + File.row(["1"]) + File.row(empty + empty, repeated: 999_999_999_999_999_999)
      + File.row(empty, repeated: 999_999_999_999_999_999)
    let result = try File(rows).read()
    #expect(result.error == nil && result.cells == [["1"]])
  }

  @Test("of cells at the limits of a sheet costs no more memory than its records")
  func limits() throws {
    let last =
      "<table:table-cell table:number-columns-repeated=\"16383\"/><table:table-cell office:value-type=\"float\" "
      + "office:value=\"1\"/>"
    let rows = File.row(["a"]) + File.row([""], repeated: 1_048_574) + File.row(last)
    let result = try File(rows).read()
    #expect(result.lines == [1_048_576] && result.problems == [.tooManyFields(expected: 1, found: 16_384)])
  }

  @Test("whose few bytes unpack to many, or repeat a long text, is refused at the limit")
  func bombs() throws {
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 1 << 20
    let limit = ReaderError.source(.unpacksTooFar(limit: 1 << 20))
    let head = File.row(["a"])
    #expect(try File(head + String(repeating: " ", count: 2 << 20)).read(options).error == limit)
    let text = String(repeating: "x", count: 30_000)
    #expect(try File(head + File.row([text], repeated: 58)).read(options).error == limit)
    #expect(try File(head + File.row([text], repeated: 58)).read().records.count == 58)
    // What isn't kept of a row that is too long counts, too.
    let wide =
      "<table:table-cell table:number-columns-repeated=\"16384\"><text:p><text:s text:c=\"1000\"/></text:p></table:table-cell>"
    options.maximumRecordBytes = 1 << 19
    #expect(try File(head + String(repeating: File.row(wide), count: 9)).read(options).error == limit)
    let formula =
      "<table:table-cell table:formula=\"of:=A1\" office:value-type=\"float\" office:value=\"1\"><text:p>"
      + "<text:s text:c=\"200000\"/></text:p></table:table-cell>"
    let computed = try File(head + File.row(formula)).read()
    #expect(computed.error == nil && computed.cells == [["<number>1"]])
  }

  @Test("that is cut off anywhere, or has a byte changed, ends in an error of ours or in records")
  func mutations() throws {
    let bytes = try File(File.row(["a"]) + File.row(["x"], repeated: 3)).bytes()
    for length in stride(from: 0, to: bytes.count, by: 37) {
      let result = try SourceFile(Array(bytes[..<length]), name: "a.ods").read()
      #expect(result.error != nil)
    }
    var dice = Dice(seed: 7)
    for _ in 0..<200 {
      var changed = bytes
      changed[dice.roll(bytes.count)] ^= UInt8(1 << dice.roll(8))
      _ = try SourceFile(changed, name: "a.ods").read()
    }
  }
}
