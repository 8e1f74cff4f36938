import ManagedObjects
import Testing

@testable import Importing

@Suite("References")
struct ReferenceTests {
  static let batches = [1, 2, 3, 100]

  @Test("are found by relatedByAttribute in the store", arguments: StoreKind.allCases, batches)
  func toTheStore(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    let text = "code,name,country_code\na,Ann,DE\nb,Bob,FR\nc,Cleo,DE\nd,Dan,\n"
    #expect(try room.run(text, batch: batch).tally == "4i 0u 0= 0r 0?")
    #expect(try room.rows("code", "country.code") == ["a|DE", "b|FR", "c|DE", "d|"])
    let germany = try #require(try room.country("DE"))
    guard case .objects(let people)? = germany.value(forKey: "people") else { throw Missing() }
    #expect(people.count == 2)
  }

  @Test("lead to rows of the same file, before and after and itself", arguments: StoreKind.allCases, batches)
  func withinTheFile(kind: StoreKind, batch: Int) throws {
    for mode in ImportMode.inserting {
      let room = try ImportRoom(kind)
      let text = "code,name,boss\na,Ann,c\nb,Bob,a\nc,Cleo,c\nd,Dan,e\ne,Eve,d\n"
      #expect(try room.run(text, mode: mode, batch: batch).tally == "5i 0u 0= 0r 0?")
      #expect(try room.rows("code", "boss.code") == ["a|c", "b|a", "c|c", "d|e", "e|d"])
      #expect(try room.count(of: ImportModel.referenceEntity) == 0)
    }
  }

