import ManagedObjects
import Testing

@testable import Importing

@Suite("Synchronise")
struct SynchroniseTests {
  @Test(
    "inserts and updates, and deletes what the file doesn't have", arguments: StoreKind.allCases, [1, 2, 100])
  func deletes(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c", "d"])
    let saves = Saves(of: room.coordinator)
    let end = try room.run("code,name\nc,Cleo\ne,Eve\nb,b\n", mode: .synchronise, batch: batch)
    #expect(end.tally == "1i 1u 1= 0r 0?")
    #expect(end.counts.deleted == 2)
    #expect(end.notes.isEmpty)
    #expect(try room.rows("code", "name") == ["b|b", "c|Cleo", "e|Eve"])
    #expect(saves.count(of: "Person") == 4)
  }

  @Test("of the same file again writes no row and announces none", arguments: [1, 100])
  func again(batch: Int) throws {
    let room = try PeopleSample.room(.sqlite)
    let text = "code,name,boss\np1,Ann,p4\np4,Dan,\np2,p2,p1\n"
    #expect(try room.run(text, mode: .synchronise, batch: batch, job: "1").counts.deleted == 1)
    let saves = Saves(of: room.coordinator)
    let watch = try RowWatch(room.database, table: "Person")
    let end = try room.run(text, as: "b.csv", mode: .synchronise, batch: batch, job: "2")
    #expect(end.tally == "0i 0u 3= 0r 0?")
    #expect(end.counts.deleted == 0)
    #expect(saves.count(of: "Person") == 0)
    #expect(try watch.writes() == [])
  }

