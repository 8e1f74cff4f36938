import ManagedObjects
import Testing

@testable import Importing

@Suite("Values of records")
struct RecordValueTests {
  @Test("an attribute without a column, or with an empty cell, has its default", arguments: StoreKind.allCases)
  func defaults(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,grade\na,Ann,\nb,Bob,3\n", job: "1")
    try room.run(
      "{\"code\":\"c\",\"name\":\"C\",\"grade\":null}\n{\"code\":\"d\",\"name\":\"D\"}", as: "b.ndjson", job: "2")
    #expect(try room.rows("code", "grade") == ["a|7", "b|3", "c|7", "d|7"])
  }

  @Test(
    "an empty cell is nil, a quoted one is the empty text where it is a string, and spaces are text",
    arguments: StoreKind.allCases)
  func emptyCells(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,,\n\"\", 2 ,\"\"\n", into: "Seat")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1||", "|2|"])
    try room.run("key,text\n0F8FAD5B-D9CB-469F-A165-70867728950E, x \n", as: "b.csv", into: "Everything", job: "2")
    #expect(try room.rows("text", of: "Everything") == [" x "])
    for (number, text) in [
      "code,name,email\na,\"\",\nb,x,\"\"\n",
      "{\"code\":\"a\",\"name\":\"\",\"email\":null}\n{\"code\":\"b\",\"name\":\"x\",\"email\":\"\"}",
    ].enumerated() {
      let room = try ImportRoom(kind)
      try room.run(text, as: number == 0 ? "a.csv" : "a.ndjson", job: "3")
      let people = try room.context().fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
        [$0.value(forKey: "code"), $0.value(forKey: "name"), $0.value(forKey: "email")]
      }
      let expected: [[Value?]] = [
        [.string("a"), .string(""), .null], [.string("b"), .string("x"), .string("")],
      ]
      #expect(people.sorted { $0[0]?.plainText ?? "" < $1[0]?.plainText ?? "" } == expected)
    }
  }

  @Test("an empty text refers to nothing, quoted or not", arguments: StoreKind.allCases)
  func emptyKeys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try room.run("code,name,boss,country_code\na,A,\"\",\n")
    #expect(end.tally == "1i 0u 0= 0r 0?")
  }

  @Test("a required attribute without a default rejects its record when it is empty", arguments: StoreKind.allCases)
  func required(kind: StoreKind) throws {
    for mode in [ImportMode.insert, .upsert] {
      let room = try ImportRoom(kind)
      try room.furnish(people: ["b"])
      let text =
        "{\"code\":\"a\",\"name\":null}\n{\"code\":\"c\"}\n{\"code\":\"d\",\"name\":\"D\"}\n{\"code\":\"e\",\"name\":\"\"}"
      #expect(try room.run(text, as: "a.ndjson", mode: mode).tally == "2i 0u 0= 2r 0?")
      #expect(try room.rows("code", "name") == ["b|b", "d|D", "e|"])
    }
    let room = try ImportRoom(kind)
    try room.furnish(people: ["b"])
    #expect(try room.run("code,name\nb,\n").tally == "0i 0u 0= 1r 0?")
    #expect(room.refusals() == ["2,name,missing_value"])
    #expect(try room.rows("code", "name") == ["b|b"])
  }

  @Test("dates follow their dateFormat", arguments: StoreKind.allCases)
  func dates(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,birthday\na,A,29.02.2024\nb,B,2024-02-29\nc,C,30.02.2024\n"
    #expect(try room.run(text).tally == "1i 0u 0= 2r 0?")
    #expect(try room.rows("born") == ["2024-02-29 00:00:00"])
    #expect(room.refusals() == ["3,born,not_a_date", "4,born,not_a_date"])
    #expect(room.rejects()?.contains("born: “2024-02-29” isn't a date; expected Date in the format dd.MM.yyyy") == true)
  }

  @Test("what the model's bounds don't allow is a reject and no failure", arguments: StoreKind.allCases, [1, 100])
  func validation(kind: StoreKind, batch: Int) throws {
    let rows = [
      "code,name,age,nick", "a,A,0,ab", "b,B,-1,", "c,C,151,", "d,D,150,abcdef", "e,E,1,a", "f,F,1,abcdefg",
      "g,G,1,a1b",
      "h,H,40000,", "i,I,1,",
    ]
    for mode in ImportMode.inserting {
      let room = try ImportRoom(kind)
      let end = try room.run(rows.joined(separator: "\n"), mode: mode, batch: batch)
      #expect(end.tally == "3i 0u 0= 6r 0?")
      #expect(
        room.refusals() == [
          "3,age,below_minimum", "4,age,above_maximum", "6,nick,too_short", "7,nick,too_long", "8,nick,no_match",
          "9,age,out_of_range",
        ])
      #expect(try room.rows("code") == ["a", "d", "i"])
    }
  }

  @Test("an update that breaks a bound leaves the object as it was", arguments: StoreKind.allCases)
  func invalidUpdate(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"])
    try room.run("code,name,age,nick,country_code\na,Ann,1,ann,\nb,Bob,1,bob,DE\n", job: "1")
    let saves = Saves(of: room.coordinator)
    let text = "code,name,age,nick,country_code,boss\na,Anna,200,anna,DE,b\nb,Bobby,2,X,,a\n"
    #expect(try room.run(text, as: "b.csv", job: "2").tally == "0i 0u 0= 2r 0?")
    #expect(saves.count(of: "Person") == 0)
    #expect(
      try room.rows("code", "name", "age", "nick", "country.code", "boss.code")
        == ["a|Ann|1|ann||", "b|Bob|1|bob|DE|"])
    #expect(try room.rows("people", of: "Country") == ["1 object(s)"])
  }

  @Test("what doesn't convert is a reject with attribute and text", arguments: StoreKind.allCases)
  func conversion(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let key = "0F8FAD5B-D9CB-469F-A165-70867728950"
    let text = """
      key,small,large,exact,double,flag,day,unix,data
      \(key)0,x,,,,,,,
      \(key)1,32768,,,,,,,
      \(key)2,,1.5,,,,,,
      \(key)3,,,1e,,,,,
      \(key)4,,,,one,,,,
      \(key)5,,,,,maybe,,,
      \(key)6,,,,,,2024-13-01,,
      \(key)7,,,,,,,soon,
      \(key)8,,,,,,,,%%%
      nokey,,,,,,,,
      """
    #expect(try room.run(text, into: "Everything").tally == "0i 0u 0= 10r 0?")
    #expect(
      room.refusals() == [
        "2,small,not_an_integer", "3,small,out_of_range", "4,large,not_an_integer", "5,exact,not_a_number",
        "6,double,not_a_number", "7,flag,not_a_boolean", "8,day,not_a_date", "9,unix,not_a_date", "10,data,not_base64",
        "11,key,not_a_uuid",
      ])
    for text in ["x", "32768", "1.5", "1e", "one", "maybe", "2024-13-01", "soon", "%%%", "nokey"] {
      #expect(room.rejects()?.contains("“\(text)”") == true)
    }
  }
}