  @Test("are made of several columns by a template", arguments: StoreKind.allCases, batches)
  func byTemplate(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,land,part\nDE,,\nDE-BY,,\nDE-BY-M,DE,BY\nDE-N,DE,X\nDE-Y,DE,\n"
    #expect(try room.run(text, into: "Country", batch: batch).tally == "5i 0u 0= 0r 1?")
    #expect(
      try room.rows("code", "parent.code", of: "Country")
        == ["DE-BY-M|DE-BY", "DE-BY|", "DE-N|", "DE-Y|", "DE|"].sorted())
  }

  @Test("to nothing are left nil, counted and noted", arguments: StoreKind.allCases, batches)
  func toNothing(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text =
      "code,name,country_code,boss\n" + (1...5).map { "a\($0),Ann,X\($0),\n" }.joined() + "b,Bob,,zz\nc,Cy,,zz\n"
    let end = try room.run(text, batch: batch)
    #expect(end.tally == "7i 0u 0= 0r 7?")
    #expect(try room.rows("country", "boss") == Array(repeating: "|", count: 7))
    #expect(
      end.notes == [
        "2 reference(s) of boss lead nowhere and were left empty, such as “zz”",
        "5 reference(s) of country lead nowhere and were left empty, such as “X1”, “X2”, “X3”",
      ])
    #expect(room.rejects() == nil)
  }

  @Test("that are required and lead nowhere are rejects, as are empty ones", arguments: StoreKind.allCases, batches)
  func required(kind: StoreKind, batch: Int) throws {
    for mode in ImportMode.inserting {
      let room = try ImportRoom(kind)
      try room.furnish(people: ["a"])
      let text = "id,text,owner\n1,one,a\n2,two,zz\n3,three,\n4,four,a\n"
      #expect(try room.run(text, into: "Badge", mode: mode, batch: batch).tally == "2i 0u 0= 2r 0?")
      #expect(try room.rows("id", "owner.code", of: "Badge") == ["1|a", "4|a"])
      #expect(room.refusals() == ["3,owner,no_such_object", "4,owner,missing_value"])
      #expect(room.rejects()?.contains("there is no Person with code “zz”, which owner needs") == true)
    }
  }

  @Test("are cleared by an empty cell, and by a key that leads nowhere", arguments: StoreKind.allCases, batches)
  func cleared(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"])
    try room.run("code,name,country_code,boss\na,Ann,DE,\nb,Bob,DE,a\nc,Cleo,DE,a\n", job: "1")
    let end = try room.run(
      "code,name,country_code,boss\na,Ann,DE,\nb,Bob,,\nc,Cleo,XX,zz\n", as: "b.csv", batch: batch, job: "2")
    #expect(end.tally == "0i 2u 1= 0r 2?")
    #expect(try room.rows("code", "country.code", "boss.code") == ["a|DE|", "b||", "c||"])
  }

  @Test(
    "changed by a later record of the same object are not set by the earlier", arguments: StoreKind.allCases, batches)
  func overtaken(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = """
      {"code":"a","name":"Ann","boss":"z"}
      {"code":"b","name":"Bob","boss":"z"}
      {"code":"c","name":"Cleo","boss":"z"}
      {"code":"d","name":"Dan","boss":"z"}
      {"code":"a","boss":null}
      {"code":"b","boss":"c"}
      {"code":"c","age":3}
      {"code":"d","boss":"y"}
      {"code":"z","name":"Zoe"}
      {"code":"y","name":"Yen"}
      """
    let end = try room.run(text, as: "a.ndjson", batch: batch)
    // Ann, Bob and Dan had no boss yet: only setting Bob's changed anything at once, and Dan's at the end.
    #expect(end.tally == "6i 3u 1= 0r 0?")
    #expect(try room.rows("code", "boss.code") == ["a|", "b|c", "c|z", "d|y", "y|", "z|"])
  }

  @Test("set at the end of the file count as changes of rows that had none", arguments: StoreKind.allCases, batches)
  func countedAtTheEnd(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c"])
    // a and b change by their boss alone, c by its name too, and its boss isn't anybody.
    let end = try room.run("code,name,boss\na,a,z\nb,b,z\nc,Cleo,zz\nz,Zoe,\n", batch: batch)
    #expect(end.tally == "1i 3u 0= 0r 1?")
    #expect(
      try room.run("code,name,boss\na,a,z\nb,b,z\nc,Cleo,zz\nz,Zoe,\n", batch: batch, job: "2").tally
        == "0i 0u 4= 0r 1?")
  }

  @Test(
    "that are required may lead to a later row of the batch, and must lead somewhere", arguments: StoreKind.allCases)
  func requiredWithinBatch(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "id,root\n3,2\n2,1\n1,1\n5,4\n6,7\n7,6\n"
    let end = try room.run(text, into: "Node")
    #expect(end.tally == "3i 0u 0= 3r 0?")
    #expect(try room.rows("id", "root.id", of: "Node") == ["1|1", "2|1", "3|2"])
    #expect(room.refusals() == ["5,root,no_such_object", "6,root,no_such_object", "7,root,no_such_object"])
  }

  @Test("go by the keys that objects have at that record", arguments: StoreKind.allCases, batches)
  func changingKeys(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("id,root,alias\n1,1,A\n2,2,B\n", into: "Node", job: "1")
    let text = "id,root,alias,buddy\n3,3,,A\n1,1,C,\n2,2,A,\n4,4,,A\n5,5,,C\n6,6,,B\n"
    #expect(try room.run(text, as: "b.csv", into: "Node", batch: batch, job: "2").tally == "4i 2u 0= 0r 1?")
    #expect(
      try room.rows("id", "alias", "buddy.id", of: "Node") == ["1|C|", "2|A|", "3||1", "4||2", "5||1", "6||"])
  }

  @Test("by a date go by the key's own format, also when they wait", arguments: StoreKind.allCases, batches)
  func byDate(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "day,note,previous\n20240102,b,20240103\n20240101,a,20240102\n20240103,c,20230101\n"
    #expect(try room.run(text, into: "Visit", batch: batch).tally == "3i 0u 0= 0r 1?")
    #expect(try room.rows("note", "previous.note", of: "Visit") == ["a|b", "b|c", "c|"])
  }

  @Test("with a key that doesn't convert are rejects with column and text", arguments: StoreKind.allCases)
  func badKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    try room.run("id,owner,next\n1,a,x7\n", into: "Badge")
    #expect(room.refusals() == ["2,next,not_an_integer"])
    #expect(room.rejects()?.contains("“x7” isn't a whole number") == true)
  }

  @Test("one to one are kept at both ends", arguments: StoreKind.allCases, batches)
  func oneToOne(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("id,left\n1,\n2,1\n3,\n4,3\n", into: "Shoe", batch: batch, job: "1")
    #expect(try room.rows("id", "left.id", "right.id", of: "Shoe") == ["1||2", "2|1|", "3||4", "4|3|"])
    // 4 takes 1 away from 2, but with a bad size it doesn't.
    let end = try room.run("id,left,size\n2,1,40\n4,1,400\n", as: "b.csv", into: "Shoe", batch: batch, job: "2")
    #expect(end.tally == "0i 1u 0= 1r 0?")
    #expect(try room.rows("id", "left.id", "right.id", of: "Shoe") == ["1||2", "2|1|", "3||4", "4|3|"])
    #expect(try room.run("id,left\n4,1\n", as: "c.csv", into: "Shoe", job: "3").counts.updated == 1)
    #expect(try room.rows("id", "left.id", "right.id", of: "Shoe") == ["1||4", "2||", "3||", "4|1|"])
  }

  struct Missing: Error {}
}

extension ImportRoom {
  /// A country, as an object of a context that lives on with it.
  fileprivate func country(_ code: String) throws -> ManagedObject? {
    looking = context()
    return try looking?.fetch(
      FetchRequest<ManagedObject>(entityName: "Country", predicate: .equal("code", .string(code)))
    ).first
  }
}
