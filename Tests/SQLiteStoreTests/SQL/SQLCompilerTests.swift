import GRDB
import ManagedObjects
import SQLSchema
import SQLiteStore
import TestSupport
import Testing

struct SQLCompilerTests {
  private let database: PredicateDatabase

  init() throws { database = try PredicateDatabase() }

  private func fetch(
    _ entity: String, _ format: String? = nil, sort: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0,
    includesSubentities: Bool = true
  ) throws -> StoreFetch {
    let entity = PredicateFixture.entity(entity)
    return StoreFetch(
      entity: entity, includesSubentities: includesSubentities,
      predicate: try format.map { try FetchPredicate(format: $0).resolved(in: entity) },
      sort: try sort.map { try $0.resolved(in: entity) }, limit: limit, offset: offset)
  }

  @Test("a fetch is one readable statement")
  func text() throws {
    let fetch = try fetch("City", "country.code == 'CH' AND NOT name CONTAINS 'x'", sort: [.init("name")], limit: 5)
    let query = try SQLCompiler(database.schema).select(fetch, columns: ["id", "name"])
    #expect(
      query.sql == """
        SELECT t0."id", t0."name" FROM "City" AS t0 LEFT JOIN "Country" AS t1 ON t1."id" = t0."country_id" \
        WHERE (t1."code" = ? AND (instr(t0."name", ?) > 0) IS NOT TRUE) ORDER BY t0."name", t0."id" LIMIT ?
        """)
    #expect(query.arguments == ["CH".databaseValue, "x".databaseValue, 5.databaseValue])
  }

  @Test("limit and offset cut the sorted rows, and count with them")
  func paging() throws {
    let sort = [FetchSortDescriptor("population", ascending: false)]
    #expect(try database.numbers(fetch("City", sort: sort, limit: 3)) == [10, 12, 2])
    #expect(try database.numbers(fetch("City", sort: sort, limit: 3, offset: 3)) == [1, 3, 5])
    #expect(try database.numbers(fetch("City", sort: sort, offset: 10)) == [6, 4])
    #expect(try database.numbers(fetch("City", limit: 2, offset: 1)) == [2, 3])
    #expect(try database.count(fetch("City", limit: 5)) == 5)
    #expect(try database.count(fetch("City", offset: 10)) == 2)
    #expect(try database.count(fetch("City", "country.code == 'CH'", offset: 1)) == 1)
  }

  @Test("a fetch without subentities brings the entity's own rows only")
  func subentities() throws {
    #expect(try database.numbers(fetch("Car", includesSubentities: false)) == [1])
    #expect(try database.numbers(fetch("Vehicle", includesSubentities: false)) == [])
    #expect(try database.numbers(fetch("City", "name == 'Bern'", includesSubentities: false)) == [1])
  }

  @Test("equality, a prefix, a list and a range use the index; the key needs no join")
  func indexes() throws {
    let byName = "USING COVERING INDEX City_byName"
    #expect(try database.plan(fetch("City", "name == 'Bern'")).contains(byName))
    #expect(try database.plan(fetch("City", "name BEGINSWITH 'Ber'")).contains("\(byName) (name>? AND name<?)"))
    #expect(try database.plan(fetch("City", "name LIKE 'Ber*'")).contains("\(byName) (name>? AND name<?)"))
    #expect(try database.plan(fetch("City", "name IN {'a', 'b'}")).contains(byName))
    #expect(try database.plan(fetch("City", "name BETWEEN {'a', 'b'}")).contains(byName))
    #expect(try database.plan(fetch("City", sort: [.init("name", ascending: false)], limit: 2)) == "SCAN t0 \(byName)")
    let names = (0..<1_000).map { "'\($0)'" }.joined(separator: ", ")
    #expect(try database.plan(fetch("City", "name IN {\(names)}")).contains("\(byName) (name=?)"))
    #expect(try database.plan(fetch("City", "station.number == 10")).contains("INDEX City_station_id"))
    #expect(
      try SQLCompiler(database.schema).primaryKeys(fetch("City", "station.number == 10")).sql.contains("JOIN") == false)
  }

  @Test("a list beyond SQLite's number of parameters is one parameter")
  func longLists() throws {
    let city = PredicateFixture.entity("City")
    let values = (0..<50_000).map { Value.string("name \($0)") } + [.string("Bern")]
    let fetch = StoreFetch(entity: city, predicate: try FetchPredicate.isIn("name", values).resolved(in: city))
    #expect(try SQLCompiler(database.schema).primaryKeys(fetch).arguments.count == 1)
    #expect(try database.numbers(fetch) == [1])
  }

  @Test("thousands of conditions stay within SQLite's depth of expressions")
  func wide() throws {
    let city = PredicateFixture.entity("City")
    let parts = (0..<5_000).map { FetchPredicate.equal("population", .int(Int64($0))) }
    let any = StoreFetch(entity: city, predicate: try FetchPredicate.or(parts).resolved(in: city))
    #expect(try database.numbers(any) == [3, 5])
  }

  @Test("an object of another store is equal to none of the rows")
  func otherStores() throws {
    let city = PredicateFixture.entity("City")
    let elsewhere = ManagedObjectID(scope: .of(city, in: "another"), number: 1)
    let predicate = try FetchPredicate(format: "SELF == %@ OR twin IN %@", elsewhere, [elsewhere]).resolved(in: city)
    #expect(try database.numbers(StoreFetch(entity: city, predicate: predicate)) == [])
  }

  @Test("a transient attribute is refused with its name")
  func transient() throws {
    #expect(throws: SQLCompilerError.notStored(entity: "City", property: "mood")) {
      _ = try SQLCompiler(database.schema).count(fetch("City", "mood == 'good'"))
    }
    #expect(throws: SQLCompilerError.notStored(entity: "City", property: "mood")) {
      _ = try SQLCompiler(database.schema).primaryKeys(fetch("City", sort: [.init("mood")]))
    }
  }
}
