import Testing

@testable import Importing

@Suite("CSV: rows that break the rules")
struct CSVProblemTests {
  @Test("a short row is a record with what it has")
  func shortRow() throws {
    let result = try read("a,b,c\n1,2\n4,5,6\n")
    #expect(result.problems == [.tooFewFields(expected: 3, found: 2), nil])
    #expect(result.cells == [["1", "2"], ["4", "5", "6"]])
  }

  @Test("a long row is a record with all its fields")
  func longRow() throws {
    let result = try read("a,b\n1,2,3,4\n5,6\n")
    #expect(result.problems == [.tooManyFields(expected: 2, found: 4), nil])
    #expect(result.cells[0] == ["1", "2", "3", "4"])
  }

  @Test("of a row with far too many fields not all are kept, but all are counted")
  func endlessRow() throws {
    let result = try read("a,b\n" + String(repeating: "x,", count: 50_000) + "\n1,2\n")
    #expect(result.problems == [.tooManyFields(expected: 2, found: 50_001), nil])
    #expect(result.cells[0].count == 1_002)
    #expect(result.records[0].raw.count == 100_000)
  }

  @Test("text after a closing quote is a problem of that row alone")
  func textAfterQuote() throws {
    let result = try read("a,b\n\"x\"y,2\n3,\"4\" \n5,6\n")
    #expect(result.problems == [.textAfterQuote, .textAfterQuote, nil])
    #expect(result.cells == [["\"x\"y", "2"], ["3", "\"4\" "], ["5", "6"]])
    #expect(result.raw == ["\"x\"y,2", "3,\"4\" ", "5,6"])
  }

  @Test("a quote that is never closed costs its line, not the rest of the file")
  func unterminated() throws {
    let result = try read("a,b\n1,\"x\n2,y\n3,z\n")
    #expect(result.problems == [.unterminatedQuote, nil, nil])
    #expect(result.cells == [["1", "\"x"], ["2", "y"], ["3", "z"]])
    #expect(result.lines == [2, 3, 4])
    #expect(result.raw == ["1,\"x", "2,y", "3,z"])
  }

  @Test("a stray quote that another row's quote seems to close costs its own line only")
  func strayQuoteBeforeQuotedRow() throws {
    let result = try read("a,b\n1,\"x\n2,\"y\"\n3,z\n")
    #expect(result.problems == [.unterminatedQuote, nil, nil])
    #expect(result.cells[1] == ["2", "y"])
    #expect(result.raw == ["1,\"x", "2,\"y\"", "3,z"])
  }

  @Test("a quote left open in the last line is a problem", arguments: ["\n", "\r\n", ""])
  func unterminatedLast(last: String) throws {
    let result = try read("a,b\n1,2\n3,\"x\(last)")
    #expect(result.problems == [nil, .unterminatedQuote])
    #expect(result.raw == ["1,2", "3,\"x"])
  }

  @Test("bytes that aren't UTF-8 are a problem of their row")
  func invalidUTF8() throws {
    let bad: [[UInt8]] = [
      [0xE9], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0x80],
      [0xF0, 0x80, 0x80, 0x80],
    ]
    for bytes in bad {
      let text = Array("a,b\n1,caf".utf8) + bytes + Array("\n2,café\n3,x\n".utf8)
      let result = try SourceFile(text, name: "a.csv").read()
      #expect(result.problems == [.invalidUTF8, nil, nil])
      #expect(result.records[0].raw == Array("1,caf".utf8) + bytes)
    }
  }

  @Test("a zero byte far into the file is a problem of its row")
  func zeroByte() throws {
    let filler = String(repeating: "1,2\n", count: 3_000)
    let result = try read("a,b\n" + filler + "x,\0\n3,4\n")
    #expect(result.problems.suffix(3) == [nil, .nulByte, nil])
    #expect(result.records.count == 3_002)
  }

  @Test("a row longer than the limit keeps its beginning, and the next row is read")
  func tooLong() throws {
    let long = String(repeating: "x", count: 100_000)
    for blockSize in [1_000, 4_096, 256 << 10] {
      let result = try read(
        "a,b\n1,2\n3,\(long)\n5,6\n", ReaderOptions(maximumRecordBytes: 50_000), blockSize: blockSize)
      #expect(result.problems == [nil, .recordTooLong(limit: 50_000), nil])
      #expect(result.records[1].raw == Array("3,\(long)".utf8.prefix(64 << 10)))
      #expect(result.records[1].byteLength == 100_002)
      #expect(result.cells[1] == [])
      #expect(result.lines == [2, 3, 4])
      #expect(result.cells[2] == ["5", "6"])
    }
  }

  @Test("a record of just the limit is read, one byte more isn't")
  func limitExactly() throws {
    let options = ReaderOptions(maximumRecordBytes: 10)
    for end in ["\n", "", "\n1,2\n"] {
      #expect(
        try read("a,b\n1,45678901\(end)".replacing("1,45678901", with: "1,34567890"), options).problems.first
          == .some(nil))
      #expect(try read("a,b\n1,345678901\(end)", options).problems.first == .recordTooLong(limit: 10))
      #expect(try read("a,b\n1,\"456789\"\(end)", options).problems.first == .some(nil))
    }
  }

  @Test("an open quote is given up at the limit, and the lines after it are read")
  func openQuoteAtLimit() throws {
    let rows = (0..<200).map { "\($0),x" }
    let result = try read(
      "a,b\n0,\"x\n" + rows.joined(separator: "\n") + "\n", ReaderOptions(maximumRecordBytes: 100))
    #expect(result.problems.first == .unterminatedQuote)
    #expect(result.records.count == 201)
    #expect(result.problems.dropFirst().allSatisfy { $0 == nil })
  }

  @Test("the header must have names, each once")
  func header() throws {
    #expect(try read("a,b,a\n1,2,3\n").error == .duplicateColumn(name: "a"))
    #expect(try read("a,,c\n1,2,3\n").columns == ["a", "", "c"])
    #expect(
      try read("a,b\n1,2\n", ReaderOptions(columns: ["x", ""])).error == .emptyColumnName(index: 2))
    #expect(
      try read("a,\"b\n1,2\n").error
        == .malformed(
          line: 1, column: 1, what: "in the header, \(RecordProblem.unterminatedQuote)"))
    let latin = try SourceFile(Array("a,caf".utf8) + [0xE9] + Array("\n1,2\n".utf8), name: "a.csv").read()
    #expect(latin.error == .notUTF8(line: 1, looksLike: "an 8-bit encoding such as Latin-1"))
    #expect(try read("a,b\n1,2\n", ReaderOptions(columns: ["x"])).error == .columnCountDiffers(given: 1, header: 2))
    #expect(try read("1,2\n", ReaderOptions(header: false)).error == .noHeader)
    #expect(try read(String(repeating: "x,", count: 20_000) + "\n").error == .tooManyColumns(limit: 16_384))
  }
}
