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
    var answered = 0
    for seed in 1...600 as ClosedRange<UInt64> {
      var generator = PredicateGenerator(seed: seed)
      let predicate = generator.predicate()
      let resolved: ResolvedPredicate
      do {
        resolved = try predicate.resolved(in: city)
      } catch {
        // Some generated comparisons are of two kinds of values, which both evaluators are spared.
        continue
      }
      answered += 1
      let expected = subjects.filter { resolved.evaluate(on: $0) }.map(\.row.id.number)
      let found = try database.numbers(StoreFetch(entity: city, predicate: resolved)).sorted()
      #expect(found == expected, "seed \(seed): \(predicate)")
      let again = try FetchPredicate(format: predicate.description).resolved(in: city)
      #expect(subjects.filter { again.evaluate(on: $0) }.map(\.row.id.number) == expected, "seed \(seed): \(predicate)")
    }
    #expect(answered > 450)
  }
}
