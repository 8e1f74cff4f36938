import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

struct RandomPredicateTests {
  @Test("memory and SQL answer generated predicates alike, and so does what their descriptions read as")
  func agreement() throws {
    let database = try PredicateDatabase()
    let city = PredicateFixture.entity("City")
    let subjects = PredicateFixture.Subject.all(city)
    let generated = GeneratedPredicate.all()
    for test in generated {
      let found = try database.numbers(StoreFetch(entity: city, predicate: test.resolved)).sorted()
      #expect(found == test.expected, "\(test)")
      let again = try FetchPredicate(format: test.predicate.description).resolved(in: city)
      #expect(subjects.filter { again.evaluate(on: $0) }.map(\.row.id.number) == test.expected, "\(test)")
    }
    #expect(generated.count > 450)
  }
}
