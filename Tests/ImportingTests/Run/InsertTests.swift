import ManagedObjects
import Testing

@testable import Importing

@Suite("Insert")
struct InsertTests {
  @Test("is the way when the entity has no key", arguments: StoreKind.allCases)
  func withoutKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "day,note\n20240131,a\n20240131,a\n"
    #expect(try room.run(text, into: "Visit", job: "1").tally == "2i 0u 0= 0r 0?")
    #expect(try room.run(text, into: "Visit", job: "2").tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("day", "note", of: "Visit").count == 4)
  }

  @Test(
    "rejects what the store has, what the file had, and what the batch has, in the order of the file",
    arguments: StoreKind.allCases, [1, 2, 3, 100])
  func duplicates(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["s", "t"])
    let text = "code,name\na,1\na,2\ns,3\nb,4\n\"c\nc\",5\nt,6\nb,7\nd,8\n\"c\nc\",9\n"
    let end = try room.run(text, mode: .insert, batch: batch)
    #expect(end.tally == "4i 0u 0= 5r 0?")
    #expect(try room.rows("name") == ["1", "4", "5", "8", "s", "t"])
    #expect(
      room.rejects() == """
        lade_line,lade_column,lade_code,lade_message,code,name
        3,code,duplicate_key,there is a Person with code “a” already,a,2
        4,code,duplicate_key,there is a Person with code “s” already,s,3
        8,code,duplicate_key,there is a Person with code “t” already,t,6
        9,code,duplicate_key,there is a Person with code “b” already,b,7
        11,code,duplicate_key,"there is a Person with code “c
        c” already","c
        c",9

        """)
  }

  @Test("of a compound key rejects only the whole key", arguments: StoreKind.allCases, [1, 100])
  func compoundKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let end = try room.run(
      "row,number,price\n1,1,1\n1,2,2\n1,1,3\n1,,4\n1,,5\n", into: "Seat", mode: .insert, batch: batch)
    #expect(end.tally == "4i 0u 0= 1r 0?")
    #expect(try room.rows("price", of: "Seat") == ["1", "2", "4", "5"])
    #expect(
      room.rejects()?.contains("4,\"row, number\",duplicate_key,\"there is a Seat with row, number “1, 1”") == true)
  }

  @Test("of an entity numbered by an attribute rejects a number given before", arguments: StoreKind.allCases, [1, 100])
  func primaryKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    let text = "id,text,owner\n7,a,a\n8,b,a\n7,c,a\n8,d,a\n9,e,a\n"
    #expect(try room.run(text, into: "Badge", mode: .insert, batch: batch).tally == "3i 0u 0= 2r 0?")
    #expect(try room.rows("id", "text", of: "Badge") == ["7|a", "8|b", "9|e"])
    #expect(room.refusals() == ["4,id,duplicate_key", "5,id,duplicate_key"])
  }

  @Test("keeps a record that was rejected from being referred to", arguments: StoreKind.allCases, [1, 100])
  func referenceToRejected(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age,email,boss\na,Ann,1,x,\nb,Bob,1,x,\nc,Cleo,999,,\nd,Dan,1,,b\ne,Eve,1,,c\nf,Fay,1,,a\n"
    let end = try room.run(text, mode: .insert, batch: batch)
    #expect(end.tally == "4i 0u 0= 2r 2?")
    #expect(try room.rows("code", "boss.code") == ["a|", "d|", "e|", "f|a"])
    #expect(room.refusals() == ["3,email,duplicate_key", "4,age,above_maximum"])
  }

  @Test(
    "refers to the object that the store has rather than to a duplicate of it", arguments: StoreKind.allCases, [1, 100])
  func referenceToDuplicate(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    let end = try room.run("code,name,boss\na,Other,\nb,Bob,a\n", mode: .insert, batch: batch)
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(try room.rows("code", "name", "boss.name") == ["a|a|", "b|Bob|a"])
  }

  @Test("numbers rows along the file", arguments: StoreKind.allCases)
  func numbers(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,boss\nc,1,\na,2,zz\nb,3,c\nd,4,zz\n", mode: .insert)
    let people = try room.context().fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    let names = people.sorted { $0.objectID.number < $1.objectID.number }.map { $0.value(forKey: "name") }
    #expect(names == ["1", "2", "3", "4"].map { .string($0) })
  }
}
