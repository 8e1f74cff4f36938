import Foundation
import Testing

@testable import Importing

@Suite("Zero bytes")
struct ZeroByteTests {
  @Test(
    "in a field reject the record, with its line and column",
    arguments: [LineFormat.csv, .tsv, .fixed, .xml, .plist], [0, 1])
  func field(format: LineFormat, encoding: Int) throws {
    let room = try ImportRoom(.memory)
    var text = format.head + format.rows + format.row("b", "\0") + format.row("z") + format.tail
    if encoding == 1 { text = "\u{FEFF}" + text }
    let bytes = encoding == 0 ? Array(text.utf8) : text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    try Data(bytes).write(to: room.file(format.name))
    room.isSourceKept = true
    let end = try room.run("", as: format.name, reader: format.reader)
    #expect(end.tally == "1501i 0u 0= 1r 0?")
    let rejects = try #require(room.rejects())
    #expect(
      rejects.contains("nul_byte") && rejects.contains("name")
        && rejects.contains("\(format.firstLine + LineFormat.count)"))
    if format == .csv { #expect(room.refusals() == ["1502,name,nul_byte"]) }
    #expect(try room.rows("code").last == "z")
  }

  @Test("in JSON are malformed, with line and column")
  func json() throws {
    let lines = try ImportRoom(.memory)
    let text = LineFormat.ndjson.rows + LineFormat.ndjson.row("b", "x\0") + LineFormat.ndjson.row("z")
    #expect(try lines.run(text, as: "a.ndjson").tally == "1501i 0u 0= 1r 0?")
    let rejects = try #require(lines.rejects())
    #expect(rejects.contains("\"line\":1501") && rejects.contains("malformed_json") && rejects.contains("column 22"))
    let document = try ImportRoom(.memory)
    let all = LineFormat.json.head + LineFormat.json.rows + LineFormat.json.row("b", "x\0")
    guard case ReaderError.malformed(line: 1502, column: 22, _)? = try document.failure(all, as: "a.json") else {
      Issue.record("not refused")
      return
    }
    #expect(try document.rows("code").count == 1_500)
  }

  @Test("at the beginning mean a binary file, which is refused with their place", arguments: LineFormat.allCases)
  func beginning(format: LineFormat) throws {
    let room = try ImportRoom(.memory)
    try Data((format.head + format.row("b", "\0") + format.tail).utf8).write(to: room.file(format.name))
    room.isSourceKept = true
    let error = #expect(throws: ReaderError.self) { try room.run("", as: format.name, reader: format.reader) }
    guard case .binaryFile(let offset, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(offset > 0 && error?.description.contains("byte \(offset)") == true)
  }
}
