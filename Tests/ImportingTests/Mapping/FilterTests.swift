import Foundation
import ManagedObjects
import Synchronization
import Testing

@testable import Importing

@Suite("Records that a recipe passes over")
struct FilterTests {
  private func mapping(_ filter: String, _ rules: [String: PropertyRule] = [:]) -> MappingOptions {
    MappingOptions {
      $0.filter = filter
      $0.properties = rules
    }
  }

  @Test("records for which the filter isn't true are passed over and counted", arguments: StoreKind.allCases, [1, 100])
  func skipped(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age\na,Ann,40\nb,Bob,10\nc,Cleo,\nd,Dan,30\n"
    let end = try room.run(text, batch: batch, mapping: mapping("age > 20 OR name BEGINSWITH[c] 'cl'"))
    #expect(end.tally == "3i 0u 0= 0r 0?")
    #expect(end.counts.skipped == 1 && end.counts.records == 4)
    #expect(try room.rows("code") == ["a", "c", "d"])
    let json = try room.run(
      "{\"code\":\"e\",\"name\":\"E\",\"age\":21}\n{\"code\":\"f\",\"name\":\"F\"}", as: "b.ndjson", batch: batch,
      job: "2", mapping: mapping("age > 20"))
    #expect(json.tally == "1i 0u 0= 0r 0?" && json.counts.skipped == 1)
  }

  @Test(
    "a record isn't passed over for a part of a nested object that can't be read, or stands behind what can't",
    arguments: StoreKind.allCases)
  func parts(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("name\nAcme\n", into: "Maker", job: "f")
    let text =
      "{\"sku\":\"a\",\"maker\":\"Acme\",\"size\":{\"width\":\"x\",\"height\":5}}\n"
      + "{\"sku\":\"b\",\"maker\":\"Acme\",\"size\":7}\n"
      + "{\"sku\":[1],\"maker\":\"Acme\",\"size\":{\"width\":5}}\n"
      + "{\"sku\":[1],\"maker\":\"Acme\",\"size\":{\"width\":1}}\n"
      + "{\"sku\":\"e\",\"maker\":\"Acme\",\"size\":{\"width\":1,\"height\":\"x\"}}\n"
      + "{\"sku\":\"f\",\"maker\":\"Acme\",\"size\":{\"width\":5}}\n"
    let end = try room.run(text, as: "a.ndjson", into: "Product", mapping: mapping("size.width > 2"))
    #expect(end.tally == "1i 0u 0= 3r 0?" && end.counts.skipped == 2)
    #expect(try room.rows("sku", of: "Product") == ["f"])
  }

  @Test("a file without the column that the filter reads is noted", arguments: StoreKind.allCases)
  func noColumn(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try room.run("code,name\na,Ann\n", mapping: mapping("age > 20 AND country.code == 'DE' AND grade == 7"))
    #expect(end.counts.skipped == 1)
    #expect(end.notes == ["the filter asks for age, grade, country, which the file has no column for"])
    let given = try room.run(
      "code,name\na,Ann\n", job: "2", mapping: mapping("age > 20", ["age": PropertyRule { $0.defaultValue = "30" }]))
    #expect(given.notes.isEmpty && given.counts.inserted == 1)
  }

  @Test(
    "a filter that takes long is stopped within a record, and nothing of the batch is committed",
    .timeLimit(.minutes(20)))
  func stopped() throws {
    let room = try ImportRoom(.sqlite)
    let asked = Asked()
    room.shouldStopWithinRecord = { asked.next() > 3 }
    let text = (0..<3).map { "{\"code\":\"\($0)\",\"name\":\"" + String(repeating: "a", count: 1 << 20) + "\"}\n" }
      .joined()
    let pattern = "*" + String(repeating: "a?", count: 50_000) + "b*"
    let end = try room.run(text, as: "a.ndjson", mapping: mapping("name LIKE '\(pattern)'"))
    guard case .stopped(let progress) = end else {
      Issue.record("it came to its end: \(end)")
      return
    }
    #expect(progress.counts.records == 0)
    #expect(try room.rows("code").isEmpty)
  }

  @Test("insert without references passes over as well", arguments: StoreKind.allCases)
  func insert(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try room.run(
      "row,number,price\n1,1,5\n1,2,15\n1,2,1\n", into: "Seat", mode: .insert, mapping: mapping("price < 10"))
    #expect(end.tally == "2i 0u 0= 0r 0?" && end.counts.skipped == 1)
  }

  @Test("an object whose record is passed over is left alone", arguments: StoreKind.allCases)
  func update(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,age\na,Ann,40\nb,Bob,10\n")
    let end = try room.run("code,name,age\na,A,41\nb,B,11\n", as: "b.csv", job: "2", mapping: mapping("age > 20"))
    #expect(end.tally == "0i 1u 0= 0r 0?" && end.counts.skipped == 1)
    #expect(try room.rows("code", "name", "age") == ["a|A|41", "b|Bob|10"])
  }

