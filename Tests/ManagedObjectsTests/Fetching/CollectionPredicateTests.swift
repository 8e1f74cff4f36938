import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Predicates over relationships, in both stores")
struct CollectionPredicateTests {
  /// Acme with Ada 30 (on Alpha) and Bob 40, and Empty without anybody.
  private func stack(_ kind: StoreKind) throws -> CompanyStack {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    _ = try context.company("Empty")
    let ada = try context.person("Ada", age: 30)
    let bob = try context.person("Bob", age: 40)
    ada.employer = acme
    bob.employer = acme
    let alpha = try context.insert(Project.self)
    alpha.title = "Alpha"
    ada.projects = [alpha]
    try context.save()
    return stack
  }

  private func companies(_ context: ManagedObjectContext, _ format: String) throws -> [String?] {
    try context.all(Company.self, FetchPredicate(format: format)).map(\.name).sorted { ($0 ?? "") < ($1 ?? "") }
  }

  @Test("a store answers them, and a context with unsaved changes of its own objects", arguments: StoreKind.allCases)
  func collections(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    #expect(try companies(context, "ANY employees.age > 35") == ["Acme"])
    #expect(try companies(context, "ALL employees.age > 35") == ["Empty"])
    #expect(try companies(context, "employees.@avg.age == 35") == ["Acme"])
    #expect(try companies(context, "ANY employees.projects.title == 'Alpha'") == ["Acme"])
    #expect(try companies(context, "SUBQUERY(employees, $e, $e.age < 35).@count == 1") == ["Acme"])

    let new = try context.company("New")
    let cid = try context.person("Cid", age: 50)
    cid.employer = new
    #expect(try companies(context, "ANY employees.age > 45") == ["New"])
    #expect(try companies(context, "employees.@sum.age == 50") == ["New"])
  }

  @Test("an object stands for its ID", arguments: StoreKind.allCases)
  func objects(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let ada = try #require(try context.named("Ada", Person.self))
    let bob = try #require(try context.named("Bob", Person.self))
    #expect(try context.all(Company.self, FetchPredicate(format: "%@ IN employees", ada)).map(\.name) == ["Acme"])
    #expect(try context.all(Person.self, FetchPredicate(format: "SELF IN %@", Set([ada, bob]))).count == 2)
    #expect(try context.all(Person.self, FetchPredicate(format: "entity == %@", ada.entity)).count == 2)
  }

  @Test("typed requests find what their closures say", arguments: StoreKind.allCases)
  func typed(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let oldest: Int32 = 35
    let people = try FetchRequest<Person>(
      predicate: #Predicate { $0.employer?.name == "Acme" && ($0.age ?? 0) <= oldest }, sortBy: [SortDescriptor(\.name)]
    )
    #expect(try context.fetch(people).map(\.name) == ["Ada"])
    let busy = try FetchRequest<Company>(
      predicate: #Predicate { $0.employees.contains { $0.projects.contains { $0.title == "Alpha" } } })
    #expect(try context.fetch(busy).map(\.name) == ["Acme"])
  }
}
