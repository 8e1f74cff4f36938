import ManagedObjects
import TestSupport
import Testing

@Suite("Predicates over PostgreSQL", .onPostgres)
struct PredicateTests {
  private static let store = Result { try PredicateStore() }

  private func fetch(
    _ entity: String, _ predicate: FetchPredicate?, _ sort: [FetchSortDescriptor] = []
  ) throws -> StoreFetch {
    let entity = PredicateFixture.entity(entity)
    return StoreFetch(
      entity: entity, predicate: try predicate?.resolved(in: entity), sort: try sort.map { try $0.resolved(in: entity) }
    )
  }

  @Test("the store finds the rows that a predicate names", arguments: PredicateCases.all)
  func finds(_ test: PredicateCase) throws {
    let store = try Self.store.get()
    let fetch = try fetch(test.entity, test.predicate())
    #expect(try store.numbers(fetch).sorted() == test.expected)
    #expect(try store.count(fetch) == test.expected.count)
  }

  @Test("the store finds all other rows for NOT of a predicate", arguments: PredicateCases.all)
  func findsTheOthers(_ test: PredicateCase) throws {
    let found = try Self.store.get().numbers(fetch(test.entity, .not(test.predicate()))).sorted()
    let all = PredicateFixture.rows(of: PredicateFixture.entity(test.entity)).map(\.id.number).sorted()
    #expect(found == all.filter { !test.expected.contains($0) })
  }

  @Test("the store sorts as the descriptors say", arguments: SortCase.all)
  func sorts(_ test: SortCase) throws {
    #expect(try Self.store.get().numbers(fetch(test.entity, nil, test.descriptors)) == test.expected)
  }

  @Test("memory and the store answer generated predicates alike")
  func agreement() throws {
    let store = try Self.store.get()
    let city = PredicateFixture.entity("City")
    let generated = GeneratedPredicate.all()
    var inSQL = 0
    for test in generated {
      let fetch = StoreFetch(entity: city, predicate: test.resolved)
      #expect(try store.numbers(fetch).sorted() == test.expected, "\(test)")
      if try store.statement(fetch) != nil { inSQL += 1 }
    }
    #expect(generated.count > 450)
    #expect(inSQL > 100)
  }

  @Test("what SQL can't answer alike is selected in memory, among the rows that fulfil the rest")
  func superset() throws {
    let store = try Self.store.get()
    let fetch = try fetch("City", FetchPredicate(format: "population > 1000 AND name ==[c] 'x'"))
    #expect(try store.statement(fetch) == nil)
    #expect(try store.superset(fetch).hasSuffix("WHERE t0.\"population\" > $1"))
  }

  @Test("a beginning is looked up as a range, which an index answers")
  func beginning() throws {
    let fetch = try fetch("City", FetchPredicate(format: "name BEGINSWITH 'Z'"))
    let statement = try #require(try Self.store.get().statement(fetch))
    #expect(statement.contains("t0.\"name\" >= $1 COLLATE \"C\" AND t0.\"name\" < $2 COLLATE \"C\""))
  }
}
