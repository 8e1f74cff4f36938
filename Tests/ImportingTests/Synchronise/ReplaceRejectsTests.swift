import ManagedObjects
import Testing

@testable import Importing

@Suite("Replace with rejected records")
struct ReplaceRejectsTests {
  /// People with addresses, which no two may share.
  private func room(_ kind: StoreKind, _ codes: [String] = ["a", "b", "c"]) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    try room.run("code,name,email\n" + codes.map { "\($0),\($0),\($0)@x\n" }.joined(), as: "0.csv", job: "0")
    return room
  }

  @Test(
    "leaves an object its unique value when its own record is rejected, before or after the one that wants it",
    arguments: StoreKind.allCases, [1, 2, 100])
  func keepsValues(kind: StoreKind, batch: Int) throws {
    let records = ["a,Ann,1,b@x\n", "b,Bob,old,n@x\n", "c,Cleo,3,c@x\n"]
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
      let room = try room(kind)
      let text = "code,name,age,email\n" + order.map { records[$0] }.joined()
      let end = try room.run(text, mode: .replace, batch: batch)
      #expect(end.tally == "0i 1u 0= 2r 0?")
      #expect(end.counts.deleted == 0)
      #expect(try room.rows("code", "name", "email") == ["a|a|a@x", "b|b|b@x", "c|Cleo|c@x"])
      let lines = [0, 1].map { number in order.firstIndex(of: number).map { $0 + 2 } ?? 0 }
      #expect(Set(room.refusals()) == ["\(lines[0]),email,duplicate_key", "\(lines[1]),age,not_an_integer"])
    }
  }

  @Test(
    "rejects all that depends on the value of an object that stays, and nothing else", arguments: StoreKind.allCases,
    [1, 2, 100])
  func chain(kind: StoreKind, batch: Int) throws {
    let room = try room(kind, ["a", "b", "c", "d", "old"])
    let text = "code,name,age,email\nn,Nat,1,a@x\na,Ann,1,b@x\nb,Bob,old,\nc,Cleo,1,d@x\nd,Dan,1,c@x\ne,Eve,1,old@x\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "1i 2u 0= 3r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "email") == ["a|a@x", "b|b@x", "c|d@x", "d|c@x", "e|old@x"])
    #expect(room.refusals() == ["2,email,duplicate_key", "3,email,duplicate_key", "4,age,not_an_integer"])
  }

  enum Order: CaseIterable {
    case first, last, mixed
  }

  @Test(
    "rejects every record of a chain of exchanges behind a rejected one, however long, and in whichever order they come",
    arguments: StoreKind.allCases, Order.allCases)
  func longChain(kind: StoreKind, order: Order) throws {
    let count = 150
    let codes = (0..<count).map { "p\($0)" }
    let room = try room(kind, codes + ["x", "y"])
    // The last two exchange their addresses, and have nothing to do with the others.
    var records =
      ["p0,new,old,"] + (1..<count).map { "p\($0),new,1,p\($0 - 1)@x" } + ["x,new,1,y@x", "y,new,1,x@x"]
    switch order {
    case .first: break
    case .last: records.reverse()
    // Every other record comes after the one that depends on it.
    case .mixed: records = stride(from: 0, to: records.count, by: 2).flatMap { [records[$0 + 1], records[$0]] }
    }
    let end = try room.run(
      "code,name,age,email\n" + records.map { $0 + "\n" }.joined(), mode: .replace, batch: 16, job: "1")
    #expect(end.tally == "0i 2u 0= \(count)r 0?")
    #expect(
      Set(try room.rows("code", "name", "email"))
        == Set(codes.map { "\($0)|\($0)|\($0)@x" } + ["x|new|y@x", "y|new|x@x"]))
    try ImportCheckpoint.remove("1", in: room.context())
    #expect(try room.count(of: ImportModel.seenEntity) == 0)
  }

  @Test(
    "takes the further record of an object whose first one is rejected for a chain, with all that follows",
    arguments: StoreKind.allCases, [1, 100])
  func repeatedInChain(kind: StoreKind, batch: Int) throws {
    let room = try room(kind, ["a", "b", "c", "d"])
    // The second record of b counts once the first one can't have the address of a, and leaves that of b to c.
    let text = "code,name,age,email\nb,Bob,1,a@x\nc,Cleo,1,b@x\nb,Bobby,2,n@x\na,Ann,old,\nd,Dan,1,d@x\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "0i 3u 0= 2r 0?")
    #expect(room.refusals() == ["2,email,duplicate_key", "5,age,not_an_integer"])
    #expect(try room.rows("code", "name", "email") == ["a|a|a@x", "b|Bobby|n@x", "c|Cleo|b@x", "d|Dan|d@x"])
  }

  @Test("fails and changes nothing when rejections go on and on to concern others", arguments: StoreKind.allCases)
  func endless(kind: StoreKind) throws {
    let count = ProtectedObjects.passes + 3
    let room = try room(kind, (0..<count).map { "p\($0)" })
    let before = try room.rows("code", "name", "email")
    // Each record has the address of the one before, and each object has a second record with that address.
    let records = (1..<count).map { "p\($0),new,1,p\($0 - 1)@x\n" }.joined()
    let failure = try room.failure("code,name,age,email\np0,new,old,\n" + records + records, mode: .replace, batch: 4)
    guard case MappingError.cannotKeep(entity: "Person", count: 1, _)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(try room.rows("code", "name", "email") == before)
  }

  @Test(
    "leaves unlisted objects their unique values when nothing is deleted", arguments: StoreKind.allCases, [1, 2, 100])
  func nothingDeleted(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let text = "code,name,email\na,Ann,b@x\nunreadable\nc,Cleo,c@x\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "0i 1u 0= 2r 0?")
    #expect(end.counts.deleted == 0)
    #expect(try room.rows("code", "name", "email") == ["a|a|a@x", "b|b|b@x", "c|Cleo|c@x"])
    #expect(end.notes.contains { $0.hasPrefix("nothing was deleted: 1 rejected record(s)") })
  }

  @Test(
    "takes a valid record of a key although another one of that key was rejected before", arguments: StoreKind.allCases,
    [1, 2, 100])
  func validLater(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let text = "code,name,age\na,Ann,x\nb,Bob,1\na,Anna,2\nb,Bobby,y\na,Again,3\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "0i 2u 0= 3r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "name", "age") == ["a|Anna|2", "b|Bob|1"])
    #expect(room.refusals() == ["2,age,not_an_integer", "5,age,not_an_integer", "6,code,duplicate_key"])
    try room.run("id,label,size\n1,aa,1\n2,bb,2\n", into: "Gauge", job: "2")
    let gauges = try room.run(
      "id,label,size\n1,aa,x\n2,bb,2\n1,cc,7\n", as: "b.csv", into: "Gauge", mode: .replace, batch: batch, job: "3")
    #expect(gauges.tally == "0i 1u 1= 1r 0?")
    #expect(try room.rows("id", "label", "size", of: "Gauge") == ["1|cc|7", "2|bb|2"])
  }

  @Test(
    "takes a record of an object that an earlier record has inside", arguments: StoreKind.allCases, [1, 100])
  func nestedBefore(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let text =
      "[{\"code\":\"a\",\"name\":\"Ann\",\"boss\":{\"code\":\"b\",\"name\":\"b\"}},{\"code\":\"b\",\"name\":\"Bob\"}]"
    let end = try room.run(text, as: "a.json", mode: .replace, batch: batch)
    #expect(end.tally == "0i 2u 0= 0r 0?")
    #expect(try room.rows("code", "name", "boss.code") == ["a|Ann|b", "b|Bob|"])
  }

  @Test("keeps references to unlisted objects when nothing is deleted", arguments: StoreKind.allCases, [1, 2, 100])
  func references(kind: StoreKind, batch: Int) throws {
    let room = try room(kind, ["a", "b", "old"])
    try room.run("code,name,boss\na,a,old\n", as: "1.csv", job: "1")
    let end = try room.run(
      "code,name,boss\na,Ann,old\nb,Bob,old\nunreadable\n", as: "2.csv", mode: .replace, batch: batch, job: "2")
    #expect(end.tally == "0i 2u 0= 1r 0?")
    #expect(try room.rows("code", "boss.code") == ["a|old", "b|old", "old|"])
    try room.run("id,root\n1,1\n2,2\n", as: "3.csv", into: "Node", job: "3")
    let nodes = try room.run(
      "id,root\n1,2\n3,2\nx,1\n", as: "4.csv", into: "Node", mode: .replace, batch: batch, job: "4")
    #expect((nodes.counts.inserted, nodes.counts.updated, nodes.counts.rejected) == (1, 1, 1))
    #expect(try room.rows("id", "root.id", of: "Node") == ["1|2", "2|2", "3|2"])
  }

  private static let mixed =
    "code,name,age,email,boss\na,Ann,1,b@x,old\nb,Bob,old,n@x,\nd,Dan,x,,\nc,Cleo,3,e@x,d\ne,Eve,4,c@x,b\nd,Dana,5,d@x,a\n"

  @Test("leaves what one run leaves, at whichever write it is killed", arguments: StoreKind.allCases, [2, 100])
  func killed(kind: StoreKind, batch: Int) throws {
    try Killing.everyWrite(
      kind,
      furnish: { room in
        try room.run(
          "code,name,email\n" + ["a", "b", "c", "d", "e", "old"].map { "\($0),\($0),\($0)@x\n" }.joined(), as: "0.csv",
          job: "0")
      },
      run: { try $0.run(Self.mixed, mode: .replace, batch: batch) },
      traces: { room, end in
        #expect(end.counts.deleted == 1)
        let rows = try room.rows("code", "name", "email", "boss.code")
        #expect(rows == ["a|a|a@x|", "b|b|b@x|", "c|Cleo|e@x|d", "d|Dana|d@x|a", "e|Eve|c@x|b"])
        return [rows, [end.tally, room.rejects() ?? ""], [String(try room.count(of: ImportModel.referenceEntity))]]
      })
  }

  @Test("can be stopped in every pass, and leaves the same when it is run again", arguments: StoreKind.allCases)
  func stopped(kind: StoreKind) throws {
    var stops = 0
    for asking in 1..<40 {
      let room = try room(kind, ["a", "b", "c", "d", "e", "old"])
      var end = try room.run(Self.mixed, mode: .replace, batch: 2, stopAtAsking: asking)
      if !end.isFinished {
        stops += 1
        #expect(try room.rows("email") == ["a@x", "b@x", "c@x", "d@x", "e@x", "old@x"])
        end = try room.run(Self.mixed, mode: .replace, batch: 2)
      }
      #expect(end.tally == "0i 3u 0= 3r 0?")
      #expect(try room.rows("code", "email") == ["a|a@x", "b|b@x", "c|e@x", "d|d@x", "e|c@x"])
    }
    #expect(stops > 8)
  }

  @Test("of files in an archive reads them all again", arguments: StoreKind.allCases)
  func feed(kind: StoreKind) throws {
    let room = try room(kind)
    let end = try Feed.run(
      [
        ("people.csv", "code,name,age,email\na,Ann,1,b@x\nb,Bob,old,\nc,Cleo,3,c@x\n"),
        ("countries.csv", "code,name\nDE,Germany\n"),
      ], in: room, mode: .replace)
    #expect((end.counts.inserted, end.counts.updated, end.counts.rejected) == (1, 1, 2))
    #expect(try room.rows("code", "email") == ["a|a@x", "b|b@x", "c|c@x"])
  }

  @Test(
    "or synchronise of a file whose records are all rejected says so, and of one that gives nothing what it would delete",
    arguments: [ImportMode.replace, .synchronise])
  func nothingTaken(mode: ImportMode) throws {
    let room = try room(.sqlite)
    room.adjust = { $0.rejectShare = nil }
    for (job, text) in ["code,name,age\na,Ann,x\nq,Quin,200\n", "code,name,age\nunreadable\n"].enumerated() {
      let failure = try room.failure(text, as: "a\(job).csv", mode: mode, job: "a\(job)")
      guard case MappingError.nothingImported? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
    }
    let empty = try room.failure("code,name,age\n", as: "b.csv", mode: mode, job: "b")
    #expect(empty as? MappingError == .wouldDeleteAll(entity: "Person", count: 3, mode: mode, records: 0))
    let skipped = try room.failure(
      "code,name\na,Ann\n", as: "c.csv", mode: mode, job: "c", mapping: MappingOptions { $0.filter = "name == 'Bob'" })
    #expect(skipped as? MappingError == .wouldDeleteAll(entity: "Person", count: 3, mode: mode, records: 1))
    // The recipe accepts rejects. The object of the rejected record would stay.
    room.adjust = { $0.rejectShare = 1 }
    let shared = try room.failure("code,name,age\na,Ann,x\n", as: "d.csv", mode: mode, job: "d")
    #expect(shared as? MappingError == .wouldDeleteAll(entity: "Person", count: 2, mode: mode, records: 1))
    #expect(try room.run("code,name,age\nunreadable\n", as: "e.csv", mode: mode, job: "e").isFinished)
    #expect(try room.rows("code", "name", "email") == ["a|a|a@x", "b|b|b@x", "c|c|c@x"])
  }
}