  @Test("it sees values, constants and defaults as the recipe makes them", arguments: StoreKind.allCases)
  func rules(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules = [
      "email": PropertyRule { $0.constant = "x@y" }, "grade": PropertyRule { $0.defaultValue = "5" },
      "age": PropertyRule { $0.values = ["old": "99"] },
    ]
    let filter = "email == 'x@y' AND grade == 5 AND (age == 99 OR age == nil)"
    let text = "{\"code\":\"a\",\"name\":\"A\",\"age\":\"old\"}\n{\"code\":\"b\",\"name\":\"B\",\"grade\":4}"
    let end = try room.run(text, as: "a.ndjson", mode: .insert, mapping: mapping(filter, rules))
    #expect(end.tally == "1i 0u 0= 0r 0?" && end.counts.skipped == 1)
    #expect(try room.rows("code") == ["a"])
  }

  @Test("it knows the keys of to-one relationships, and whether there are any", arguments: StoreKind.allCases)
  func keys(kind: StoreKind) throws {
    let text = "code,name,country_code,boss\na,A,DE,b\nb,B,FR,\nc,C,,a\nd,D,,\n"
    for (filter, codes) in [
      ("country.code == 'DE'", ["a"]), ("country.code IN {'DE', 'FR'} AND boss == nil", ["b"]),
      ("country == nil", ["c", "d"]), ("NOT (boss != nil)", ["b", "d"]), ("country.code != 'DE'", ["b", "c", "d"]),
      ("boss.code BEGINSWITH 'a' OR entity.name != 'Person'", ["c"]),
    ] {
      let room = try ImportRoom(kind)
      try room.furnish(countries: ["DE", "FR"])
      let end = try room.run(text, mapping: mapping(filter))
      #expect(try room.rows("code") == codes, "\(filter)")
      #expect(end.counts.skipped == Int64(4 - codes.count))
    }
  }

  @Test("a record that is passed over may have what doesn't convert, unless the filter asks for it")
  func conversion() throws {
    let room = try ImportRoom(.memory)
    let text = "code,name,age,grade\na,A,x,1\nb,skip,x,2\nc,C,1,x\nd,,1,2\ne,skip,1,x\nf,skip,500,1\n"
    let end = try room.run(text, mapping: mapping("name != 'skip' AND grade > 0"))
    #expect(end.tally == "0i 0u 0= 4r 0?" && end.counts.skipped == 2)
    #expect(
      room.refusals() == [
        "2,age,not_an_integer", "4,grade,not_an_integer", "5,name,missing_value", "6,grade,not_an_integer",
      ])
  }

  @Test("a filter that can't be used is refused before the first record, with the reason")
  func refused() throws {
    for (filter, reason) in [
      ("age >", "column 6: expected"), ("agee > 1", "Person has no property agee; did you mean age?"),
      ("age > 'x'", "age is Integer 16"), ("age > $limit", "$limit has no value"), ("age == %@", "column "),
      ("country.name == 'x'", "of country a filter may ask for country.code, and whether it has any, country == nil"),
      ("boss.country.code == 'x'", "of boss a filter may ask for boss.code"),
      ("country == boss.country", "isn't known before the record is an object"),
      ("ANY staff.age > 1", "a record doesn't say what a to-many relationship holds"),
      ("staff.@count > 1", "a record doesn't say what a to-many relationship holds"),
      ("SELF == nil", "isn't known before the record is an object"), ("", "column 1"),
    ] {
      let entity = try #require(StaffModel.model.get().entitiesByName["Person"])
      let error = #expect(throws: MappingError.self, "\(filter)") { try mapping(filter).check(against: entity) }
      let text = "\(try #require(error))"
      #expect(text.contains(reason), "\(text)")
      #expect(text.hasPrefix("the filter “\(filter)” of Person can't be used: "), "\(text)")
    }
    let room = try ImportRoom(.memory)
    guard case MappingError.badFilter? = try room.failure("code,name\na,A\n", mapping: mapping("nothing == 1")) else {
      Issue.record("not refused")
      return
    }
    #expect(try room.count(of: "Person") == 0)
  }

  @Test("a killed import counts what it passed over once", arguments: FaultyStore.Plan.Moment.allCases)
  func killed(moment: FaultyStore.Plan.Moment) throws {
    let text = "code,name,age\n" + (0..<30).map { "p\($0),N,\($0)\n" }.joined()
    for write in 1...4 {
      let room = try ImportRoom(.sqlite)
      room.plan.fail(write: room.plan.writes + write, forGood: true, moment)
      #expect(throws: FaultyStore.Fault.self) {
        try room.run(text, batch: 7, mapping: mapping("age < 10 OR age > 20"))
      }
      try room.reopen()
      let end = try room.run(text, batch: 7, mapping: mapping("age < 10 OR age > 20"))
      #expect(end.tally == "19i 0u 0= 0r 0?")
      #expect(end.counts.skipped == 11)
    }
  }
}

/// Counts questions.
private final class Asked: Sendable {
  private let count = Atomic<Int>(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
