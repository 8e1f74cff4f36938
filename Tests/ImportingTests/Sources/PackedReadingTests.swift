import Testing

@testable import Importing

@Suite("Compressed, packed and encoded sources")
struct PackedReadingTests {
  static let csv =
    "id,name,note\n1,Ann,\"x, \"\"y\"\"\nz\"\n\n2,Zoë,\"\"\n3,\"\"\"\",\"läst\nline\"\n4,x\n5,é,"
  static let ndjson = "{\"a\":1,\"b\":\"\\u00e9x\"}\r\n\n {\"b\":[1,{\"c\":\"}\"}]} \n{\"a\":}\n{\"a\":\"é\"}"
  static let json = #"{"x":1,"rows":[{"id":1,"n":"a\"\\\u00e9é"}, {"n":-1.5e+10},{"id":null}],"z":[false]}"#

  @Test("read as the plain text does, whatever the size of the blocks", arguments: PackedCase.allCases)
  func blocks(packing: PackedCase) throws {
    for (text, name) in [(Self.csv, "a.csv"), (Self.ndjson, "a.csv.ndjson"), (Self.json, "a.json")] {
      var options = packing.options
      if options.member != nil { options.member = "folder/" + name }
      let plain = try SourceFile(Array(text.utf8), name: name).read()
      #expect(!plain.records.isEmpty && plain.error == nil)
      let file = try packing.file(text, as: name)
      #expect(try file.read(options) == plain, "\(name)")
      for blockSize in 1...17 {
        #expect(try file.read(options, blockSize: blockSize) == plain, "\(name), block size \(blockSize)")
      }
    }
  }

  @Test("can be resumed at any record", arguments: PackedCase.allCases)
  func resumption(packing: PackedCase) throws {
    for (text, name) in [(Self.csv, "a.csv"), (Self.ndjson, "a.ndjson"), (Self.json, "a.json")] {
      var options = packing.options
      if options.member != nil { options.member = "folder/" + name }
      let file = try packing.file(text, as: name)
      let whole = try file.read(options, limit: 1)
      for (index, end) in whole.ends.enumerated() {
        let rest = try file.read(options, from: end, limit: 2, blockSize: 7)
        #expect(rest.error == nil)
        #expect(rest.records.map(\.byteOffset) == whole.records[(index + 1)...].map(\.byteOffset))
        #expect(rest.records.map(\.line) == whole.records[(index + 1)...].map(\.line))
        #expect(rest.records.map(\.raw) == whole.records[(index + 1)...].map(\.raw))
      }
      let beyond = ReaderPosition(byteOffset: 10_000, line: 9, record: 8, state: name == "a.json" ? "after 0 1" : "")
      guard case .positionInvalid(beyond, _)? = try file.read(options, from: beyond).error else {
        Issue.record("went on beyond the end")
        continue
      }
    }
  }

  @Test("of many blocks come whole, and their progress grows to its total", arguments: PackedCase.allCases)
  func long(packing: PackedCase) throws {
    let text = "id,name\n" + (0..<30_000).map { "\($0),Zoë \($0 &* 2_654_435_761 % 99_991)\n" }.joined()
    let file = try packing.file(text)
    let reader = try openReader(
      fileDescriptor: file.descriptor, name: file.path, options: packing.options, from: nil)
    let batch = RecordBatch()
    var count = 0
    var before: Int64 = 0
    while try reader.read(into: batch, limit: 1_000) {
      #expect(batch.string(batch.cell(0, 0)) == "\(count)")
      #expect(batch.problem(0) == nil)
      count += batch.count
      #expect(reader.bytesRead >= before && reader.bytesRead <= reader.bytesTotal)
      before = reader.bytesRead
    }
    #expect(count == 30_000)
    #expect(before > 0)
  }

  @Test("a note lists the options without effect, if the format wasn't named")
  func uselessOptions() throws {
    func notes(_ text: String, _ name: String, _ change: (inout ReaderOptions) -> Void) throws -> [String] {
      let file = try SourceFile(Array(text.utf8), name: name)
      var options = ReaderOptions()
      change(&options)
      return try openSource(fileDescriptor: file.descriptor, name: name, options: options, from: nil).detection.notes
    }
    #expect(
      try notes("id\n1\n", "a.csv") { ($0.table, $0.root, $0.record) = ("t", "a", "r") } == [
        "the file is read as csv, of which the option(s) root, record, table say nothing"
      ])
    #expect(
      try notes("{}\n", "a.ndjson") {
        ($0.delimiter, $0.fixedWidth) = (";", FixedWidthLayout(columns: [.init("a", width: 1)]))
      }
        == ["the file is read as ndjson, of which the option(s) delimiter, fields say nothing"])
    #expect(try notes("id\n1\n", "a.csv") { ($0.delimiter, $0.quote) = (",", nil) } == [])
    #expect(try notes("[{\"a\":1}]", "a.json") { $0.format = .json } == [])
  }

  @Test("are reported in notes; a plain file isn't")
  func detection() throws {
    func detect(_ packing: PackedCase?, _ text: String, _ name: String = "a.csv") throws -> SourceDetection {
      let file = try packing?.file(text, as: name) ?? SourceFile(Array(text.utf8), name: name)
      return try openSource(
        fileDescriptor: file.descriptor, name: file.path, options: packing?.options ?? ReaderOptions(), from: nil
      ).detection
    }
    #expect(try detect(nil, "id,n\n1,2\n").notes.isEmpty)
    #expect(try detect(nil, "{}\n", "a.ndjson").notes.isEmpty)
    #expect(
      try detect(nil, "id;n\n1;2\n")
        == SourceDetection(
          format: .csv, delimiter: ";", looksLikeHeader: true, encoding: .utf8,
          notes: ["the fields are taken to be separated by “;”"]))
    #expect(try detect(nil, "1,2020-01-01\n2,2020-01-02\n").looksLikeHeader == false)
    let gzip = try detect(.gzip, "id\n1\n")
    #expect(gzip.compression == .gzip && gzip.format == .csv)
    #expect(gzip.notes == ["read the gzip-compressed file as csv"])
    let tar = try detect(.tarGzip, "{\"a\":1}\n", "a.ndjson")
    #expect(tar.archive == .tar && tar.compression == .gzip && tar.member == "a.ndjson" && tar.format == .ndjson)
    #expect(tar.notes == ["read “a.ndjson”, 8 bytes of the gzip-compressed tar archive as ndjson"])
    #expect(try detect(.utf16, "id,n\n1,2\n").encoding == .utf16LE)
    #expect(try detect(.utf16Marked, "id,n\n1,2\n").notes == ["the encoding is utf-16le, by its byte order mark"])
    #expect(try SourceFile(Array("id\n1\n".utf8), name: "a.csv.gz").read().cells == [["1"]])
  }
}
