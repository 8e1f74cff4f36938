import Foundation
import ManagedObjects
import TestSupport
import Testing

/// Classes written by hand whose accessors stand in extensions, as generated ones do: neither says its slots itself.
private class Ticket: ManagedObject {}
private final class SeasonTicket: Ticket {}

extension Ticket {
  fileprivate var price: Int? { self[0] }
  fileprivate var former: Ticket? { object(1) }
}
extension SeasonTicket {
  fileprivate var days: Int? { self[2] }
}

struct TypedPredicateTests {
  private func expect<T: ManagedObject>(
    _ predicate: Predicate<T>, _ format: String, _ arguments: Any?..., location: SourceLocation = #_sourceLocation
  ) throws {
    let converted = arguments.compactMap { PredicateArgument($0) }
    #expect(
      try FetchPredicate(predicate) == FetchPredicate(format: format, arguments: converted), sourceLocation: location)
  }

  @Test("comparisons, logic and captured values")
  func comparisons() throws {
    let name = "x"
    try expect(#Predicate<Person> { $0.name == name }, "name == 'x'")
    try expect(#Predicate<Person> { $0.name != nil && !($0.email == "a") }, "name != nil AND NOT email == 'a'")
    try expect(#Predicate<City> { $0.code > 3 || $0.code <= -1 }, "code > 3 OR code <= -1")
    let date = Date(timeIntervalSince1970: 5)
    try expect(#Predicate<Sample> { $0.day == date }, "day == %@", date)
    let names = ["a", "b"]
    try expect(#Predicate<City> { $0.name == "a" }, "name == 'a'")
    try expect(#Predicate<City> { names.contains($0.name ?? "") }, "TERNARY(name != nil, name, '') IN {'a', 'b'}")
  }

  @Test("optional chains are key paths over to-one relationships")
  func chains() throws {
    try expect(#Predicate<Person> { $0.employer?.name == "x" }, "employer.name == 'x'")
    try expect(
      #Predicate<Person> { $0.employer?.country == $0.birthplace?.name }, "employer.country == birthplace.name")
    try expect(#Predicate<Desk> { $0.occupant?.employer?.name == "x" }, "occupant.employer.name == 'x'")
    try expect(#Predicate<Person> { $0.employer == nil }, "employer == nil")
  }

  @Test("collections")
  func collections() throws {
    try expect(
      #Predicate<Person> { $0.projects.contains { $0.title == "x" } },
      "count:(SUBQUERY(projects, $v1, $v1.title == 'x')) > 0")
    try expect(
      #Predicate<Person> { $0.projects.allSatisfy { $0.title == "x" } },
      "count:(SUBQUERY(projects, $v1, NOT $v1.title == 'x')) == 0")
    try expect(
      #Predicate<Company> { $0.employees.filter { $0.name == "x" }.count > 2 },
      "count:(SUBQUERY(employees, $v1, $v1.name == 'x')) > 2")
    try expect(#Predicate<Company> { $0.employees.isEmpty }, "count:(employees) == 0")
  }

  @Test("arithmetic, ranges, ternaries and strings")
  func operations() throws {
    try expect(#Predicate<City> { $0.code * 2 + 1 == 7 }, "code * 2 + 1 == 7")
    try expect(#Predicate<City> { $0.code / 2 == 1 && $0.code % 2 == 1 }, "code / 2 == 1 AND modulus:by:(code, 2) == 1")
    try expect(#Predicate<City> { -$0.code == 1 }, "-code == 1")
    try expect(#Predicate<City> { (1..<3).contains($0.code) }, "code >= 1 AND code < 3")
    try expect(#Predicate<City> { (1...3).contains($0.code) }, "code >= 1 AND code <= 3")
    try expect(#Predicate<City> { ($0.code > 1 ? 1 : 0) == 1 }, "TERNARY(code > 1, 1, 0) == 1")
    try expect(#Predicate<City> { $0.name!.contains("x") }, "name CONTAINS 'x'")
    try expect(#Predicate<City> { $0.name!.starts(with: "x") }, "name BEGINSWITH 'x'")
  }

  @Test("what a store can't answer is refused by name")
  func refusals() throws {
    #expect(throws: TypedPredicateError.self) { try FetchPredicate(#Predicate<Person> { ($0 as? Manager) != nil }) }
    #expect(throws: TypedPredicateError.self) { try FetchPredicate(#Predicate<City> { $0.name!.count == 3 }) }
    #expect(throws: TypedPredicateError.self) { try FetchSortDescriptor(\Person.hashValue) }
  }

  @Test("a key path and a sort descriptor name their property, and a request has all of it")
  func sorting() throws {
    #expect(try FetchSortDescriptor(\Person.name) == FetchSortDescriptor("name"))
    #expect(
      try FetchSortDescriptor(\Manager.budget, ascending: false) == FetchSortDescriptor("budget", ascending: false))
    #expect(try FetchSortDescriptor(\Person.employer?.name) == FetchSortDescriptor("employer.name"))
    #expect(try FetchSortDescriptor(\Person.employer?.objectID) == FetchSortDescriptor("employer.objectID"))
    #expect(
      try FetchSortDescriptor(SortDescriptor(\City.code, order: .reverse))
        == FetchSortDescriptor("code", ascending: false))
    // To Core Data a descriptor without a comparator means the order of a file manager.
    let name = FetchSortDescriptor("name", comparison: .localizedStandard)
    #expect(try FetchSortDescriptor(SortDescriptor(\City.name)) == name)
    #expect(try FetchSortDescriptor(SortDescriptor(\Person.name, order: .reverse)) == name.reversed)
    #expect(try FetchSortDescriptor(SortDescriptor(\City.name, comparator: .lexical)) == FetchSortDescriptor("name"))
    let request = try FetchRequest<City>(
      predicate: #Predicate { $0.code > 1 }, sortBy: [SortDescriptor(\.code), SortDescriptor(\.name)])
    #expect(request.entityName == "City")
    #expect(request.sortDescriptors.map(\.keyPath) == ["code", "name"])
    #expect(request.predicate == .comparison(.path("code"), .greater, .constant(.int(1))))
  }

  @Test("key paths of a class whose accessors stand in an extension are known once its model is made")
  func layouts() throws {
    #expect(throws: TypedPredicateError.self) { try FetchSortDescriptor(\Ticket.price) }
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Ticket", attributes: [AttributeDefinition("price", .integer64)],
          relationships: [RelationshipDefinition("former", to: "Ticket")]),
        EntityDefinition("Season", parent: "Ticket", attributes: [AttributeDefinition("days", .integer64)]),
      ], classes: ["Ticket": Ticket.self, "Season": SeasonTicket.self],
      layouts: [
        "Ticket": ClassLayout(propertyNames: ["price", "former"]),
        "Season": ClassLayout(propertyNames: ["price", "former", "days"]),
      ])
    try PersistentStoreCoordinator(model: model).addPersistentStore(.inMemory())
    #expect(try FetchSortDescriptor(\Ticket.former?.price) == FetchSortDescriptor("former.price"))
    #expect(try FetchSortDescriptor(\SeasonTicket.days) == FetchSortDescriptor("days"))
    try expect(#Predicate<SeasonTicket> { $0.days == 7 && $0.price == 1 }, "days == 7 AND price == 1")
  }
}
