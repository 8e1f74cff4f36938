import ManagedObjects
import Testing

@testable import Importing

@Suite("Replace")
struct ReplaceTests {
  @Test("leaves the file's records and nothing else", arguments: StoreKind.allCases, [1, 2, 100])
  func replaces(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c", "d"])
    let saves = Saves(of: room.coordinator)
    let end = try room.run("code,name\nc,Cleo\ne,Eve\nb,b\n", mode: .replace, batch: batch)
    #expect(end.tally == "1i 1u 1= 0r 0?")
    #expect(end.counts.deleted == 2)
    #expect(try room.rows("code", "name") == ["b|b", "c|Cleo", "e|Eve"])
    #expect(saves.count(of: "Person") == 4)
    #expect(try room.count(of: ImportModel.referenceEntity) == 0)
  }

  @Test("of the same file again writes no row and announces none")
  func again() throws {
    let room = try PeopleSample.room(.sqlite)
    let text = "code,name,boss,country_code\np1,Ann,p4,DE\np4,Dan,,\np2,p2,p1,\n"
    try room.run(text, mode: .replace, batch: 2, job: "1")
    let saves = Saves(of: room.coordinator)
    let watch = try RowWatch(room.database, table: "Person")
    let end = try room.run(text, as: "b.csv", mode: .replace, batch: 2, job: "2")
    #expect(end.counts.deleted == 0)
    #expect(saves.count(of: "Person") == 0)
    #expect(try watch.writes() == [])
    #expect(try room.rows("code", "boss.code", "country.code") == ["p1|p4|DE", "p2|p1|", "p4||"])
  }

