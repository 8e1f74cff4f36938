import Testing

@testable import Importing

@Suite("CSV: valid files by RFC 4180")
struct CSVReaderTests {
  @Test("a plain table has one record per line")
  func plain() throws {
    let result = try read("id,name\n1,Ann\n2,Bob\n")
    #expect(result.columns == ["id", "name"])
    #expect(result.cells == [["1", "Ann"], ["2", "Bob"]])
    #expect(result.lines == [2, 3])
    #expect(result.raw == ["1,Ann", "2,Bob"])
    #expect(result.records.map(\.byteOffset) == [8, 14])
    #expect(result.records.map(\.byteLength) == [5, 5])
    #expect(result.error == nil)
  }

  @Test("the last line needs no end, whatever the line ends are", arguments: ["\n", "\r\n", "\r"])
  func lineEnds(newline: String) throws {
    for last in ["", newline] {
      let result = try read(["id,name", "1,Ann", "2,Bob"].joined(separator: newline) + last)
      #expect(result.columns == ["id", "name"])
      #expect(result.cells == [["1", "Ann"], ["2", "Bob"]])
      #expect(result.raw == ["1,Ann", "2,Bob"])
      #expect(result.lines == [2, 3])
    }
  }

  @Test("a carriage return at the very end of the file belongs to the line end")
  func loneReturnAtEnd() throws {
    #expect(try read("a,b\n1,2\r").cells == [["1", "2"]])
    #expect(try read("a,b\n1,\"2\"\r").cells == [["1", "2"]])
  }

  @Test("a carriage return inside a field of a file with line feeds is text")
  func returnInside() throws {
    #expect(try read("a,b\nx\ry,2\n").cells == [["x\ry", "2"]])
  }

  @Test("a quoted newline stays inside its field, and lines are counted on")
  func quotedNewline() throws {
    let result = try read("a,b\n\"x\ny\r\nz\",1\n2,3\n")
    #expect(result.cells == [["x\ny\r\nz", "1"], ["2", "3"]])
    #expect(result.lines == [2, 5])
    #expect(result.raw == ["\"x\ny\r\nz\",1", "2,3"])
  }

  @Test("a doubled quote is one quote, a quoted delimiter is text")
  func doubledQuotes() throws {
    let result = try read("a,b,c\n\"say \"\"hi\"\"\",\"x,y\",\"\"\"\"\n")
    #expect(result.cells == [["say \"hi\"", "x,y", "\""]])
    #expect(result.raw == ["\"say \"\"hi\"\"\",\"x,y\",\"\"\"\""])
  }

  @Test("an empty field differs from a quoted empty one")
  func emptyFields() throws {
    #expect(try read("a,b,c\n,\"\",\n").cells == [["<empty>", "", "<empty>"]])
  }

  @Test("spaces are part of a field")
  func spaces() throws {
    #expect(try read("a,b\n x , y\n").cells == [[" x ", " y"]])
  }

  @Test("a quote inside an unquoted field is text")
  func bareQuote() throws {
    let result = try read("a,b\nUn\"quoted,5\" disk\n")
    #expect(result.cells == [["Un\"quoted", "5\" disk"]])
    #expect(result.problems == [nil])
  }

  @Test("empty lines are skipped and counted", arguments: ["\n", "\r\n", "\r"])
  func blankLines(newline: String) throws {
    let lines = ["", "a,b", "", "1,2", "", "", "3,4", "", ""]
    let result = try read(lines.joined(separator: newline))
    #expect(result.columns == ["a", "b"])
    #expect(result.cells == [["1", "2"], ["3", "4"]])
    #expect(result.lines == [4, 7])
  }

  @Test("in a table of one column, a quoted empty field is a record and a blank line isn't")
  func oneColumn() throws {
    #expect(try read("a\nx\n\n\"\"\ny").cells == [["x"], [""], ["y"]])
  }

  @Test("a byte order mark isn't part of the first name")
  func byteOrderMark() throws {
    #expect(try read("\u{FEFF}id,name\n1,Ann\n").columns == ["id", "name"])
    let headless = ReaderOptions(header: false, columns: ["id", "name"])
    #expect(try read("\u{FEFF}1,Ann\n", headless).cells == [["1", "Ann"]])
  }

