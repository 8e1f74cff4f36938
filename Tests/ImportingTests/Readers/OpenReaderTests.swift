import Foundation
import Testing

@testable import Importing

@Suite("Opening a source")
struct OpenReaderTests {
  @Test(
    "the format follows from the name, or else from the first bytes",
    arguments: [
      ("a.csv", "a,b\n1,2\n", "CSVReader"), ("a.TXT", "a,b\n1,2\n", "CSVReader"), ("a.tab", "a\tb\n", "CSVReader"),
      ("a.json", "[]", "JSONReader"), ("a.jsonl", "{}\n", "NDJSONReader"), ("a.NDJSON", "{}\n", "NDJSONReader"),
      ("export", "a,b\n1,2\n", "CSVReader"), ("export", " [\n{}]", "JSONReader"),
      ("export.dat", "{\"a\":[{}]}", "JSONReader"), ("export.dat", "{\"a\":1}\n{\"a\":2}\n", "NDJSONReader"),
      ("a.json", "{\"a\":1}\n{\"a\":2}\n", "NDJSONReader"), ("a.json", "{\n\"a\":[{}]}\n", "JSONReader"),
      ("a.json", "{\n\"a\":1\n}\n{\n\"a\":2\n}\n", "JSONReader"), ("export", "{\"a\":1}{\"a\":2}", "JSONReader"),
      ("a.XML", "<a/>", "XMLReader"), ("export", "<?xml version=\"1.0\"?><a/>", "XMLReader"),
      ("a.csv", "<b>,c\n", "CSVReader"), ("a.plist", "<plist><array/></plist>", "PropertyListReader"),
      ("a.xml", "<plist><array/></plist>", "PropertyListReader"),
    ])
  func format(name: String, text: String, reader: String) throws {
    let file = try SourceFile(Array(text.utf8), name: name)
    let opened = try openReader(fileDescriptor: file.descriptor, name: file.path, options: .init(), from: nil)
    #expect(String(describing: type(of: opened)) == reader)
  }

  @Test("a format in the options overrides the name")
  func givenFormat() throws {
    #expect(try read("{\"a\":1}\n", as: "a.csv", ReaderOptions(format: .ndjson)).named == [["a": "1"]])
  }

  @Test("a file without bytes, or of white space only, is empty", arguments: ["", "\u{FEFF}", "\n\n", " \t\r\n"])
  func empty(text: String) throws {
    for name in ["a.csv", "a.json", "a.ndjson"] {
      #expect(try read(text, as: name).error == .emptyFile)
    }
  }

  @Test("a binary file is refused, and named where it can be")
  func binary() throws {
    func error(_ bytes: [UInt8]) throws -> ReaderError? { try SourceFile(bytes, name: "a.csv").read().error }
    #expect(try error(Array("Rar!".utf8) + [0x1A, 0x07, 1]) == .binaryFile(offset: 0, looksLike: "a RAR archive"))
    #expect(try error([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]) == .binaryFile(offset: 0, looksLike: "a PNG image"))
    #expect(
      try error(Array("SQLite format 3\0".utf8))
        == .database(.failed(reason: "file is not a database", record: 0)))
    #expect(try error(Array("a,b\n1,\u{0}\n".utf8)) == .binaryFile(offset: 6, looksLike: "binary data"))
    #expect(try error(Array("a,b\nBZh,1\n".utf8)) == nil)
    #expect(try error(Array("BZh,b\n1,2\n".utf8)) == nil)
  }

  @Test("options that make no sense are refused")
  func options() throws {
    func error(_ options: ReaderOptions) throws -> String? {
      if case .invalidOption(let name, _) = try read("a,b\n", options).error { name } else { nil }
    }
    #expect(try error(ReaderOptions(delimiter: "::")) == "delimiter")
    #expect(try error(ReaderOptions(delimiter: "\n")) == "delimiter")
    #expect(try error(ReaderOptions(delimiter: "\"")) == "delimiter")
    #expect(try error(ReaderOptions(quote: "“")) == "quote")
    #expect(try error(ReaderOptions(root: "a..b")) == "root")
    #expect(try error(ReaderOptions(maximumRecordBytes: 0)) == "maximum_record_bytes")
    func changed(_ change: (inout ReaderOptions) -> Void) throws -> String? {
      var options = ReaderOptions()
      change(&options)
      return try error(options)
    }
    #expect(try changed { $0.escape = "ab" } == "escape")
    #expect(try changed { ($0.escape, $0.delimiter) = ("\\", "\\") } == "escape")
    #expect(try changed { ($0.escape, $0.tsvEscapes) = ("^", true) } == "escape")
    #expect(try changed { $0.escape = "\"" } == nil)
    #expect(try changed { $0.comment = "" } == "comment")
    #expect(try changed { $0.comment = "\"x" } == "comment")
    #expect(try changed { $0.skipLines = -1 } == "skip_lines")
    #expect(try changed { $0.format = .fixedWidth } == "fields")
    for record in ["", "a//b", "a b", "a/"] { #expect(try changed { $0.record = record } == "record") }
    #expect(try error(ReaderOptions(member: "")) == "member")
    #expect(try error(ReaderOptions(fallbackEncoding: .utf16LE)) == "fallback_encoding")
    #expect(try error(ReaderOptions(maximumExpansion: 0)) == "maximum_expansion")
    #expect(try error(ReaderOptions(maximumUnpackedBytes: 0)) == "maximum_unpacked_bytes")
    #expect(try read("1,2\n", ReaderOptions(header: false, columns: ["a", "a"])).error == .duplicateColumn(name: "a"))
  }

  @Test("any part of stored options may be missing, and options survive coding")
  func optionsCoding() throws {
    let sparse = try JSONDecoder().decode(ReaderOptions.self, from: Data(#"{"delimiter":";"}"#.utf8))
    #expect(sparse == ReaderOptions(delimiter: ";"))
    for options in [
      ReaderOptions(), ReaderOptions(quote: nil),
      ReaderOptions(format: .json, header: false, columns: ["a"], root: "a.b", maximumRecordBytes: 7),
    ] {
      let data = try JSONEncoder().encode(options)
      #expect(try JSONDecoder().decode(ReaderOptions.self, from: data) == options)
    }
    var full = ReaderOptions(format: .fixedWidth)
    (full.escape, full.tsvEscapes, full.comment, full.skipLines) = ("\\", true, "#", 3)
    full.record = "feed/entry"
    full.fixedWidth = FixedWidthLayout(columns: [.init("a", width: 2), .init("b", start: 4, end: 5)], unit: .bytes)
    #expect(try JSONDecoder().decode(ReaderOptions.self, from: JSONEncoder().encode(full)) == full)
    let position = ReaderPosition(byteOffset: 7, line: 2, record: 1, state: "after 0 3")
    #expect(try JSONDecoder().decode(ReaderPosition.self, from: JSONEncoder().encode(position)) == position)
  }

  @Test("a descriptor that can't be read is a system error")
  func unreadable() throws {
    #expect(throws: ReaderError.readFailed(errno: EBADF)) {
      try openReader(fileDescriptor: -1, name: "a.csv", options: .init(), from: nil)
    }
    let directory = open("/", O_RDONLY)
    defer { close(directory) }
    #expect(throws: ReaderError.readFailed(errno: EISDIR)) {
      try openReader(fileDescriptor: directory, name: "a.csv", options: .init(), from: nil)
    }
  }
}
