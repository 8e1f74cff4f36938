import Foundation
import Testing

@testable import Importing

@Suite("The summary of a reject file")
struct RejectSummaryTests {
  @Test("says how many records were rejected for which reason, with the first of each")
  func groups() throws {
    let room = try ImportRoom(.memory)
    let rows = (0..<10).map { "p\($0),P,\($0 % 5 == 4 ? "1" : $0 % 2 == 0 ? "x\($0)" : "200")\n" }.joined()
    try room.run("code,name,age\n" + rows + "q,\(String(repeating: "Q", count: 300))\n")
    let summary = try RejectSummary.read(room.rejectsFile(), options: ReaderOptions(), examples: 2)
    #expect(summary.count == 9)
    #expect(summary.groups.map(\.code) == ["above_maximum", "not_an_integer", "too_few_fields"])
    #expect(summary.groups.map(\.column) == ["age", "age", ""])
    #expect(summary.groups.map(\.count) == [4, 4, 1])
    #expect(summary.groups.map { $0.examples.map(\.line) } == [[3, 5], [2, 4], [12]])
    #expect(summary.groups[1].examples[0].message.contains("“x0” isn't a whole number"))
    #expect(summary.groups[1].examples[0].record.hasSuffix(",p0,P,x0"))
    #expect(summary.groups[2].examples[0].record.count == 201)
  }

  @Test("of any form", arguments: RejectCase.allCases)
  func forms(form: RejectCase) throws {
    let room = try ImportRoom(.memory)
    try Data(form.bytes()).write(to: room.file(form.name))
    room.isSourceKept = true
    try room.run("", as: form.name, reader: form.options)
    let summary = try RejectSummary.read(room.rejectsFile(), options: form.options)
    #expect(summary.count == Int64(2 + form.broken))
    let group = try #require(summary.groups.first { $0.code == "not_an_integer" })
    #expect(group.column == "age" && group.count == 2)
    #expect(group.examples.map(\.message).first?.hasPrefix("age: “zzq” isn't a whole number") == true)
    #expect(group.examples.allSatisfy { $0.record.contains("zz") || form == .xml || form == .xmlPath })
    #expect(Set(group.examples.map(\.line)).count == 2 || form == .xml)
  }

  @Test("of a file that isn't there is an error")
  func missing() throws {
    let room = try ImportRoom(.memory)
    #expect(throws: MappingError.self) {
      try RejectSummary.read(room.rejectsFile(), options: ReaderOptions())
    }
  }
}

@Suite("A limit on rejects as a share")
struct RejectShareTests {
  private func run(_ rows: Int, bad: Int, share: Double, batch: Int = 500) throws -> Result<String, MappingError> {
    let room = try ImportRoom(.memory)
    let text = "code,name,age\n" + (0..<rows).map { "p\($0),P,\($0 < bad ? "x" : "1")\n" }.joined()
    do {
      return .success(try room.run(text, batch: batch, limit: nil, share: share).tally)
    } catch let error as MappingError {
      return .failure(error)
    }
  }

  @Test("isn't looked at before the thousandth record, but at the end")
  func share() throws {
    #expect(try run(2_000, bad: 250, share: 0.25) == .success("1750i 0u 0= 250r 0?"))
    guard case .failure(.tooLargeShareRejected(400, 500, 0.5, let first)) = try run(500, bad: 400, share: 0.5) else {
      Issue.record("not refused")
      return
    }
    #expect(first.hasPrefix("line 2: age: “x”"))
    guard case .failure(.tooLargeShareRejected(900, 1_000, _, _)) = try run(3_000, bad: 900, share: 0.5) else {
      Issue.record("not refused at the thousandth record")
      return
    }
    let error = MappingError.tooLargeShareRejected(count: 3, records: 9, share: 0.07, first: "x")
    #expect("\(error)".contains("the allowed share of 7%. The first"))
    #expect(try run(4, bad: 1, share: 0.25) == .success("3i 0u 0= 1r 0?"))
    #expect(try run(3, bad: 0, share: 0) == .success("3i 0u 0= 0r 0?"))
  }
}
