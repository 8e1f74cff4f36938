import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

struct SQLEvaluatorTests {
  private static let database = Result { try PredicateDatabase() }

  private func fetch(_ entity: String, _ predicate: FetchPredicate?, _ sort: [FetchSortDescriptor] = []) throws
    -> StoreFetch
  {
    let entity = PredicateFixture.entity(entity)
    return StoreFetch(
      entity: entity, predicate: try predicate?.resolved(in: entity), sort: try sort.map { try $0.resolved(in: entity) }
    )
  }

  @Test("SQL finds the rows that a predicate names", arguments: PredicateCases.all)
  func finds(_ test: PredicateCase) throws {
    let database = try Self.database.get()
    let fetch = try fetch(test.entity, test.predicate())
    #expect(try database.numbers(fetch).sorted() == test.expected)
    #expect(try database.count(fetch) == test.expected.count)
  }

  @Test("SQL finds all other rows for NOT of a predicate", arguments: PredicateCases.all)
  func findsTheOthers(_ test: PredicateCase) throws {
    let found = try Self.database.get().numbers(fetch(test.entity, .not(test.predicate()))).sorted()
    let all = PredicateFixture.rows(of: PredicateFixture.entity(test.entity)).map(\.id.number).sorted()
    #expect(found == all.filter { !test.expected.contains($0) })
  }

  @Test("SQL sorts as the descriptors say", arguments: SortCase.all)
  func sorts(_ test: SortCase) throws {
    #expect(try Self.database.get().numbers(fetch(test.entity, nil, test.descriptors)) == test.expected)
  }
}
