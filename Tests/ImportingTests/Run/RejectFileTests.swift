import Foundation
import Testing

@testable import Importing

@Suite("The reject file")
struct RejectFileTests {
  @Test("of a CSV source has four columns before the record as it stood", arguments: StoreKind.allCases, [1, 2, 100])
  func csv(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text =
      "\u{FEFF}code,name,age\r\na,Ann,x\r\n\r\nb,\"B\"\"o\r\nb\",999\r\nc,Cleo,3\r\nd,Dan\r\ne,\"E\",,extra\r\nf,Fay,-1"
    #expect(try room.run(text, batch: batch).tally == "1i 0u 0= 5r 0?")
    #expect(
      room.rejects() == """
        lade_line,lade_column,lade_code,lade_message,code,name,age
        2,age,not_an_integer,age: “x” isn't a whole number; expected Integer 16 (-32768 to 32767),a,Ann,x
        4,age,above_maximum,Person.age is more than 150,b,"B""o\r
        b",999
        7,,too_few_fields,"the row has 2 fields, but the header has 3",d,Dan
        8,,too_many_fields,"the row has 4 fields, but the header has 3",e,"E",,extra
        9,age,below_minimum,Person.age is less than 0,f,Fay,-1

        """)
  }

  @Test("uses the source's own delimiter and quote")
  func dialect() throws {
    let room = try ImportRoom(.memory)
    let reader = ReaderOptions(delimiter: ";", quote: "'")
    try room.run("code;'na;me';age\n'a;b';x;'1;''2'\n", reader: reader)
    #expect(
      room.rejects() == """
        lade_line;lade_column;lade_code;lade_message;code;'na;me';age
        2;age;not_an_integer;'age: “1;''2” isn''t a whole number; expected Integer 16 (-32768 to 32767)';'a;b';x;'1;''2'

        """)
    let unquoted = ReaderOptions(quote: nil)
    try room.run("code\tname\tage\na\tAnn\t\"x\n", as: "b.tsv", reader: unquoted, job: "2")
    #expect(
      room.rejects("2") == """
        lade_line\tlade_column\tlade_code\tlade_message\tcode\tname\tage
        2\tage\tnot_an_integer\tage: “"x” isn't a whole number; expected Integer 16 (-32768 to 32767)\ta\tAnn\t"x

        """)
  }

  @Test("of a source with escapes has them too, and as many lines before its header")
  func escapes() throws {
    let room = try ImportRoom(.memory)
    var reader = ReaderOptions(quote: nil)
    (reader.escape, reader.skipLines) = ("^", 2)
    try room.run("x\n\ncode,name,age\na^,,A^^n,^,\nb,B", as: "b.csv", reader: reader, job: "2")
    #expect(
      room.rejects("2") == """


        lade_line,lade_column,lade_code,lade_message,code,name,age
        4,age,not_an_integer,age: “^,” isn't a whole number; expected Integer 16 (-32768 to 32767),a^,,A^^n,^,
        5,,too_few_fields,the row has 2 fields^, but the header has 3,b,B

        """)
    var letters = ReaderOptions()
    letters.tsvEscapes = true
    try room.run("code\tname\tage\na\tA\\\\\\n\t\\t1\\\\\n", as: "b.tsv", reader: letters, job: "3")
    #expect(
      room.rejects("3")?.hasSuffix(
        "age: “\\t1\\\\” isn't a whole number; expected Integer 16 (-32768 to 32767)\ta\tA\\\\\\n\t\\t1\\\\\n") == true)
  }

  @Test("of a CSV source without a header line names the columns that were given")
  func headerless() throws {
    let room = try ImportRoom(.memory)
    try room.run("a,Ann,x\n", reader: ReaderOptions(header: false, columns: ["code", "name", "age"]))
    #expect(room.rejects()?.hasPrefix("lade_line,lade_column,lade_code,lade_message,code,name,age\n1,age,") == true)
  }

  @Test(
    "of NDJSON is NDJSON with the reason first, and has lines that are no objects too", arguments: StoreKind.allCases,
    [1, 100])
  func ndjson(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text =
      "{\"code\":\"a\",\"name\":\"A\\n\\u0001\",\"age\":\"x\\t\"}\n{\"code\":\"b\",\"name\":\"B\"}\n{\"code\":[1]}\nnull\n{\"c"
    #expect(try room.run(text, as: "a.ndjson", batch: batch).tally == "1i 0u 0= 4r 0?")
    let lines = try (room.rejects() ?? "").split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    #expect(lines.map(\.lade.line) == [1, 3, 4, 5])
    #expect(lines.map(\.lade.column) == ["age", "code", "", ""])
    #expect(lines.map(\.lade.code) == ["not_an_integer", "wrong_kind", "not_an_object", "malformed_json"])
    #expect(lines.map(\.lade.record) == [nil, nil, "null", "{\"c"])
    #expect(lines[0].name == "A\n\u{1}")
    #expect(lines[0].lade.message.hasPrefix("age: “x\t” isn't a whole number"))
    #expect(room.rejects()?.contains(",\"code\":[1]}\n") == true)
  }

  @Test("can be read again, whatever was in the records", arguments: [("\"", ","), ("'", "|"), ("\"", "\t")])
  func readAgain(quote: String, delimiter: String) throws {
    var dice = Lot(seed: 3)
    let pieces = ["a", " ", "ü", "\u{301}", "{", "}", "“", "\\", quote + quote, delimiter, "\n", "\r\n", "\r", "x"]
    for round in 0..<40 {
      let room = try ImportRoom(.memory)
      let rows = (0..<20).map { _ in
        (0..<3).map { _ in
          quote + (0..<dice.draw(6)).map { _ in pieces[dice.draw(pieces.count)] }.joined() + quote
        }
      }
      let header = ["code", "name", "age"].joined(separator: delimiter)
      let text = header + "\n" + rows.map { $0.joined(separator: delimiter) + "\n" }.joined()
      let reader = ReaderOptions(delimiter: delimiter, quote: quote)
      let end = try room.run(text, mode: .insert, reader: reader, batch: 1 + round % 5)
      guard end.counts.rejected > 0 else { continue }
      let again = try fields(room.rejectsFile(), reader)
      let source = try fields(room.file("a.csv"), reader)
      #expect(again.count == Int(end.counts.rejected))
      for record in again {
        #expect(record.count == 7)
        #expect(source.contains(Array(record.dropFirst(4))))
      }
    }
  }

  @Test("stays readable when a record's own quotes are broken")
  func brokenQuotes() throws {
    let room = try ImportRoom(.memory)
    let text = "code,name,age\nb,\"Bob\" x,1\na,Ann,\"x, y\"\nc,\"Cleo,1\nd,Dan,1\ne,Eve,a b\n"
    #expect(try room.run(text).tally == "1i 0u 0= 4r 0?")
    let records = try fields(room.rejectsFile(), ReaderOptions())
    #expect(records.map { $0[0] } == ["2", "3", "4", "6"])
    #expect(records.map { $0[2] } == ["text_after_quote", "not_an_integer", "unterminated_quote", "not_an_integer"])
    #expect(
      records.map { Array($0.dropFirst(4)) } == [
        ["b,\"Bob\" x,1"], ["a", "Ann", "x, y"], ["c,\"Cleo,1"], ["e", "Eve", "a b"],
      ])
  }

  @Test("keeps records with bytes that aren't text, and stays text")
  func notText() throws {
    let room = try ImportRoom(.memory)
    var bytes = Array("code,name,age\n".utf8) + Array(repeating: Array("ok,name,1\n".utf8), count: 1000).joined()
    bytes += Array("a,\"".utf8) + [0xFF] + Array("\",1\nb,B".utf8) + [0] + Array(",1\nc,C,x\n".utf8)
    try Data(bytes).write(to: room.file("raw.csv"))
    try room.run(file: "raw.csv")
    let records = try fields(room.rejectsFile(), ReaderOptions())
    #expect(records.map { $0[2] } == ["invalid_utf8", "nul_byte", "not_an_integer"])
    #expect(records[1][5] == "B\u{FFFD}")
    #expect(FileManager.default.contents(atPath: room.rejectsFile().path)?.contains(0xFF) == true)
  }

  @Test("is cut back to what the last commit counted", arguments: StoreKind.allCases)
  func cutBack(kind: StoreKind) throws {
    let text = "code,name,age\n" + (0..<12).map { "p\($0),P,\($0 % 3 == 0 ? "x" : "1")\n" }.joined()
    let whole = try ImportRoom(kind)
    try whole.run(text, batch: 4)
    let room = try ImportRoom(kind)
    try room.run(text, batch: 4, stopAfter: 2)
    let handle = try FileHandle(forWritingTo: room.rejectsFile())
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("11,age,not_an_int".utf8))
    try handle.close()
    try room.reopen()
    try room.run(text, batch: 4)
    #expect(room.rejects() == whole.rejects())
  }

  @Test("that a job before left under the same name doesn't count")
  func leftover() throws {
    let room = try ImportRoom(.memory)
    try Data("of an earlier job\n".utf8).write(to: room.rejectsFile())
    try room.run("code,name,age\na,Ann,x\n")
    #expect(room.rejects()?.hasPrefix("lade_line,") == true)
    #expect(room.rejects()?.contains("earlier") == false)
  }

  @Test("that is gone or has been shortened is an error, not a loss of records", arguments: [true, false])
  func lost(isGone: Bool) throws {
    let room = try ImportRoom(.memory)
    let text = "code,name,age\na,Ann,x\nb,Bob,x\n"
    try room.run(text, batch: 1, stopAfter: 1)
    if isGone {
      try FileManager.default.removeItem(at: room.rejectsFile())
    } else {
      try Data("lade_line".utf8).write(to: room.rejectsFile())
    }
    guard case MappingError.fileFailed(let path, _, _)? = try room.failure(text, batch: 1) else {
      Issue.record("not refused")
      return
    }
    #expect(path == room.rejectsFile().path)
  }

  @Test("that can't be written fails the job, which continues when it can be written", arguments: StoreKind.allCases)
  func unwritable(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age\na,Ann,1\nb,Bob,1\nc,Cleo,x\nd,Dan,1\n"
    try FileManager.default.createDirectory(at: room.rejectsFile(), withIntermediateDirectories: false)
    #expect(try room.failure(text, batch: 2) is MappingError)
    try FileManager.default.removeItem(at: room.rejectsFile())
    #expect(try room.run(text, batch: 2).tally == "3i 0u 0= 1r 0?")
    #expect(room.refusals() == ["4,age,not_an_integer"])
  }

  @Test("in a directory that is missing fails the job at the first reject, and not before")
  func noDirectory() throws {
    let room = try ImportRoom(.memory)
    let rejects = room.file("missing").appendingPathComponent("1.rejects")
    let error = #expect(throws: MappingError.self) {
      try room.run("code,name,age\na,Ann,1\nb,Bob,x\n", batch: 1, rejects: rejects)
    }
    guard case .fileFailed(_, "open", _)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(try room.rows("code") == ["a"])
    try FileManager.default.createDirectory(at: room.file("missing"), withIntermediateDirectories: false)
    #expect(try room.run("code,name,age\na,Ann,1\nb,Bob,x\n", batch: 1, rejects: rejects).tally == "1i 0u 0= 1r 0?")
  }

  @Test("isn't made when nothing is rejected")
  func none() throws {
    let room = try ImportRoom(.memory)
    try room.run("code,name\na,Ann\n")
    #expect(room.rejects() == nil)
  }

  private struct Line: Decodable {
    struct Reason: Decodable {
      let line: Int
      let column: String
      let code: String
      let message: String
      let record: String?
    }
    let lade: Reason
    let name: String?
  }

  /// The records of a CSV file, read by our own reader.
  private func fields(_ file: URL, _ options: ReaderOptions) throws -> [[String]] {
    let descriptor = open(file.path, O_RDONLY)
    defer { close(descriptor) }
    let reader = try openReader(fileDescriptor: descriptor, name: "a.csv", options: options, from: nil)
    let batch = RecordBatch()
    var records: [[String]] = []
    while try reader.read(into: batch, limit: 100) {
      for record in 0..<batch.count {
        records.append((0..<batch.cellCount(record)).map { batch.string(batch.cell(record, $0)) })
      }
    }
    return records
  }
}
