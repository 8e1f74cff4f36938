import ManagedObjects
import TestSupport
import Testing

private typealias Subject = PredicateFixture.Subject

struct MemoryEvaluatorTests {
  @Test("memory finds the rows that a predicate names", arguments: PredicateCases.all)
  func finds(_ test: PredicateCase) throws {
    let entity = PredicateFixture.entity(test.entity)
    let predicate = try test.predicate().resolved(in: entity)
    let found = Subject.all(entity).filter { predicate.evaluate(on: $0) }.map(\.row.id.number)
    #expect(found == test.expected)
  }

  @Test("memory finds all other rows for NOT of a predicate", arguments: PredicateCases.all)
  func findsTheOthers(_ test: PredicateCase) throws {
    let entity = PredicateFixture.entity(test.entity)
    let predicate = try FetchPredicate.not(test.predicate()).resolved(in: entity)
    let found = Subject.all(entity).filter { predicate.evaluate(on: $0) }.map(\.row.id.number)
    #expect(found == Subject.all(entity).map(\.row.id.number).filter { !test.expected.contains($0) })
  }

  @Test("a predicate's description reads back as the same predicate", arguments: PredicateCases.all)
  func description(_ test: PredicateCase) throws {
    let predicate = try test.predicate()
    let text = predicate.description
    guard !text.contains("NSManagedObjectID"), !text.contains("\"nan\"") else { return }
    #expect(try FetchPredicate(format: text) == predicate)
  }

  @Test("memory sorts as the descriptors say", arguments: SortCase.all)
  func sorts(_ test: SortCase) throws {
    let entity = PredicateFixture.entity(test.entity)
    let sorts = try test.descriptors.map { try $0.resolved(in: entity) }
    let found = Subject.all(entity).shuffled().sorted { sorts.areInIncreasingOrder($0, $1) }.map(\.row.id.number)
    #expect(found == test.expected)
    #expect(sorts.sorted(Subject.all(entity).shuffled()).map(\.row.id.number) == test.expected)
  }

  @Test("unsaved objects stand behind saved ones that sort alike, in the order of their making")
  func temporaryObjects() {
    let unsaved = IDScope.of(PredicateFixture.entity("City"), in: "")
    let subjects = [-2, 7, -1, 3].map { (number: Int64) in
      let id = number < 0 ? ManagedObjectID(scope: unsaved, number: number) : PredicateFixture.id("City", number)
      return Subject(row: .init(id: id, values: [:]))
    }
    let sorted = subjects.sorted { [ResolvedSort]().areInIncreasingOrder($0, $1) }.map(\.row.id.number)
    #expect(sorted == [3, 7, -1, -2])
  }
}