  @Test("makes of what the file doesn't say what a new object has", arguments: StoreKind.allCases, [1, 100])
  func rest(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"], people: ["b"])
    try room.run("code,name,age,grade,country_code,boss\na,Ann,40,3,DE,b\n", job: "1")
    let end = try room.run(
      "[{\"code\":\"a\",\"name\":\"Ann\"},{\"code\":\"b\",\"name\":\"b\",\"boss\":\"a\"}]", as: "b.json",
      mode: .replace, batch: batch, job: "2")
    #expect(end.tally == "0i 2u 0= 0r 0?")
    #expect(
      try room.rows("code", "age", "grade", "country.code", "boss.code") == ["a||7||", "b||7||a"])
  }

  @Test("keeps others' references to a key that comes again", arguments: StoreKind.allCases, [1, 100])
  func references(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR", "IT"])
    try room.run("code,name,country_code\na,Ann,DE\nb,Bob,FR\nc,Cleo,IT\n", job: "1")
    try room.run("id,text,owner\n1,one,a\n", as: "b.csv", into: "Badge", job: "2")
    let end = try room.run(
      "code,name\nES,Spain\nDE,Germany\nFR,\n", as: "c.csv", into: "Country", mode: .replace, batch: batch, job: "3")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "country.name") == ["a|Germany", "b|", "c|"])
    #expect(try room.rows("code", "country.code") == ["a|DE", "b|FR", "c|"])
    try room.run("code,name\na,Anna\n", as: "d.csv", mode: .replace, batch: batch, job: "4")
    #expect(try room.rows("owner.name", of: "Badge") == ["Anna"])
    let numbered = "id,text,owner\n1,eins,a\n"
    try room.run(numbered, as: "e.csv", into: "Badge", mode: .replace, batch: batch, job: "5")
    #expect(try room.rows("id", "text", of: "Badge") == ["1|eins"])
  }

  @Test(
    "takes references within the file to records of the file only", arguments: StoreKind.allCases, [1, 2, 100])
  func ownReferences(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "old", "c"])
    let text = "code,name,boss\na,Ann,c\nb,Bob,old\nc,Cleo,c\nd,Dan,a\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "1i 3u 0= 0r 1?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "boss.code") == ["a|c", "b|", "c|c", "d|a"])
    try room.run("id,root\n1,1\n2,2\n", as: "b.csv", into: "Node", job: "2")
    let nodes = try room.run(
      "id,root\n3,1\n1,2\n2,2\n4,9\n", as: "c.csv", into: "Node", mode: .replace, batch: batch, job: "3")
    #expect((nodes.counts.inserted, nodes.counts.rejected, nodes.counts.deleted) == (1, 1, 0))
    #expect(try room.rows("id", "root.id", of: "Node") == ["1|2", "2|2", "3|1"])
  }

  @Test("rejects records of a key that the file had before", arguments: StoreKind.allCases, [1, 2, 100])
  func duplicates(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "x"])
    let end = try room.run("code,name\na,Ann\nb,Bob\na,Anna\nb,Bobby\n", mode: .replace, batch: batch)
    #expect(end.tally == "1i 1u 0= 2r 0?")
    #expect(try room.rows("code", "name") == ["a|Ann", "b|Bob"])
    #expect(room.refusals() == ["4,code,duplicate_key", "5,code,duplicate_key"])
  }

  @Test("keeps the objects of rejected records as they are", arguments: StoreKind.allCases, [1, 2, 100])
  func rejected(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c", "d"])
    let text = "code,name,age\na,Ann,1\nb,Bob,old\nc,,3\n"
    let end = try room.run(text, mode: .replace, batch: batch)
    #expect(end.tally == "0i 1u 0= 2r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "name", "age") == ["a|Ann|1", "b|b|", "c|c|"])
    try room.run("row,number,price\n1,1,1\n2,2,2\n", into: "Seat", job: "2")
    let unknown = try room.run("row,number,price\n1,1,5\nx,2,2\n", as: "b.csv", into: "Seat", mode: .replace, job: "3")
    #expect(unknown.tally == "0i 1u 0= 1r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|5", "2|2|2"])
    #expect(unknown.notes.contains { $0.hasPrefix("nothing was deleted: 1 rejected record(s)") })
  }

  @Test("lets objects pass unique values on to each other", arguments: StoreKind.allCases, [1, 2, 100])
  func uniqueValues(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,email\na,A,a@x\nb,B,b@x\nc,C,c@x\nd,D,d@x\n", job: "1")
    let text = "code,name,email\na,A,b@x\nb,B,a@x\nc,C,d@x\ne,E,c@x\nf,F,c@x\n"
    let end = try room.run(text, as: "b.csv", mode: .replace, batch: batch, job: "2")
    #expect((end.counts.inserted, end.counts.updated, end.counts.rejected, end.counts.deleted) == (1, 3, 1, 1))
    #expect(try room.rows("code", "email") == ["a|b@x", "b|a@x", "c|d@x", "e|c@x"])
    #expect(room.refusals("2") == ["6,email,duplicate_key"])
  }

  @Test("of an entity without a key takes all away and inserts all", arguments: StoreKind.allCases, [1, 100])
  func keyless(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("day,note\n20240131,a\n20240201,b\n20240201,b\n", into: "Visit", job: "1")
    let end = try room.run(
      "day,note,previous\n20240201,b,20240131\n20240202,c,20240201\n", as: "b.csv", into: "Visit", mode: .replace,
      batch: batch, job: "2")
    #expect(end.tally == "2i 0u 0= 0r 1?")
    #expect(end.counts.deleted == 3)
    #expect(try room.rows("note", "previous.note", of: "Visit") == ["b|", "c|b"])
  }

  @Test("takes a file without the key's columns, and records with a part of it missing", arguments: StoreKind.allCases)
  func partialKeys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,1,1\n1,,2\n", into: "Seat", job: "1")
    let partial = try room.run("row,number,price\n1,1,1\n1,,2\n", as: "b.csv", into: "Seat", mode: .replace, job: "2")
    #expect(partial.tally == "1i 0u 1= 0r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|1", "1||2"])
    let none = try room.run("price\n5\n6\n", as: "c.csv", into: "Seat", mode: .replace, job: "3")
    #expect((none.counts.inserted, none.counts.deleted) == (2, 2))
    #expect(try room.rows("row", "price", of: "Seat") == ["|5", "|6"])
  }

  @Test("of a file that would leave nothing fails, and changes nothing", arguments: StoreKind.allCases)
  func empty(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b"])
    // The object of a rejected record would stay.
    for (text, count) in [("code,name\n", 2), ("code,name,age\nx,Xav,200\na,Ann,x\n", 1)] {
      let failure = try room.failure(text, as: "\(count).csv", mode: .replace, job: "\(count)")
      guard case MappingError.wouldDeleteAll(entity: "Person", count: count, mode: .replace, _)? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(try room.rows("code", "name") == ["a|a", "b|b"])
    }
    room.adjust = { $0.allowsEmpty = true }
    let end = try room.run("code,name\n", as: "c.csv", mode: .replace, job: "3")
    #expect(end.counts.deleted == 2)
    #expect(try room.count(of: "Person") == 0)
  }

  @Test("fails when others need what would go, and changes nothing", arguments: StoreKind.allCases, [1, 100])
  func needed(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c"])
    try room.run("id,text,owner\n1,one,b\n", into: "Badge", job: "1")
    let failure = try room.failure("code,name\na,Ann\n", as: "b.csv", mode: .replace, batch: batch, job: "2")
    guard case MappingError.cannotReplace(entity: "Person", count: 1, examples: ["“b”"])? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(try room.rows("code", "name") == ["a|a", "b|b", "c|c"])
    #expect(try room.rows("owner.code", of: "Badge") == ["b"])
  }

  @Test("leaves alone objects of entities that inherit from the one imported", arguments: StoreKind.allCases)
  func inheritance(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("code,wood\nc1,oak\nc2,fir\n", into: "Crate", job: "1")
    try room.run("code,text\nb1,one\nb2,two\n", as: "b.csv", into: "Box", job: "2")
    let end = try room.run("code,text\nb2,two\nc2,new\n", as: "c.csv", into: "Box", mode: .replace, job: "3")
    #expect(end.tally == "0i 0u 1= 1r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "text", of: "Box") == ["b2|two", "c1|", "c2|"])
  }

  @Test("is seen by others before its end by nothing at all", arguments: StoreKind.allCases)
  func swap(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b"])
    let text = "code,name\n" + (0..<9).map { "n\($0),New\n" }.joined()
    let stopped = try room.run(text, mode: .replace, batch: 2, stopAfter: 3)
    #expect(!stopped.isFinished)
    #expect(try room.rows("code") == ["a", "b"])
    #expect(try room.run(text, mode: .replace, batch: 2).counts.inserted == 9)
    #expect(try room.count(of: "Person") == 9)
  }

  @Test("leaves what one run leaves, at whichever write it is killed", arguments: StoreKind.allCases, [2, 100])
  func killed(kind: StoreKind, batch: Int) throws {
    try Killing.everyWrite(
      kind,
      furnish: { try $0.furnish(countries: ["DE", "FR"], people: ["p1", "old", "p2", "older", "p3"]) },
      run: { room in
        try room.run(
          "code,name,age,country_code,boss\np9,Ida,1,DE,p3\np1,Ann,x,,\np3,Cleo,2,,p9\np2,p2,,,old\np4,Dan,200,,\n",
          mode: .replace, batch: batch)
      },
      traces: { room, end in
        #expect(end.counts.deleted == 2)
        return [
          try room.rows("code", "name", "boss.code", "country.code"), [end.tally, room.rejects() ?? ""],
          [String(try room.count(of: ImportModel.referenceEntity))],
        ]
      })
  }
}
