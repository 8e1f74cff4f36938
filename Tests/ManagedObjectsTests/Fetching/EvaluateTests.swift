import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A predicate evaluated by itself")
struct EvaluateTests {
  private let formats = [
    "age == 36", "age != 36", "age > 36", "age <= 36", "age BETWEEN {20, 40}", "age == nil", "age IN {36, 41, 99}",
    "name BEGINSWITH 'B'", "name CONTAINS[c] 'D'", "name ENDSWITH 'e'", "name LIKE '?i*'", "name MATCHES '[AB].*'",
    "name ==[c] 'ADA'", "age > 20 AND name < 'B'", "age == 41 OR email == nil", "NOT (age > 36)", "TRUEPREDICATE",
    "age * 2 > 80", "length:(name) == 3", "lowercase:(name) == 'ada'", "TERNARY(age > 30, 1, 0) == 1", "age / 0 == nil",
    "NOT (name CONTAINS email)",
  ]

  @Test("finds the objects that a store finds, and the dictionaries of their values", arguments: StoreKind.allCases)
  func agrees(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for (name, age) in [("Ada", 36), ("Bob", 41), ("Cid", 25), ("Eve", nil)] as [(String, Int32?)] {
      try context.person(name, age: age, email: age == 25 ? "c@x" : nil)
    }
    try context.save()
    let people = try context.all(Person.self, sortedBy: "name")
    for format in formats {
      let predicate = try FetchPredicate(format: format)
      let request = FetchRequest<Person>(
        entityName: "Person", predicate: predicate, sortDescriptors: [FetchSortDescriptor("name")])
      let found = try stack.context().fetch(request).map(\.name)
      #expect(try people.filter { try predicate.evaluate(with: $0) }.map(\.name) == found, "\(format)")
      #expect(try people.filtered(using: predicate).map(\.name) == found, "\(format)")
      let alike = try people.filter { person in
        try predicate.evaluate(with: ["name": person.name, "age": person.age, "email": person.email])
      }
      #expect(alike.map(\.name) == found, "\(format), of dictionaries")
    }
  }

  @Test("follows relationships and sees what isn't saved", arguments: StoreKind.allCases)
  func objects(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let company = try context.company("Acme")
    let ada = try context.person("Ada", age: 36)
    let employed = try FetchPredicate(format: "employer.name == $name")
    #expect(try !employed.evaluate(with: ada, substitutionVariables: ["name": "Acme"]))
    ada.employer = company
    #expect(try employed.evaluate(with: ada, substitutionVariables: ["name": "Acme"]))
    #expect(try FetchPredicate(format: "ANY employees.age > 30").evaluate(with: company))
    #expect(try FetchPredicate(format: "SELF == %@", ada).evaluate(with: ada))
    #expect(throws: FetchPredicateError.self) { try employed.evaluate(with: ada) }
    #expect(throws: FetchPredicateError.self) { try FetchPredicate(format: "salary > 1").evaluate(with: ada) }
    #expect(
      try [ada as ManagedObject, company].filtered(using: FetchPredicate(format: "name BEGINSWITH 'A'")).count == 2)
  }

  @Test("is built from literals like the format's")
  func literals() throws {
    let built: FetchPredicate =
      .comparison(.path("age") * 2, .greater, 80) && .comparison(.path("name"), .beginsWith, "B")
      && .notEqual("email", nil)
    let parts = try ["age * 2 > 80", "name BEGINSWITH 'B'", "email != nil"].map { try FetchPredicate(format: $0) }
    #expect(built == .and([.and([parts[0], parts[1]]), parts[2]]))
    let all: FetchPredicate = true
    #expect(all == .constant(true) && (all && false) == .and([.constant(true), .constant(false)]))
    let context = try CompanyStack(.inMemory).context()
    try context.person("Bob", age: 41, email: "b@x")
    #expect(
      try FetchRequest<Person>(entityName: "Person", predicate: built).execute(in: context).map(\.name) == ["Bob"])
  }

  @Test("reads nested dictionaries and lists, and takes a missing key for nil")
  func dictionaries() throws {
    let values: [String: Any?] = [
      "name": "Ada", "tags": ["x", "y"], "address": ["city": "Bern"], "born": Date(timeIntervalSince1970: 0),
      "empty": nil,
    ]
    func holds(_ format: String) throws -> Bool { try FetchPredicate(format: format).evaluate(with: values) }
    #expect(try holds("'x' IN tags AND NOT ('z' IN tags)"))
    #expect(try holds("tags CONTAINS 'y' AND tags.@count == 2"))
    #expect(try holds("address.city == 'Bern' AND SELF.name == 'Ada'"))
    #expect(try holds("missing == nil AND empty == nil AND missing.too == nil AND NOT (missing > 3)"))
    #expect(try holds("born < '1970-01-02'"))
    #expect(throws: FetchPredicateError.self) { try holds("name.length == 3") }
    #expect(throws: FetchPredicateError.self) { try holds("name > 3") }
    #expect(throws: FetchPredicateError.self) { try holds("SELF == nil") }
    #expect(throws: FetchPredicateError.self) {
      try FetchPredicate(format: "x == 1").evaluate(with: ["x": Locale.current])
    }
  }
}
