import ManagedObjects
import Testing

@testable import Importing

@Suite("Update")
struct UpdateTests {
  @Test(
    "changes the objects that are there, and rejects records of others by their keys", arguments: StoreKind.allCases,
    [1, 2, 100])
  func others(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b", "c"])
    let text = "code,name,age\na,Ann,1\nx,Xav,2\nb,b,\nx,Xav,3\n,Nobody,4\n"
    let end = try room.run(text, mode: .update, batch: batch)
    #expect(end.tally == "0i 1u 1= 3r 0?")
    #expect(try room.rows("code", "name", "age") == ["a|Ann|1", "b|b|", "c|c|"])
    #expect(room.refusals() == ["3,code,no_such_object", "5,code,no_such_object", "6,code,no_key"])
    #expect(room.rejects()?.contains("there is no Person with code “x” to be updated") == true)
  }

  @Test("finds objects by a compound key, whole keys only", arguments: StoreKind.allCases, [1, 100])
  func compoundKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,1,10\n1,2,20\n1,,30\n", into: "Seat", job: "1")
    let end = try room.run(
      "row,number,price\n1,2,21\n1,3,30\n1,,31\n", as: "b.csv", into: "Seat", mode: .update, batch: batch, job: "2")
    #expect(end.tally == "0i 1u 0= 2r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|10", "1|2|21", "1||30"])
    #expect(room.rejects("2")?.contains("there is no Seat with row, number “1, 3” to be updated") == true)
  }

  @Test("sets references, also to what a later record renames", arguments: StoreKind.allCases, [1, 100])
  func references(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"], people: ["a", "b"])
    let text = "code,name,boss,country_code\na,Ann,b,DE\nb,Bob,x,\n"
    let end = try room.run(text, mode: .update, batch: batch)
    #expect(end.tally == "0i 2u 0= 0r 1?")
    #expect(try room.rows("code", "boss.code", "country.code") == ["a|b|DE", "b||"])
  }

  @Test("of unchanged objects writes no row and announces none")
  func nothingChanges() throws {
    let room = try PeopleSample.room(.sqlite)
    let text = "code,name\np1,p1\np2,p2\nnew,New\n"
    let saves = Saves(of: room.coordinator)
    let watch = try RowWatch(room.database, table: "Person")
    #expect(try room.run(text, mode: .update).tally == "0i 0u 2= 1r 0?")
    #expect(saves.count(of: "Person") == 0)
    #expect(try watch.writes() == [])
  }

  @Test("needs a key")
  func noKey() throws {
    let room = try ImportRoom(.memory)
    for mode in [ImportMode.update, .synchronise] {
      let words = "\(mode.rawValue) needs"
      #expect("\(try #require(try room.failure("name\nAnn\n", mode: mode)))".contains(words))
      #expect(
        "\(try #require(try room.failure("day\n20240131\n", into: "Visit", mode: mode, job: "2")))".contains(
          mode.rawValue))
    }
  }
}
