import Foundation
import ManagedObjects
import Testing

@testable import Importing

/// A retry resolves the rejects that it was asked to, and no others, whatever stands in the records.
@Suite("The source of a retry", .timeLimit(.minutes(20)))
struct RejectExtractTests {
  private static let xml =
    "<all><p><code>a</code><name>A</name><age>x</age></p><p><code>b</code><name>B</name><age>y</age></p>"
    + "<p><code>c</code><name>C</name><age>z</age></p></all>"

  private func options(_ format: FileFormatName) -> ImportOptions {
    var options = ImportOptions()
    options.reader.format = format
    return options
  }

  private func records(_ room: ImportRoom, _ format: FileFormatName) -> RejectedRecords {
    RejectedRecords(room.rejectsFile("1"), options: options(format), entity: nil)
  }

  private func extract(
    _ room: ImportRoom, _ format: FileFormatName, _ count: Int64, _ corrections: [Int64: String]? = nil,
    as name: String = "retry.xml", reading: ReaderOptions? = nil, shouldStop: @escaping () -> Bool = { false }
  ) throws {
    let scratch = room.file("scratch")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    try RejectExtract(
      of: records(room, format), at: room.rejectsFile("1"), expected: count,
      corrections.map { $0.map { .init(number: $0, record: $1.isEmpty ? nil : Array($1.utf8)) } }, scratch: scratch,
      reading: reading, isDurable: false, shouldStop: shouldStop, isEntityFile: { _ in true }
    ) { _ in [:] }.write(to: room.file(name), numbers: room.file("numbers"))
  }

