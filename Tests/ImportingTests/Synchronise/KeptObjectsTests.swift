import ManagedObjects
import Testing

@testable import Importing

@Suite("Objects that the file doesn't have")
struct KeptObjectsTests {
  private func room(_ kind: StoreKind, shelves: [String], boxes: [(String, shelf: String)] = []) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    let context = room.context()
    var known: [String: ManagedObject] = [:]
    for code in shelves {
      let shelf = try context.insert("Shelf")
      try shelf.setValue(.string(code), forKey: "code")
      known[code] = shelf
    }
    for (code, shelf) in boxes {
      let box = try context.insert("Box")
      try box.setValue(.string(code), forKey: "code")
      try box.setValue(.object(#require(known[shelf]).objectID), forKey: "shelf")
      let part = try context.insert("Part")
      try part.setValue(.string(code), forKey: "code")
      try part.setValue(.object(box.objectID), forKey: "box")
    }
    try context.save()
    return room
  }

  @Test(
    "stay if a delete rule denies their deletion, and the job notes them", arguments: StoreKind.allCases, [1, 3, 100])
  func denied(kind: StoreKind, batch: Int) throws {
    let room = try room(
      kind, shelves: ["a", "b", "c", "d", "e", "f"], boxes: [("1", "b"), ("2", "d"), ("3", "e"), ("4", "f")])
    let end = try room.run("code,text\na,new\n", into: "Shelf", mode: .synchronise, batch: batch)
    #expect(end.tally == "0i 1u 0= 0r 0?")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", of: "Shelf") == ["a", "b", "d", "e", "f"])
    #expect(
      end.notes.last
        == "4 Shelf that the file doesn't have stay, since others need them, such as “b”, “d”, “e”")
    #expect(try room.count(of: "Box") == 4)
  }

  @Test("stay when others can't do without them", arguments: StoreKind.allCases, [1, 100])
  func required(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c"])
    try room.run("id,text,owner\n1,one,b\n2,two,b\n", into: "Badge", job: "1")
    let end = try room.run("code,name\na,Ann\n", as: "b.csv", mode: .synchronise, batch: batch, job: "2")
    #expect(end.counts.deleted == 1)
    #expect(try room.rows("code", "name") == ["a|Ann", "b|b"])
    #expect(try room.rows("id", "owner.code", of: "Badge") == ["1|b", "2|b"])
    #expect(end.notes == ["1 Person that the file doesn't have stay, since others need them, such as “b”"])
  }

  @Test("go when what needs them goes too, in whichever order they stand", arguments: StoreKind.allCases, [1, 2, 100])
  func chain(kind: StoreKind, batch: Int) throws {
    let room = try room(kind, shelves: ["a", "b", "c", "d", "e"])
    let context = room.context()
    let shelves = try context.fetch(FetchRequest<ManagedObject>(entityName: "Shelf"))
      .sorted { $0.objectID.number < $1.objectID.number }
    // Each is needed by the next but one, so it can be deleted only after that one.
    for index in 0..<3 { try shelves[index].setValue(.object(shelves[index + 2].objectID), forKey: "before") }
    try context.save()
    let end = try room.run("code\nz\n", into: "Shelf", mode: .synchronise, batch: batch)
    #expect(end.counts.deleted == 5)
    #expect(end.notes.isEmpty)
    #expect(try room.rows("code", of: "Shelf") == ["z"])
  }

  @Test("that need themselves or each other go together", arguments: StoreKind.allCases, [1, 100])
  func nodes(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("id,root\n1,1\n2,2\n3,2\n4,1\n", into: "Node", job: "1")
    let end = try room.run("id,root\n1,1\n", as: "b.csv", into: "Node", mode: .synchronise, batch: batch, job: "2")
    #expect(end.counts.deleted == 3)
    #expect(try room.rows("id", of: "Node") == ["1"])
  }

  @Test("take along what hangs on them, which isn't counted", arguments: StoreKind.allCases)
  func cascade(kind: StoreKind) throws {
    let room = try room(kind, shelves: ["a"], boxes: [("1", "a"), ("2", "a"), ("3", "a")])
    let end = try room.run("code\n2\n", into: "Box", mode: .synchronise)
    #expect(end.counts.deleted == 2)
    #expect(try room.rows("code", of: "Part") == ["2"])
  }

  @Test(
    "are deleted and counted once, at whichever write the job is killed", arguments: StoreKind.allCases, [1, 2, 5])
  func killed(kind: StoreKind, batch: Int) throws {
    try Killing.everyWrite(
      kind,
      furnish: { room in
        try room.furnish(countries: ["DE", "FR"], people: ["p1", "old", "p2", "older", "needed", "oldest"])
        try room.run("id,text,owner\n1,one,needed\n", into: "Badge", job: "0")
      },
      run: { room in
        try room.run(
          "code,name,age,country_code,boss\np9,Ida,1,DE,p3\np1,Ann,x,,\np3,Cleo,2,,p1\np2,p2,,,p9\np4,Dan,200,,\n",
          mode: .synchronise, batch: batch)
      },
      traces: { room, end in
        #expect(end.counts.deleted == 3)
        // One that was killed after its last commit has nothing to tell any more.
        #expect(end.notes.last?.contains("“needed”") ?? true)
        return [
          try room.rows("code", "name", "boss.code", "country.code"), [end.tally, room.rejects() ?? ""],
          [String(try room.count(of: ImportModel.referenceEntity))],
        ]
      })
  }

  @Test("are deleted also when the job is stopped at every question", arguments: StoreKind.allCases)
  func stopped(kind: StoreKind) throws {
    for asking in 1..<20 {
      let room = try ImportRoom(kind)
      try room.furnish(people: (0..<12).map { "old\($0)" })
      let text = "code,name\n" + (0..<4).map { "old\($0),new\n" }.joined()
      var end = try room.run(text, mode: .synchronise, batch: 3, stopAtAsking: asking)
      if !end.isFinished {
        try room.reopen()
        end = try room.run(text, mode: .synchronise, batch: 3)
      }
      #expect(end.tally == "0i 4u 0= 0r 0?")
      #expect(end.counts.deleted == 8)
      #expect(try room.rows("code", "name") == (0..<4).map { "old\($0)|new" })
    }
  }
}
