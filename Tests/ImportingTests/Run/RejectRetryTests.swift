import Foundation
import ManagedObjects
import Testing

@testable import Importing

/// Rules 3 and 4 (ARCHITECTURE.md) for the rejects of a job: each is resolved at most once, ever.
@Suite("A retry of rejects")
struct RejectRetryTests {
  private static let bad = 7
  /// Twelve people; of seven the age is a word that a later recipe knows. Two of those have each other as bosses.
  private static let people =
    "code,name,age,boss,grade,nick\n"
    + (1...12).map { number in
      let isBad = number % 2 == 0 || number == 5
      let boss = number == 4 ? "p8" : number == 8 ? "p4" : ""
      return
        "p\(number),\(number == 6 ? "\"Fay, \"\"F\"\"\"" : "N\(number)"),\(isBad ? "old" : "\(20 + number)"),\(boss),3,\n"
    }.joined()

  private static var options: ImportOptions {
    var options = ImportOptions()
    options.reader.format = .csv
    return options
  }

  private static var corrected: [String: PropertyRule] {
    var age = PropertyRule()
    age.values = ["old": "99"]
    return ["age": age]
  }

  /// A room in which a job has rejected them, with the source of a retry.
  private func room(_ kind: StoreKind, corrections: [RejectExtract.Correction]? = nil) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    let end = try room.run(Self.people, job: "1")
    #expect(end.progress.counts.rejected == Int64(Self.bad))
    try extract(room, corrections)
    return room
  }

  private func extract(_ room: ImportRoom, _ corrections: [RejectExtract.Correction]? = nil) throws {
    let scratch = room.file("scratch")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    let rejects = room.rejectsFile("1")
    let records = RejectedRecords(rejects, options: Self.options, entity: nil)
    let context = room.context()
    try RejectExtract(
      of: records, at: rejects, expected: Int64(Self.bad), corrections, scratch: scratch, isEntityFile: { _ in true }
    ) { try ResolvedRejects(of: "1", in: context).resolvers($0) }.write(
      to: room.file("retry.csv"), numbers: room.file("numbers"))
  }

  /// Runs the retry as a job.
  @discardableResult
  private func retry(
    _ room: ImportRoom, job: Int64 = 2, rules: [String: PropertyRule] = Self.corrected, mode: ImportMode? = nil,
    stopAfter: Int = .max
  ) throws -> ImportEnd {
    room.retry = RejectRetry(rejected: "1", job: job, numbers: room.file("numbers"))
    defer { room.retry = nil }
    room.isSourceKept = true
    return try room.run(
      "", as: "retry.csv", mode: mode, batch: 2, job: "\(job)", stopAfter: stopAfter, largeLoad: .max, rules: rules)
  }

  private func resolved(_ room: ImportRoom) throws -> [Int64: Int64] {
    try ResolvedRejects(of: "1", in: room.context()).resolvers(1...100)
  }

  @Test("resolves each reject whose record becomes an object", arguments: StoreKind.allCases)
  func resolves(kind: StoreKind) throws {
    let room = try self.room(kind)
    let end = try retry(room)
    #expect(end.progress.counts.inserted == Int64(Self.bad))
    #expect(try room.count(of: "Person") == 12)
    #expect(try resolved(room) == Dictionary(uniqueKeysWithValues: (1...7).map { (Int64($0), 2) }))
    #expect(try ResolvedRejects(of: "1", in: room.context()).counts(of: 7) == [2: 7])
    #expect(try room.rows("code", "name", "age", "boss.code").contains("p6|Fay, \"F\"|99|"))
    #expect(try room.rows("code", "boss.code").contains("p4|p8"))
  }

  @Test("leaves those open that are rejected again, and says their numbers in place of lines")
  func rejectedAgain() throws {
    let room = try self.room(
      .sqlite, corrections: [.init(number: 3, record: Array("p5,N5,33,,3,".utf8)), .init(number: 6, record: nil)])
    let end = try retry(room, rules: [:])
    #expect(end.progress.counts.inserted == 1 && end.progress.counts.rejected == 1)
    #expect(try resolved(room) == [3: 2])
    #expect(room.refusals("2") == ["6,age,not_an_integer"])
  }

  @Test("is killed at any write and run again, and has resolved each once", arguments: StoreKind.allCases)
  func everyWrite(kind: StoreKind) throws {
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try self.room(kind)
        room.plan.fail(write: write, forGood: true, moment)
        var end: ImportEnd?
        do { end = try retry(room) } catch FaultyStore.Fault.injected {}
        let isReached = room.plan.writes >= write
        if end == nil {
          try room.reopen()
          // What is committed is committed with its rows.
          let rows = try room.count(of: "Person")
          #expect(try resolved(room).count == rows - 5, "write \(write), \(moment)")
          end = try retry(room)
        }
        #expect(end?.progress.counts.inserted == Int64(Self.bad), "write \(write), \(moment)")
        #expect(try room.count(of: "Person") == 12)
        #expect(try resolved(room).count == Self.bad)
        if !isReached { break }
        write += 1
      }
      #expect(write > 4)
    }
  }

  @Test("resolves nothing that another has resolved, and then inserts nothing")
  func twice() throws {
    let room = try self.room(.sqlite)
    try retry(room, job: 2)
    let before = try room.rows("code", "age")
    #expect(throws: MappingError.rejectResolved(number: 1, by: 2)) { try retry(room, job: 3) }
    #expect(try room.rows("code", "age") == before)
    #expect(try resolved(room).values.allSatisfy { $0 == 2 })
  }

  @Test("can't be saved if another resolves a reject at the same moment")
  func atOnce() throws {
    let room = try self.room(.sqlite)
    room.intrude { context in
      let object = try context.insert(ImportModel.resolvedEntity)
      try object.setValue(.string("1"), forKey: "job")
      try object.setValue(.int(1), forKey: "number")
      try object.setValue(.int(9), forKey: "by")
    }
    #expect(throws: (any Error).self) { try retry(room) }
    #expect(try resolved(room) == [1: 9])
    #expect(try room.count(of: "Person") == 5)
  }

  @Test("that is given up has set the references of what it has resolved", arguments: StoreKind.allCases)
  func givenUp(kind: StoreKind) throws {
    let room = try self.room(kind)
    #expect(try !retry(room, stopAfter: 3).isFinished)
    #expect(try resolved(room).keys.sorted() == [1, 2, 3, 4, 5, 6])
    #expect(try room.rows("code", "boss.code").contains("p4|"))
    var options = ImportOptions()
    options.mapping.properties = Self.corrected
    for _ in 1...2 { try ImportCheckpoint.setReferences(of: "2", options, in: room.context()) }
    #expect(try room.rows("code", "boss.code").contains("p4|p8"))
  }

  @Test("that is a dry run changes nothing")
  func dryRun() throws {
    let room = try self.room(.sqlite)
    room.adjust = { $0.isDryRun = true }
    let end = try retry(room)
    #expect(end.progress.counts.inserted == Int64(Self.bad))
    #expect(try room.count(of: "Person") == 5)
    #expect(try resolved(room).isEmpty)
  }

  @Test("takes what a filter leaves out as resolved")
  func filter() throws {
    let room = try self.room(.sqlite)
    room.adjust = { $0.mapping.filter = "code != 'p2'" }
    let end = try retry(room)
    #expect(end.progress.counts.skipped == 1)
    #expect(try room.count(of: "Person") == 11)
    #expect(try resolved(room).count == Self.bad)
  }

  @Test("reads only the rejects that are open")
  func open() throws {
    let room = try self.room(.sqlite, corrections: [.init(number: 2, record: nil)])
    try retry(room)
    #expect(try resolved(room) == [2: 2])
    try extract(room)
    let end = try retry(room, job: 3)
    #expect(end.progress.counts.records == Int64(Self.bad) - 1)
    #expect(try resolved(room).filter { $0.value == 3 }.count == Self.bad - 1)
  }

  @Test(
    "refuses a correction that isn't one record",
    arguments: ["p2,N2,1,,3,\np3,N3,2,,3,", "p2,\"N2,1,,3,", "", "p2,\"N\"2,1,,3,"])
  func notOneRecord(_ text: String) throws {
    #expect(throws: RejectRetryError.self) {
      let room = try self.room(.memory, corrections: [.init(number: 1, record: Array(text.utf8))])
      // What is one record, and has too few fields, stays open.
      let end = try retry(room)
      if end.progress.counts.rejected == 1 { throw RejectRetryError.nothingToRead }
    }
  }

  @Test("refuses numbers that no reject has, and a reject file that was changed")
  func refusals() throws {
    #expect(throws: RejectRetryError.noSuchReject(8, count: 7)) {
      _ = try self.room(.memory, corrections: [.init(number: 8, record: nil)])
    }
    let room = try self.room(.memory)
    let text = try #require(room.rejects())
    let lines = text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
    try Data(lines.utf8).write(to: room.rejectsFile("1"))
    #expect(
      throws: RejectRetryError.changed(path: room.rejectsFile("1").path, found: 6, expected: 7)
    ) { try extract(room) }
  }

  @Test("says where in its record the faulty cell is")
  func cell() throws {
    let room = try self.room(.memory)
    let records = RejectedRecords(room.rejectsFile("1"), options: Self.options, entity: nil)
    let reject = try records.record(4, of: 7)
    #expect(String(decoding: reject.record, as: UTF8.self) == "p6,\"Fay, \"\"F\"\"\",old,,3,")
    #expect(reject.line == 7 && reject.column == "age" && reject.code == "not_an_integer" && reject.isWhole)
    #expect(reject.cell.map { String(decoding: reject.record[$0], as: UTF8.self) } == "old")
    #expect(throws: RejectRetryError.noSuchReject(8, count: 7)) { try records.record(8, of: 7) }
  }

  @Test("finds the cell of a JSON record, also where its text has escapes")
  func cellOfJSON() throws {
    let room = try ImportRoom(.memory)
    try room.run(
      #"[{"code": "a", "name": "A", "age": "o\u006cd"}, {"code": "b", "name": "B", "age": "old"}]"#, as: "a.json")
    var options = ImportOptions()
    options.reader.format = .json
    let records = RejectedRecords(room.rejectsFile("1"), options: options, entity: nil)
    for (number, text) in [(Int64(1), #""o\u006cd""#), (2, "old")] {
      let reject = try records.record(number, of: 2)
      #expect(reject.cell.map { String(decoding: reject.record[$0], as: UTF8.self) } == text)
    }
  }
}