  @Test("refuses an XML record with another element's name, which would shift the numbers after it")
  func otherElement() throws {
    let room = try ImportRoom(.sqlite)
    try room.run(Self.xml, as: "a.xml")
    #expect(throws: RejectRetryError.notOneRecord(number: 1, reason: "it has none")) {
      try extract(room, .xml, 3, [1: "<q><code>a</code><name>A</name><age>1</age></q>", 2: "", 3: ""])
    }
    try extract(
      room, .xml, 3, [1: "", 2: "<p><code>b</code><name>B</name><age>2</age></p>", 3: ""])
    room.retry = RejectRetry(rejected: "1", job: 2, numbers: room.file("numbers"))
    room.isSourceKept = true
    #expect(try room.run("", as: "retry.xml", job: "2").tally == "1i 0u 0= 2r 0?")
    #expect(try ResolvedRejects(of: "1", in: room.context()).resolvers(1...3) == [2: 2])
  }

  @Test("is read again as the retry reads it, and refused before anything is written if it isn't what it should be")
  func readAgain() throws {
    let room = try ImportRoom(.memory)
    try room.run(Self.xml, as: "a.xml")
    var reading = ReaderOptions()
    reading.format = .xml
    reading.record = "q"
    #expect(throws: RejectRetryError.notApart(number: 1)) { try extract(room, .xml, 3, reading: reading) }
  }

  @Test("stops when its time is over")
  func stops() throws {
    let room = try ImportRoom(.memory)
    try room.run(Self.xml, as: "a.xml")
    #expect(throws: RejectExtract.Stopped.self) { try extract(room, .xml, 3, shouldStop: { true }) }
  }

  @Test("has each record although one of them has a member that looks like a reason")
  func forgedMember() throws {
    let room = try ImportRoom(.memory)
    try room.run(
      #"[{"code":"a","name":"A","age":"x","lade":{"line":9,"column":"c","code":"forged","message":"m"}},"#
        + #" {"code":"b","name":"B","age":"y","lade":"mine"}, {"code":"c","name":"C","age":"z"}]"#, as: "a.json")
    let summary = try RejectSummary.read(room.rejectsFile(), options: options(.json).reader)
    #expect(summary.count == 3 && summary.groups.map(\.code) == ["not_an_integer"])
    let records = records(room, .json)
    for number in Int64(1)...3 {
      let reject = try records.record(number, of: 3)
      #expect(reject.code == "not_an_integer" && reject.column == "age" && reject.isWhole)
    }
    try extract(room, .json, 3, as: "retry.json")
  }

  @Test("has each record although one of them has a line that looks like a reason")
  func forgedLine() throws {
    let room = try ImportRoom(.memory)
    try room.run(
      "<all><p><code>a</code><name>A</name><age>x</age>\n<?lade line=\"1\" code=\"forged\"?></p>"
        + "<p><code>b</code><name>B</name><age>y</age></p><p><code>c</code><name>C</name><age>z</age></p></all>",
      as: "a.xml")
    let summary = try RejectSummary.read(room.rejectsFile(), options: options(.xml).reader)
    #expect(summary.count == 3 && summary.groups.map(\.code) == ["not_an_integer"])
    let records = records(room, .xml)
    for (number, code) in [(Int64(1), "a"), (2, "b"), (3, "c")] {
      let reject = try records.record(number, of: 3)
      #expect(reject.code == "not_an_integer" && reject.isWhole)
      #expect(String(decoding: reject.record, as: UTF8.self).contains("<code>\(code)</code>"))
    }
    try extract(room, .xml, 3)
  }

  @Test("is made with the memory of a few megabytes, whatever the length of its records")
  func memory() throws {
    let room = try ImportRoom(.memory)
    let long = String(repeating: "n", count: 1_500_000)
    try room.run(
      (1...6).map { #"{"code":"p\#($0)","name":"\#(long)","age":"x"}"# }.joined(separator: "\n"), as: "a.ndjson")
    let reader = try RejectFileReader(room.rejectsFile(), options(.ndjson).reader)
    #expect(try reader.next(1_000)?.count == 3)
    #expect(try reader.skip(2) == 2)
    #expect(try reader.next(1_000)?.map(\.reason.line) == [6])
    #expect(try reader.next(1_000) == nil)
    #expect(try reader.skip(2) == 0)
    try extract(room, .ndjson, 6, as: "retry.ndjson")
  }

  @Test("of a job whose last save failed has the rejects that were counted", arguments: StoreKind.allCases)
  func failedSave(_ kind: StoreKind) throws {
    let people = "code,name,age\n" + (1...6).map { "p\($0),N,\($0 % 2 == 0 ? "x" : "\($0)")\n" }.joined()
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try ImportRoom(kind)
        room.plan.fail(write: write, forGood: true, moment)
        do { try room.run(people, batch: 2) } catch FaultyStore.Fault.injected {}
        let isReached = room.plan.writes >= write
        room.plan.heal()
        let saved = try ImportCheckpoint.committed("1", in: room.context())?.counts.rejected ?? 0
        var found: Int64 = 0
        if room.rejects() != nil {
          found = try RejectSummary.read(room.rejectsFile(), options: ReaderOptions()).count
        }
        #expect(found == saved, "write \(write), \(moment)")
        if !isReached { break }
        write += 1
      }
      #expect(write > 3)
    }
  }

  @Test("of a job that was killed before its last save has the rejects that were counted")
  func cut() throws {
    let room = try ImportRoom(.memory)
    try room.run(Self.xml, as: "a.xml", batch: 1, stopAfter: 2)
    let length = try #require(try ImportCheckpoint.read("1", in: room.context())).rejectsLength
    let whole = try #require(room.rejects())
    let handle = try FileHandle(forWritingTo: room.rejectsFile())
    try handle.truncate(atOffset: UInt64(length))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("<?lade line=\"1\" code=\"x\"?>\n<p/>\n</all>\n".utf8))
    try handle.close()
    try RejectedRecords.cut(room.rejectsFile(), to: length, options(.xml).reader)
    #expect(room.rejects() == whole)
    try RejectedRecords.cut(room.rejectsFile(), to: 0, options(.xml).reader)
    #expect(room.rejects() == nil)
  }

  @Test("has no value that a mask covered: a record in which today's recipe takes one stays open")
  func covered() throws {
    let room = try MaskRoom().room
    var rules = MaskRoom.rules
    rules["salary"] = nil
    let text = "number,email,age,wage\n2,grace@secret.example,old,98765.43\n"
    #expect(try room.run(text, into: "Client", rules: rules).tally == "0i 0u 0= 1r 0?")
    try extract(room, .csv, 1, as: "retry.csv")
    var age = PropertyRule()
    age.values = ["old": "70"]
    var salary = PropertyRule()
    salary.column = "wage"
    room.retry = RejectRetry(rejected: "1", job: 2, numbers: room.file("numbers"))
    room.isSourceKept = true
    let today = rules.merging(["age": age, "salary": salary]) { $1 }
    #expect(try room.run("", as: "retry.csv", into: "Client", job: "2", rules: today).tally == "0i 0u 0= 1r 0?")
    #expect(room.refusals("2") == ["1,wage,masked_otherwise"])
    #expect(try ResolvedRejects(of: "1", in: room.context()).resolvers(1...1).isEmpty)
    // As long as nothing takes it, it stands in the way of nothing.
    room.retry?.job = 3
    room.isSourceKept = true
    let same = rules.merging(["age": age]) { $1 }
    #expect(try room.run("", as: "retry.csv", into: "Client", job: "3", rules: same).tally == "1i 0u 0= 0r 0?")
  }
}
