import Foundation
import Testing

@testable import Importing

@Suite("An import of a source that isn't text")
struct BinarySourceTests {
  enum Form: String, CaseIterable, Sendable {
    case table, withoutRowID, query, propertyList

    var name: String { self == .propertyList ? "a.plist" : "a.db" }

    var options: ReaderOptions {
      var options = ReaderOptions()
      if self == .query { options.query = "SELECT code, name, age FROM p ORDER BY code" }
      if self == .propertyList { options.root = "people" }
      return options
    }

    func bytes() throws -> [UInt8] {
      let people = (0..<12).map { ("p\($0)", $0 % 4 == 1 ? "zzq" : "\($0)") }
      if self == .propertyList {
        let list: [[String: Any]] = people.map { ["code": $0.0, "name": "Zoë \($0.0)", "age": $0.1] }
        return Array(
          try PropertyListSerialization.data(fromPropertyList: ["people": list], format: .binary, options: 0))
      }
      let key = self == .withoutRowID ? "code TEXT PRIMARY KEY" : "code TEXT"
      let rows = people.map { "('\($0.0)', 'Zoë \($0.0)', '\($0.1)')" }.joined(separator: ",")
      return try SQLiteFixture.bytes(
        "CREATE TABLE p(\(key), name TEXT, age)\(self == .withoutRowID ? "WITHOUT ROWID" : ""); INSERT INTO p VALUES \(rows);"
      )
    }
  }

  private func room(_ form: Form, _ bytes: [UInt8]) throws -> ImportRoom {
    let room = try ImportRoom(.sqlite)
    try Data(bytes).write(to: room.file(form.name))
    return room
  }

  private func run(_ room: ImportRoom, _ form: Form, batch: Int, stopAfter: Int = .max) throws -> ImportEnd {
    room.isSourceKept = true
    return try room.run("", as: form.name, reader: form.options, batch: batch, stopAfter: stopAfter)
  }

  @Test("stopped after each batch and continued, it leaves what one run leaves", arguments: Form.allCases, [1, 5])
  func stopped(form: Form, batch: Int) throws {
    let bytes = try form.bytes()
    let whole = try room(form, bytes)
    let expected = try Traces(whole, run(whole, form, batch: batch))
    #expect(expected.counts.inserted == 9 && expected.counts.rejected == 3)
    let room = try room(form, bytes)
    var end = try run(room, form, batch: batch, stopAfter: 1)
    var stops = 0
    while !end.isFinished, stops < 50 {
      stops += 1
      try room.reopen()
      end = try run(room, form, batch: batch, stopAfter: 1)
      #expect(room.reports.allSatisfy { $0.bytesDone <= $0.bytesTotal })
    }
    #expect(stops >= 12 / batch)
    #expect(try Traces(room, end) == expected)
  }

  @Test("killed at every write and continued, it leaves what one run leaves", arguments: Form.allCases)
  func killed(form: Form) throws {
    let bytes = try form.bytes()
    let whole = try room(form, bytes)
    let expected = try Traces(whole, run(whole, form, batch: 5))
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try room(form, bytes)
        room.plan.fail(write: write, forGood: true, moment)
        do {
          _ = try run(room, form, batch: 5)
          break
        } catch FaultyStore.Fault.injected {
          try room.reopen()
          #expect(try Traces(room, run(room, form, batch: 5)) == expected, "write \(write), \(moment)")
        }
        write += 1
      }
      #expect(write > 3)
    }
  }

  @Test("has rejects as text, which are corrected and dropped again with the same options", arguments: Form.allCases)
  func corrected(form: Form) throws {
    let room = try room(form, form.bytes())
    var reader = form.options
    if form == .table { (reader.format, reader.table) = (.sqlite, "p") }
    room.isSourceKept = true
    #expect(try room.run("", as: form.name, reader: reader).tally == "9i 0u 0= 3r 0?")
    let summary = try RejectSummary.read(room.rejectsFile(), options: reader)
    #expect(summary.groups.map(\.code) == ["not_an_integer"] && summary.count == 3)
    let name = RejectFileName.name(job: "1", source: form.name, reader)
    #expect(name.hasSuffix(form == .propertyList ? ".plist" : ".ndjson"))
    let text = try #require(room.rejects()).replacing("zzq", with: "5")
    #expect(try room.run(text, as: name, reader: reader, job: "2").tally == "3i 0u 0= 0r 0?")
    #expect(try room.rows("code", "name").contains("p9|Zoë p9"))
  }
}
