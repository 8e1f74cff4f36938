import Testing

@testable import Importing

@Suite("A file of which nothing is taken")
struct NothingImportedTests {
  @Test(
    "fails at its end, with its rejects kept, and fails again when it is run again", arguments: StoreKind.allCases,
    [1, 2, 100])
  func fails(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    room.adjust = { $0.rejectShare = nil }
    let text = "code,name,age\na,Ann,x\nb,,3\nc,Cy,200\n"
    for _ in 0..<2 {
      guard case MappingError.nothingImported(records: 3, rejected: 3, _)? = try room.failure(text, batch: batch) else {
        Issue.record("it didn't fail")
        return
      }
      #expect(room.reports.last?.counts.rejected == 3)
      #expect(room.refusals() == ["2,age,not_an_integer", "3,name,missing_value", "4,age,above_maximum"])
    }
    #expect(try room.count(of: "Person") == 0)
  }

  @Test("is judged when records that waited for others have been settled", arguments: StoreKind.allCases, [1, 100])
  func deferred(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    room.adjust = { $0.rejectShare = nil }
    guard case MappingError.nothingImported? = try room.failure("id,root\n1,7\n2,8\n", into: "Node", batch: batch)
    else {
      Issue.record("it didn't fail")
      return
    }
    #expect(try room.run("id,root\n1,2\n2,2\n", as: "b.csv", into: "Node", batch: batch, job: "2").counts.taken == 2)
  }

  @Test("is accepted where a share of rejects says so, and where nothing was rejected", arguments: StoreKind.allCases)
  func accepted(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let share = try room.run("code,name\na,\n", share: 1)
    #expect(share.tally == "0i 0u 0= 1r 0?")
    room.adjust = { $0.rejectShare = nil }
    #expect(try room.run("code,name\n", as: "b.csv", job: "2").notes == ["the file has no records"])
    let skipped = try room.run(
      "code,name\na,Ann\n", as: "c.csv", job: "3", mapping: MappingOptions { $0.filter = "name == 'Bob'" })
    #expect((skipped.counts.skipped, skipped.counts.taken) == (1, 0))
    let mixed = try room.run(
      "code,name,age\na,Ann,1\nb,Bob,x\n", as: "e.csv", job: "6",
      mapping: MappingOptions { $0.filter = "name == 'Bob'" })
    #expect((mixed.counts.skipped, mixed.counts.taken, mixed.counts.rejected) == (1, 0, 1))
    #expect(try room.run("code,name\na,Ann\nb,\n", as: "d.csv", job: "4").counts.taken == 1)
    #expect(try room.run("code,name\na,Ann\nb,\n", as: "d.csv", job: "5").tally == "0i 0u 1= 1r 0?")
  }

  @Test("of a feed fails when no file of it has a record that was taken", arguments: StoreKind.allCases)
  func feed(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    room.adjust = { $0.rejectShare = nil }
    let bad = [("people.csv", "code,name,age\na,Ann,x\n"), ("countries.csv", "code,name\n,x\n")]
    #expect(throws: MappingError.self) { try Feed.run(bad, in: room) }
    let end = try Feed.run([bad[0], ("countries.csv", "code,name\nDE,Germany\n")], in: room, as: "b.zip", job: "2")
    #expect((end.counts.taken, end.counts.rejected) == (1, 1))
  }
}