  @Test("the delimiter is the most frequent candidate in the first line", arguments: [",", ";", "\t", "|"])
  func sniffing(delimiter: String) throws {
    let text = ["id", "\"a,b;c\"", "x"].joined(separator: delimiter) + "\n" + "1\(delimiter)2\(delimiter)3\n"
    let result = try read(text)
    #expect(result.columns == ["id", "a,b;c", "x"])
    #expect(result.cells == [["1", "2", "3"]])
  }

  @Test("delimiter and quote can be given")
  func givenDialect() throws {
    let options = ReaderOptions(delimiter: ":", quote: "'")
    #expect(try read("a:b,c\n'x:''y''':\"z\"\n", options).cells == [["x:'y'", "\"z\""]])
  }

  @Test("without a quote, quotes are text")
  func noQuote() throws {
    let result = try read("a\tb\n\"x\t5\"\n", as: "a.tsv", ReaderOptions(quote: nil))
    #expect(result.cells == [["\"x", "5\""]])
  }

  @Test("a tab file is split at tabs, even if its header has more commas")
  func tabs() throws {
    #expect(try read("a,b,c\td\n1\t2\n", as: "a.tab").cells == [["1", "2"]])
  }

  @Test("without a header line the names are given, and the first line is a record")
  func noHeader() throws {
    let result = try read("1,Ann\n2,Bob\n", ReaderOptions(header: false, columns: ["id", "name"]))
    #expect(result.columns == ["id", "name"])
    #expect(result.cells == [["1", "Ann"], ["2", "Bob"]])
    #expect(result.lines == [1, 2])
  }

  @Test("given names replace those of the header line")
  func replacedNames() throws {
    let result = try read("id,name\n1,Ann\n", ReaderOptions(columns: ["key", "title"]))
    #expect(result.columns == ["key", "title"])
    #expect(result.cells == [["1", "Ann"]])
  }

  @Test("a header and nothing else opens and has no record", arguments: ["id,name", "id,name\n", "id,name\r\n\r\n"])
  func headerOnly(text: String) throws {
    let result = try read(text)
    #expect(result.columns == ["id", "name"])
    #expect(result.records.isEmpty)
    #expect(result.error == nil)
  }

  @Test("a batch takes as many records as requested, and the last call returns false")
  func batches() throws {
    let file = try SourceFile(Array("a\n1\n2\n3\n4\n5\n".utf8), name: "a.csv")
    let reader = try openReader(fileDescriptor: file.descriptor, name: "a.csv", options: .init(), from: nil)
    let batch = RecordBatch()
    var counts: [Int] = []
    while try reader.read(into: batch, limit: 2) { counts.append(batch.count) }
    #expect(counts == [2, 2, 1])
    #expect(batch.count == 0)
    #expect(batch.end == ReaderPosition(byteOffset: 12, line: 7, record: 5))
    #expect(reader.bytesRead == 12)
    #expect(reader.bytesTotal == 12)
  }

  @Test("text in many scripts is read unchanged and without problems")
  func scripts() throws {
    let words = ["žluťoučký", "日本語", "Ελλάδα", "😀👩‍🚀", "naïve", "x"]
    let rows = words.map { "\($0),\"\($0)\"" }
    let result = try read("a,b\n" + rows.joined(separator: "\n"))
    #expect(result.cells == words.map { [$0, $0] })
    #expect(result.problems.allSatisfy { $0 == nil })
  }

  @Test("a random table is read back as it was written", arguments: 0..<40)
  func roundTrip(seed: UInt64) throws {
    var dice = Dice(seed: seed + 1)
    let pieces = ["a", "bc", ",", "\"", "\n", "\r\n", "\r", "é", "日", " ", "0123456789abcdef"]
    let newline = dice.pick(["\n", "\r\n"])
    var rows: [[String]] = []
    var text = "a,b,c" + newline
    for _ in 0..<50 {
      let row = (0..<3).map { _ in (0..<dice.roll(6)).map { _ in dice.pick(pieces) }.joined() }
      rows.append(row)
      text += row.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + newline
    }
    let result = try read(text, limit: 1 + dice.roll(20), blockSize: 1 + dice.roll(200))
    #expect(result.cells == rows)
    #expect(result.problems.allSatisfy { $0 == nil })
  }
}