  @Test("leaves no reference to deleted objects", arguments: StoreKind.allCases)
  func references(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    try room.run("code,name,boss,country_code\na,Ann,b,FR\nb,Bob,,\nc,Cleo,a,DE\n", job: "1")
    try room.run("code,name\na,Ann\nc,Cleo\n", as: "b.csv", mode: .synchronise, job: "2")
    #expect(try room.rows("code", "boss.code", "country.code") == ["a||FR", "c|a|DE"])
    let end = try room.run("code\nDE\n", as: "c.csv", into: "Country", mode: .synchronise, job: "3")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "boss.code", "country.code") == ["a||", "c|a|DE"])
  }

  @Test(
    "keeps what a rejected record is about, when its key can be read", arguments: StoreKind.allCases, [1, 100])
  func rejected(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c", "d", "e"])
    // Of a value that can't be read, of one out of bounds, of a clash in another key, of an empty name.
    let text = "code,name,age,email\na,Ann,x,\nb,Bob,200,\nf,Fay,1,f@x\nc,Cleo,1,f@x\nd,,1,\n"
    let end = try room.run(text, mode: .synchronise, batch: batch)
    #expect(end.tally == "1i 0u 0= 4r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "name") == ["a|a", "b|b", "c|c", "d|d", "f|Fay"])
  }

  @Test(
    "deletes nothing if a rejected record doesn't say what it is about, and notes it",
    arguments: [
      ("a.csv", "code,name,age\na,Ann,1\nb,Bob\nc,Cleo,1,2\n", Int64(2), 3),
      ("a.ndjson", "{\"code\":\"a\",\"name\":\"Ann\",\"age\":1}\n{\"name\":\"Bob\"}\n{\"code\":\n", Int64(2), 2),
      ("a.json", "[{\"code\":\"a\",\"name\":\"Ann\",\"age\":1},\n7]", Int64(1), 2),
    ], [1, 100])
  func unidentified(_ what: (name: String, text: String, count: Int64, line: Int), batch: Int) throws {
    let room = try ImportRoom(.sqlite)
    try room.furnish(people: ["a", "z"])
    let end = try room.run(what.text, as: what.name, mode: .synchronise, batch: batch)
    #expect(end.counts.rejected == what.count)
    #expect((end.counts.updated, end.counts.deleted) == (1, 0))
    #expect(try room.rows("code", "name") == ["a|Ann", "z|z"])
    #expect(
      end.notes.contains { note in
        note.hasPrefix("nothing was deleted: \(what.count) rejected record(s) don't say which Person")
          && note.contains("line \(what.line)")
      }, "\(end.notes)")
  }

  @Test("deletes nothing when a key isn't of its type", arguments: StoreKind.allCases)
  func unreadableKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,1,1\n1,2,2\n", into: "Seat", job: "1")
    let end = try room.run("row,number,price\n1,1,3\n1,x,4\n", as: "b.csv", into: "Seat", mode: .synchronise, job: "2")
    #expect((end.counts.rejected, end.counts.deleted) == (1, 0))
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|3", "1|2|2"])
  }

  @Test(
    "of a file that would leave nothing fails, and changes nothing", arguments: StoreKind.allCases,
    [("code,name\n", 2), ("code,name,age\nx,Xav,200\na,Ann,x\n", 1), ("code,name\n,\n", 2)])
  func empty(kind: StoreKind, what: (text: String, count: Int)) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b"])
    let failure = try room.failure(what.text, mode: .synchronise)
    guard case MappingError.wouldDeleteAll(entity: "Person", count: what.count, mode: .synchronise, _)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect("\(try #require(failure))".contains("deleted \(what.count) Person"))
    #expect("\(try #require(failure))".contains("allow_empty"))
    #expect(try room.rows("code", "name") == ["a|a", "b|b"])
  }

  @Test("of an empty file deletes everything when it may, and needs no leave when there is nothing")
  func emptyAllowed() throws {
    let room = try ImportRoom(.sqlite)
    #expect(try room.run("code,name\n", mode: .synchronise, job: "1").isFinished)
    try room.furnish(people: ["a", "b"])
    room.adjust = { $0.allowsEmpty = true }
    let end = try room.run("code,name\n", mode: .synchronise, job: "2")
    #expect(end.counts.deleted == 2)
    #expect(try room.count(of: "Person") == 0)
  }

  @Test("goes by the entity's own number where it has one, however far these are apart", arguments: StoreKind.allCases)
  func primaryKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    let numbers = [-5, 1, 8191, 8192, 5_000_000_000, 9_000_000_000_000_000_000]
    let text = "id,text,owner\n" + numbers.map { "\($0),x,a\n" }.joined()
    #expect(try room.run(text, into: "Badge", mode: .synchronise, batch: 2, job: "1").tally == "6i 0u 0= 0r 0?")
    let fewer = "id,text,owner\n8192,x,a\n-5,y,a\n5000000000,x,a\n"
    let end = try room.run(fewer, as: "b.csv", into: "Badge", mode: .synchronise, batch: 2, job: "2")
    #expect(end.tally == "0i 1u 2= 0r 0?")
    #expect(end.counts.deleted == 3)
    #expect(try room.rows("id", of: "Badge") == ["-5", "5000000000", "8192"])
  }

  @Test("leaves alone objects of entities that inherit from the one imported", arguments: StoreKind.allCases)
  func inheritance(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("code,wood\nc1,oak\nc2,fir\n", into: "Crate", job: "1")
    try room.run("code,text\nb1,one\nb2,two\n", as: "b.csv", into: "Box", job: "2")
    let end = try room.run("code,text\nb2,two\nc2,new\n", as: "c.csv", into: "Box", mode: .synchronise, job: "3")
    #expect(end.tally == "0i 1u 1= 0r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "text", of: "Box") == ["b2|two", "c1|", "c2|new"])
  }

  @Test("looks only at objects that a record could name, where the recipe gives a part of the key")
  func constantKey() throws {
    let room = try ImportRoom(.sqlite)
    try room.run("row,number,price\n1,1,1\n1,2,2\n2,1,3\n2,2,4\n", into: "Seat", job: "1")
    var rule = PropertyRule()
    rule.constant = "2"
    let end = try room.run(
      "number,price\n2,5\n3,x\n", as: "b.csv", into: "Seat", mode: .synchronise, job: "2", rules: ["row": rule])
    #expect(end.tally == "0i 1u 0= 1r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|1", "1|2|2", "2|2|5"])
    let failure = #expect(throws: MappingError.self) {
      try room.run("number\n", as: "c.csv", into: "Seat", mode: .synchronise, job: "3", rules: ["row": rule])
    }
    #expect(failure == .wouldDeleteAll(entity: "Seat", count: 1, mode: .synchronise, records: 0))
  }

  @Test("deletes what the filter passes over, as if the file didn't have it", arguments: StoreKind.allCases)
  func filtered(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c"])
    var mapping = MappingOptions()
    mapping.filter = "age > 17"
    let end = try room.run("code,name,age\na,Ann,18\nb,Bob,17\n", mode: .synchronise, mapping: mapping)
    #expect((end.counts.updated, end.counts.skipped, end.counts.deleted) == (1, 1, 2))
    #expect(try room.rows("code") == ["a"])
  }

  @Test("keeps objects that records have inside", arguments: StoreKind.allCases)
  func nested(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "z"])
    let text =
      "[{\"code\":\"a\",\"name\":\"Ann\",\"boss\":{\"code\":\"b\",\"name\":\"b\"}},"
      + "{\"code\":\"c\",\"name\":\"Cleo\",\"boss\":{\"code\":\"d\",\"name\":\"Dan\"}}]"
    for job in ["1", "2"] {
      let end = try room.run(text, as: "a.json", mode: .synchronise, batch: 1, job: job)
      #expect(end.counts.deleted == (job == "1" ? 1 : 0))
      #expect(try room.rows("code", "name", "boss.code") == ["a|Ann|b", "b|b|", "c|Cleo|d", "d|Dan|"])
    }
  }

  @Test("finds what to delete among many", arguments: [(9000, 2500), (8192, 8192)])
  func many(rows: Int, batch: Int) throws {
    let room = try ImportRoom(.sqlite)
    func text(_ numbers: [Int]) -> String {
      "row,number,price\n" + numbers.map { "\($0),1,\($0)\n" }.joined()
    }
    try room.run(text(Array(0..<rows)), into: "Seat", job: "1")
    let left = (0..<rows).filter { $0 % 3 != 1 }.reversed() + [rows + 1]
    let end = try room.run(
      text(Array(left)), as: "b.csv", into: "Seat", mode: .synchronise, batch: batch, job: "2")
    #expect(end.tally == "1i 0u \(left.count - 1)= 0r 0?")
    #expect(end.counts.deleted == Int64(rows - left.count + 1))
    #expect(try room.count(of: "Seat") == left.count)
    #expect(try room.count(of: ImportModel.seenEntity) == 2)
    try ImportCheckpoint.remove("2", in: room.context())
    #expect(try room.count(of: ImportModel.seenEntity) == 0)
  }

  @Test("keeps objects that are made because records refer to them", arguments: StoreKind.allCases, [1, 100])
  func created(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("code\nDE-BY\nold\n", into: "Country", job: "1")
    var rule = PropertyRule()
    rule.creates = true
    let text = "code,land,part\nDE-BY-M,DE,BY\nDE-HH-A,DE,HH\n"
    for job in ["2", "3"] {
      let end = try room.run(
        text, as: "b.csv", into: "Country", mode: .synchronise, batch: batch, job: job, rules: ["parent": rule])
      #expect(end.counts.deleted == (job == "2" ? 1 : 0))
      #expect(
        try room.rows("code", "parent.code", of: "Country")
          == ["DE-BY-M|DE-BY", "DE-BY|", "DE-HH-A|DE-HH", "DE-HH|"])
    }
  }
}
