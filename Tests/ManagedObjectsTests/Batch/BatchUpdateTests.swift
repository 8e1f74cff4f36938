import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Batch update requests")
struct BatchUpdateTests {
  private func request(
    _ properties: [String: FetchPredicate.Expression], _ predicate: FetchPredicate? = nil, entity: String = "Person"
  ) -> BatchUpdateRequest {
    var request = BatchUpdateRequest(entityName: entity)
    request.propertiesToUpdate = properties
    request.predicate = predicate
    request.resultType = .objectIDs
    return request
  }

  private func staff(_ kind: StoreKind) throws -> (stack: CompanyStack, ada: Person, bob: Person, boss: Manager) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, bob) = (try context.person("Ada", age: 30, email: "ada@x"), try context.person("Bob", age: 40))
    let boss = try context.insert(Manager.self)
    (boss.name, boss.age) = ("Boss", 50)
    try context.save()
    return (stack, ada, bob, boss)
  }

  @Test("constants and other attributes are written into the rows that match", arguments: StoreKind.allCases)
  func values(_ kind: StoreKind) throws {
    let (stack, _, bob, boss) = try staff(kind)
    let context = stack.context()
    let result = try context.execute(
      request(
        ["age": .constant(.int(18)), "email": .path("name")],
        .comparison(.init(.path("age"), .greater, .constant(.int(30))))))
    #expect(Set(result.objectIDs ?? []) == [bob.objectID, boss.objectID] && result.count == 2)
    let stored = try stack.context().all(Person.self, sortedBy: "name")
    #expect(stored.map(\.age) == [30, 18, 18] && stored.map(\.email) == ["ada@x", "Bob", "Boss"])
    #expect(!context.hasChanges)
  }

  @Test("subentities are left out when asked", arguments: StoreKind.allCases)
  func subentities(_ kind: StoreKind) throws {
    let (stack, _, _, boss) = try staff(kind)
    var update = request(["age": .constant(.null)])
    update.includesSubentities = false
    update.resultType = .count
    #expect(try stack.context().execute(update).count == 2)
    #expect(try stack.context().all(Person.self).compactMap(\.age) == [50])
    #expect(
      try stack.context().execute(request(["budget": .constant(.decimal(5))], entity: "Manager")).objectIDs == [
        boss.objectID
      ])
  }

  @Test("what the model forbids is refused, and nothing is changed", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let (stack, _, _, _) = try staff(kind)
    let context = stack.context()
    for properties: [String: FetchPredicate.Expression] in [
      ["name": .constant(.null)], ["name": .path("email")], ["email": .constant(.string("same@x"))],
      ["age": .constant(.string("x"))], ["age": .path("name")], ["friends": .constant(.objects([]))],
      ["nmae": .constant(.null)],
    ] {
      #expect(throws: ManagedObjectError.self, "\(properties)") { try context.execute(request(properties)) }
    }
    #expect(try stack.context().all(Person.self, sortedBy: "name").map(\.email) == ["ada@x", nil, nil])
    #expect(try stack.context().all(Person.self, sortedBy: "name").map(\.name) == ["Ada", "Bob", "Boss"])
  }

  @Test("a to-one relationship is set, and cleared", arguments: StoreKind.allCases)
  func toOne(_ kind: StoreKind) throws {
    let (stack, _, _, _) = try staff(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    try context.save()
    try context.execute(request(["employer": .constant(.object(acme.objectID))]))
    #expect(try stack.context().named("Acme", Company.self)?.employees.count == 3)
    try context.execute(request(["employer": .constant(.null)], .equal("name", .string("Ada"))))
    #expect(try stack.context().named("Acme", Company.self)?.employees.count == 2)
  }

  @Test(
    "an object that was read before is in conflict afterwards, as with any other writer", arguments: StoreKind.allCases)
  func conflict(_ kind: StoreKind) throws {
    let (stack, ada, _, _) = try staff(kind)
    let context = stack.context()
    let mine = try #require(try context.existingObject(with: ada.objectID) as? Person)
    try context.execute(request(["age": .constant(.int(18))]))
    mine.name = "Mine"
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: ada.objectID, isDeleted: false)])) {
      try context.save()
    }
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(mine.age == 18)
  }

  @Test("what expressions make of a row is written, as its attribute holds it", arguments: StoreKind.allCases)
  func expressions(_ kind: StoreKind) throws {
    let (stack, _, _, _) = try staff(kind)
    let context = stack.context()
    let cases: [(String, String, String, [String])] = [
      ("age", "age * 2 + 1", "name", ["Ada 61", "Bob 81", "Boss 101"]),
      ("age", "age / 2.5", "name", ["Ada 24", "Bob 32", "Boss 40"]),
      ("age", "length(name) + 1", "name", ["Ada 4", "Bob 4", "Boss 5"]),
      ("age", "TERNARY(name BEGINSWITH 'B', max(age, 5), nil)", "name", ["Ada -", "Bob 5", "Boss 5"]),
      ("age", "CAST('7', 'NSNumber')", "name", ["Ada 7", "Bob 7", "Boss 7"]),
      ("name", "uppercase(name)", "name", ["ADA 7", "BOB 7", "BOSS 7"]),
    ]
    for (name, format, key, expected) in cases {
      try context.execute(request([name: .init(format: format)]))
      let found = try stack.context().all(Person.self, sortedBy: key)
      #expect(found.map { "\($0.name ?? "-") \($0.age.map(String.init) ?? "-")" } == expected, "\(format)")
    }
    for format in ["age * 1000000000", "name", "employer", "TERNARY(age > 0, 'x', 'y')", "sum:(age)", "friends"] {
      #expect(throws: (any Error).self, "\(format)") { try context.execute(request(["age": .init(format: format)])) }
    }
    #expect(throws: ManagedObjectError.self) { try context.execute(request(["name": .init(format: "nil")])) }
    #expect(try stack.context().all(Person.self).map(\.age) == [7, 7, 7])
  }

  @Test("expressions read other rows, all of them as they were before", arguments: StoreKind.allCases)
  func otherRows(_ kind: StoreKind) throws {
    let (stack, _, bob, boss) = try staff(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    for person in try context.all(Person.self) { person.employer = acme }
    try context.save()
    try context.execute(
      request([
        "name": .init(format: "employer.name"), "age": .init(format: "employer.employees.@sum.age - age"),
      ]))
    let found = try stack.context().all(Person.self, sortedBy: "age")
    #expect(found.map(\.age) == [70, 80, 90] && found.allSatisfy { $0.name == "Acme" })
    var update = try request(
      ["name": .init(format: "TERNARY(ANY employees.age > 85, 'Old', 'Young')")], entity: "Company")
    #expect(try context.execute(update).objectIDs == [acme.objectID])
    #expect(try stack.context().all(Company.self).map(\.name) == ["Old"])
    try context.execute(request(["employer": .path("employer")], .equal("age", .int(70))))
    update = try request(["employer": .init(format: "TERNARY(age > 75, nil, employer)")])
    try context.execute(update)
    let after = stack.context()
    #expect(try after.named("Old", Company.self)?.employees.map(\.objectID) == [boss.objectID])
    #expect(try (after.existingObject(with: bob.objectID) as? Person)?.employer == nil)
  }

  @Test("many rows are changed without being held at once", arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.execute(
      BatchInsertRequest(entityName: "Person", objects: Array(repeating: ["age": .int(1)], count: 5001)))
    let result = try context.execute(request(["age": .constant(.int(2))]))
    #expect(result.count == 5001 && result.objectIDs?.count == 5001)
    #expect(try stack.context().all(Person.self).allSatisfy { $0.age == 2 })
  }
}
