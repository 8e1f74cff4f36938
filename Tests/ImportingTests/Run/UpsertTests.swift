import ManagedObjects
import Testing

@testable import Importing

@Suite("Upsert")
struct UpsertTests {
  @Test("is the way when the entity has a key, and finds objects by it", arguments: StoreKind.allCases)
  func singleKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b"])
    let end = try room.run("code,name,age\na,Ann,1\nc,Cleo,3\n")
    #expect(end.tally == "1i 1u 0= 0r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Ann|1", "b|b|", "c|Cleo|3"])
  }

  @Test("of the same file again changes nothing and writes no row", arguments: PeopleSample.allCases)
  func secondRun(sample: PeopleSample) throws {
    let room = try PeopleSample.room(.sqlite)
    try room.run(sample.text, as: sample.name, job: "1")
    // The sample says different things of one object; what it says last is what a second file has.
    let last =
      "code,name,age,country_code,boss\np1,Ann,40,FR,pg\np9,Ida,60,,p3\npd,Lou,2,,p1\np4,\"Dan\niel \"\"D\"\"\",50,,p1\n"
    let before = try room.rows("code", "name", "age", "country.code", "boss.code", "email")
    let saves = Saves(of: room.coordinator)
    let watch = try RowWatch(room.database, table: "Person")
    let end = try room.run(last, as: "b.csv", batch: 3, job: "2")
    #expect(end.tally == "0i 0u 4= 0r 0?")
    #expect(saves.count(of: "Person") == 0)
    #expect(saves.count(of: "Country") == 0)
    #expect(try watch.writes() == [])
    #expect(try room.rows("code", "name", "age", "country.code", "boss.code", "email") == before)
  }

  @Test(
    "with references that lead nowhere changes nothing the second time, and says so again",
    arguments: StoreKind.allCases)
  func secondRunWithLostReferences(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,boss\na,Ann,zz\nb,Bob,c\nc,Cleo,a\n"
    #expect(try room.run(text, batch: 1, job: "1").tally == "3i 0u 0= 0r 1?")
    let saves = Saves(of: room.coordinator)
    #expect(try room.run(text, batch: 1, job: "2").tally == "0i 0u 3= 0r 1?")
    #expect(saves.count(of: "Person") == 0)
    #expect(try room.rows("code", "boss.code") == ["a|", "b|c", "c|a"])
  }

  @Test("of every type of value again changes nothing", arguments: StoreKind.allCases)
  func everyType(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let columns = "key,small,large,exact,double,float,flag,day,unix,data,link,text\n"
    let text =
      columns
      + "0F8FAD5B-D9CB-469F-A165-70867728950E,-5,9007199254740993,0.1,0.1,1.1,yes,2024-02-29T12:34:56.789Z,"
      + "1700000000,aGVsbG8=,https://a.example/x?y=1,\"a, \"\"b\"\"\"\n"
      + "7c9e6679-7425-40de-944b-e07fc1f90ae7,,,12345678901234567890.123456789,1e300,3.4e38,f,1999-12-31,"
      + "1700000000.123,,,\n"
    #expect(try room.run(text, into: "Everything", job: "1").tally == "2i 0u 0= 0r 0?")
    let saves = Saves(of: room.coordinator)
    #expect(try room.run(text, into: "Everything", job: "2").tally == "0i 0u 2= 0r 0?")
    #expect(saves.count(of: "Everything") == 0)
  }

  @Test("finds objects by a compound key", arguments: StoreKind.allCases, [1, 2, 100])
  func compoundKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    #expect(
      try room.run("row,number,price\n1,1,10\n1,2,20\n2,1,30\n", into: "Seat", batch: batch, job: "1").tally
        == "3i 0u 0= 0r 0?")
    #expect(
      try room.run("price,number,row\n11,1,1\n20,2,1\n40,2,2\n", into: "Seat", batch: batch, job: "2").tally
        == "1i 1u 1= 0r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|11", "1|2|20", "2|1|30", "2|2|40"])
  }

  @Test("finds thousands of compound keys, and none besides", arguments: StoreKind.allCases)
  func manyCompoundKeys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    var dice = Lot(seed: 7)
    let all = (0..<40).flatMap { row in (0..<40).map { (row, $0) } }
    func text(_ seats: [(Int, Int)], price: Int) -> String {
      "row,number,price\n" + seats.map { "\($0.0),\($0.1),\(price)\n" }.joined()
    }
    try room.run(text(all, price: 1), into: "Seat", job: "1")
    // Most rows and most numbers, but a few of the seats.
    let some = all.filter { _ in dice.draw(10) == 0 }
    #expect(try room.run(text(some, price: 2), into: "Seat", job: "2").counts.updated == Int64(some.count))
    let changed = try room.rows("row", "number", "price", of: "Seat").filter { $0.hasSuffix("|2") }
    #expect(changed == some.map { "\($0.0)|\($0.1)|2" }.sorted())
  }

  @Test("takes a key with a part missing for a new object each time", arguments: StoreKind.allCases, [1, 100])
  func partialKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "row,number,price\n1,,10\n1,,10\n,1,5\n"
    #expect(try room.run(text, into: "Seat", batch: batch, job: "1").tally == "3i 0u 0= 0r 0?")
    #expect(try room.run(text, into: "Seat", batch: batch, job: "2").tally == "3i 0u 0= 0r 0?")
    #expect(try room.count(of: "Seat") == 6)
  }

  @Test(
    "leaves alone what a JSON record doesn't mention, and clears nulls", arguments: StoreKind.allCases, [1, 100])
  func partialRecords(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"], people: ["b"])
    try room.run("code,name,age,nick,country_code,boss\na,Ann,40,ann,DE,b\n", job: "1")
    let saves = Saves(of: room.coordinator)
    #expect(try room.run("[{\"code\":\"a\"}]", as: "b.json", batch: batch, job: "2").tally == "0i 0u 1= 0r 0?")
    #expect(saves.count(of: "Person") == 0)
    let text =
      "{\"code\":\"a\",\"age\":41}\n{\"code\":\"a\",\"nick\":null,\"country_code\":null}\n{\"code\":\"c\",\"name\":\"C\"}\n"
    #expect(try room.run(text, as: "c.ndjson", batch: batch, job: "3").tally == "1i 2u 0= 0r 0?")
    #expect(
      try room.rows("code", "name", "age", "nick", "country.code", "boss.code", "grade")
        == ["a|Ann|41|||b|7", "b|b|||||7", "c|C|||||7"])
  }

  @Test("takes two records of one key in the order of the file", arguments: StoreKind.allCases, [1, 2, 100])
  func sameKeyTwice(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age\na,Ann,1\nb,Bob,1\na,Anna,2\na,Anna,2\nb,Bob,-1\na,Hannah,3\n"
    let end = try room.run(text, batch: batch)
    // Ann was inserted, became Anna, stayed so, and became Hannah; Bob's second record is no reason to lose the first.
    #expect(end.tally == "2i 2u 1= 1r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Hannah|3", "b|Bob|1"])
    #expect(room.refusals() == ["6,age,below_minimum"])
  }

  @Test("finds each JSON record by the first key that it has whole", arguments: StoreKind.allCases, [1, 2, 100])
  func keyByRecord(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = """
      {"code":"a","name":"Ann","email":"a@x"}
      {"email":"a@x","age":5}
      {"name":"nobody"}
      {"email":"b@x","name":"Bea"}
      {"email":"b@x","age":6}
      """
    let end = try room.run(text, as: "a.ndjson", batch: batch)
    #expect(end.tally == "2i 2u 0= 1r 0?")
    #expect(try room.rows("code", "name", "email", "age") == ["a|Ann|a@x|5", "|Bea|b@x|6"].sorted())
    #expect(room.rejects()?.contains("\"line\":3,\"column\":\"\",\"code\":\"no_key\"") == true)
  }

  @Test(
    "rejects the record that clashes in another key, and keeps the others", arguments: StoreKind.allCases, [1, 2, 100])
  func clashInAnotherKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,email\na,Ann,a@x\nb,Bob,b@x\n", job: "1")
    let text = "code,name,email\na,Anna,b@x\nb,Bobby,b@x\nc,Cleo,a@x\nc,Chloe,c@x\nb,Bo,a@x\nb,Bo,b2@x\n"
    let end = try room.run(text, as: "b.csv", batch: batch, job: "2")
    #expect(end.tally == "1i 2u 0= 3r 0?")
    #expect(try room.rows("code", "name", "email") == ["a|Ann|a@x", "b|Bo|b2@x", "c|Chloe|c@x"])
    #expect(room.refusals("2") == ["2,email,duplicate_key", "4,email,duplicate_key", "6,email,duplicate_key"])
  }

  @Test("distinguishes keys by their bytes, as the store does", arguments: [1, 100])
  func spelling(batch: Int) throws {
    let room = try ImportRoom(.sqlite)
    let end = try room.run("code,name\ncaf\u{E9},one\ncafe\u{301},two\n", batch: batch)
    #expect(end.tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("name") == ["one", "two"])
  }

  @Test("updates an object that another writer inserted while the batch was made", arguments: StoreKind.allCases)
  func insertedConcurrently(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    room.intrude { context in
      let person = try context.insert("Person")
      try person.setValue(.string("a"), forKey: "code")
      try person.setValue(.string("Other"), forKey: "name")
      try person.setValue(.string("other"), forKey: "nick")
    }
    #expect(try room.run("code,name\na,Ann\nb,Bob\n").tally == "1i 1u 0= 0r 0?")
    #expect(try room.rows("code", "name", "nick") == ["a|Ann|other", "b|Bob|"])
  }

  @Test("merges what another writer changed while the batch was made", arguments: StoreKind.allCases)
  func changedConcurrently(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    room.intrude { context in
      let person = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))[0]
      try person.setValue(.int(9), forKey: "age")
    }
    #expect(try room.run("code,name\na,Ann\n").tally == "0i 1u 0= 0r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Ann|9"])
  }

  @Test("of an entity numbered by an attribute goes by that number", arguments: StoreKind.allCases, [1, 100])
  func primaryKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    let text = "id,text,owner\n7,seven,a\n9,nine,a\n7,siebte,a\n"
    #expect(try room.run(text, into: "Badge", batch: batch, job: "1").tally == "2i 1u 0= 0r 0?")
    #expect(try room.run("id,text,owner\n9,nine,a\n", as: "b.csv", into: "Badge", job: "2").tally == "0i 0u 1= 0r 0?")
    #expect(try room.rows("id", "text", of: "Badge") == ["7|siebte", "9|nine"])
  }
}
