import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Unsaved changes count in fetches")
struct PendingChangesTests {
  /// Saved: Ada 30, Bob 40, Cid 50. Not saved: Bob is 20, Cid is deleted, Dot 60 is new.
  private func changed(_ kind: StoreKind) throws -> (stack: CompanyStack, context: ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada", age: 30)
    let bob = try context.person("Bob", age: 40)
    let cid = try context.person("Cid", age: 50)
    try context.save()
    bob.age = 20
    context.delete(cid)
    try context.person("Dot", age: 60)
    return (stack, context)
  }

  private func names(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate? = nil, sort: FetchSortDescriptor = .init("age"),
    limit: Int = 0, offset: Int = 0, pending: Bool = true
  ) throws -> [String?] {
    try context.fetch(
      FetchRequest<Person>(
        entityName: "Person", predicate: predicate, sortDescriptors: [sort], fetchLimit: limit, fetchOffset: offset,
        includesPendingChanges: pending)
    ).map(\.name)
  }

  @Test("with predicate and sort", arguments: StoreKind.allCases)
  func predicateAndSort(_ kind: StoreKind) throws {
    let (stack, context) = try changed(kind)
    #expect(try names(context) == ["Bob", "Ada", "Dot"])
    #expect(try names(context, sort: .init("age", ascending: false)) == ["Dot", "Ada", "Bob"])
    #expect(try names(context, FetchPredicate(format: "age < 35")) == ["Bob", "Ada"])
    #expect(try names(context, FetchPredicate(format: "age >= 40")) == ["Dot"])
    #expect(try names(stack.context(), FetchPredicate(format: "age >= 40")) == ["Bob", "Cid"])
  }

  @Test("with limit and offset", arguments: StoreKind.allCases)
  func limitAndOffset(_ kind: StoreKind) throws {
    let (_, context) = try changed(kind)
    #expect(try names(context, limit: 2) == ["Bob", "Ada"])
    #expect(try names(context, limit: 2, offset: 1) == ["Ada", "Dot"])
    #expect(try names(context, offset: 2) == ["Dot"])
    #expect(try names(context, offset: 3) == [])
  }

  @Test("every page is the part of the whole that it says, however much was changed", arguments: StoreKind.allCases)
  func anyPage(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let people = try (0..<30).map { try context.person("Person \($0)", age: Int32($0 * 3)) }
    try context.save()
    for (number, person) in people.enumerated() {
      switch number % 5 {
      case 0: person.age = Int32((number * 37) % 90 + 1)
      case 3: context.delete(person)
      default: break
      }
    }
    for number in 0..<4 { try context.person("New \(number)", age: Int32(number * 20 + 2)) }
    for sort in [FetchSortDescriptor("age"), FetchSortDescriptor("age", ascending: false)] {
      let whole = try names(context, sort: sort)
      #expect(whole.count == 28)
      for offset in stride(from: 0, to: 30, by: 4) {
        for limit in [1, 5, 40] {
          let page = Array(whole.dropFirst(offset).prefix(limit))
          #expect(try names(context, sort: sort, limit: limit, offset: offset) == page)
        }
      }
    }
  }

  @Test("pages without a sort don't overlap and leave nothing out", arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let (_, context) = try changed(kind)
    var found: [String?] = []
    for page in 0..<3 {
      found += try context.fetch(FetchRequest<Person>(entityName: "Person", fetchLimit: 1, fetchOffset: page)).map(
        \.name)
    }
    #expect(found == ["Ada", "Bob", "Dot"])
  }

  @Test("in a count", arguments: StoreKind.allCases)
  func counts(_ kind: StoreKind) throws {
    let (stack, context) = try changed(kind)
    let young = FetchRequest<Person>(entityName: "Person", predicate: try FetchPredicate(format: "age < 35"))
    #expect(try context.count(for: young) == 2)
    #expect(try stack.context().count(for: young) == 1)
    var page = FetchRequest<Person>(entityName: "Person")
    page.fetchLimit = 2
    page.fetchOffset = 2
    #expect(try context.count(for: page) == 1)
  }

  @Test("unless the request says otherwise", arguments: StoreKind.allCases)
  func storeOnly(_ kind: StoreKind) throws {
    let (_, context) = try changed(kind)
    #expect(try Set(names(context, FetchPredicate(format: "age >= 40"), pending: false)) == ["Bob", "Cid"])
  }

  @Test("along a key path to a new object", arguments: StoreKind.allCases)
  func keyPaths(_ kind: StoreKind) throws {
    let (_, context) = try changed(kind)
    let ada = try #require(try context.named("Ada", Person.self))
    ada.employer = try context.company("Acme")
    #expect(try names(context, FetchPredicate(format: "employer.name == 'Acme'")) == ["Ada"])
    #expect(try names(context, FetchPredicate(format: "employer == nil")) == ["Bob", "Dot"])
    try context.save()
    #expect(try names(context, FetchPredicate(format: "employer.name == 'Acme'")) == ["Ada"])
  }

  @Test("a predicate or sort that doesn't fit the entity is refused", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let (_, context) = try changed(kind)
    #expect(throws: FetchPredicateError.self) { try names(context, FetchPredicate(format: "nam == 'x'")) }
    #expect(throws: FetchPredicateError.self) { try names(context, sort: .init("projects")) }
  }
}
