import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Batch insert requests")
struct BatchInsertTests {
  private func summary(_ person: Person?) -> String {
    "\(person?.name ?? "-") \(person?.age.map(String.init) ?? "-") \(person?.email ?? "-")"
  }

  private func rows(_ count: Int) -> [[String: Value]] {
    (0..<count).map { ["name": .string("Person \($0)"), "age": .int(Int64($0 % 100)), "email": .string("\($0)@x")] }
  }

  @Test("dictionaries become rows, and what isn't given has its default", arguments: StoreKind.allCases)
  func dictionaries(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    var request = BatchInsertRequest(entityName: "Person", objects: [["age": .int(30)], ["name": .string("Ada")]])
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 2 && result.objectIDs?.count == 2 && !context.hasChanges)
    #expect(context.registeredObjects.isEmpty)
    let stored = try result.objectIDs?.map { try stack.context().existingObject(with: $0) as? Person }
    #expect(stored?.map(summary) == ["nobody 30 -", "Ada - -"])
    try context.person("New")
    try context.save()
    #expect(try stack.context().all(Person.self).count == 3, "numbers go on where the batch ended")
  }

  @Test("a handler fills dictionaries, or an object, until it says that it is done", arguments: StoreKind.allCases)
  func handlers(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    var (first, second) = (0, 0)
    var byDictionary = BatchInsertRequest(
      entityName: "Person",
      dictionaryHandler: { values in
        if first == 5000 { return true }
        values["name"] = .string("Person \(first)")
        first += 1
        return false
      })
    byDictionary.resultType = .count
    #expect(try context.execute(byDictionary).count == 5000)
    var byObject = BatchInsertRequest(
      entityName: "Manager",
      managedObjectHandler: { object in
        if second == 3 { return true }
        guard let boss = object as? Manager else { return true }
        #expect(boss.name == "nobody" && boss.managedObjectContext == nil)
        boss.name = "Boss \(second)"
        second += 1
        return false
      })
    #expect(try context.execute(byObject).count == nil)
    byObject.resultType = .count
    let stored = try stack.context().all(Manager.self, sortedBy: "name")
    #expect(stored.map(\.name) == ["Boss 0", "Boss 1", "Boss 2"])
    #expect(try stack.context().count(for: FetchRequest<Person>(entityName: "Person")) == 5003)
  }

  @Test("what doesn't fit the model is refused, and nothing is inserted", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let bad: [([String: Value], ManagedObjectError)] = [
      (["nmae": .string("x")], .unknownProperty(entity: "Person", name: "nmae")),
      (
        ["age": .string("x")],
        .wrongType(entity: "Person", property: "age", expected: "Integer 32", found: "String")
      ),
    ]
    for (row, error) in bad {
      #expect(throws: error) {
        try context.execute(BatchInsertRequest(entityName: "Person", objects: rows(3000) + [row]))
      }
    }
    #expect(throws: ManagedObjectError.self) {
      try context.execute(BatchInsertRequest(entityName: "Person", objects: [["name": .null]]))
    }
    #expect(throws: ManagedObjectError.self) {
      try context.execute(BatchInsertRequest(entityName: "Person", objects: [["friends": .objects([])]]))
    }
    #expect(try stack.context().all(Person.self).isEmpty)
  }

  @Test("validation isn't asked", arguments: StoreKind.allCases)
  func unvalidated(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    try stack.context().execute(BatchInsertRequest(entityName: "Person", objects: [["age": .int(-5)]]))
    #expect(try stack.context().all(Person.self).map(\.age) == [-5])
  }

  @Test("a to-one relationship can be given, and one that leads nowhere is named", arguments: StoreKind.allCases)
  func toOne(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    try context.save()
    try context.execute(
      BatchInsertRequest(entityName: "Person", objects: [["name": .string("Ada"), "employer": .object(acme.objectID)]]))
    #expect(try stack.context().named("Acme", Company.self)?.employees.map(\.name) == ["Ada"])
    let writer = stack.context()
    let gone = try writer.company("Gone")
    try writer.save()
    writer.delete(gone)
    try writer.save()
    #expect {
      try context.execute(BatchInsertRequest(entityName: "Person", objects: [["employer": .object(gone.objectID)]]))
    } throws: { error in
      guard case ManagedObjectError.brokenReferences(let broken) = error else { return false }
      return broken.map(\.relationship) == ["employer"] && broken.map(\.missingObjectID) == [gone.objectID]
    }
  }

  @Test("unique values that are taken are treated as the context's policy says", arguments: StoreKind.allCases)
  func uniqueness(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: [String]] = [
      .mergeByPropertyStoreTrump: ["Ada 30 ada@x", "Fresh 9 fresh@x", "Other 3 other@x"],
      .mergeByPropertyObjectTrump: ["Nova 30 ada@x", "Again 9 fresh@x", "Other 3 other@x"],
      .overwrite: ["Nova - ada@x", "Again 9 fresh@x", "Other 3 other@x"],
      .rollback: ["Ada 30 ada@x", "Fresh - fresh@x", "Other 3 other@x"],
    ]
    let given: [[String: Value]] = [
      ["name": .string("Twin"), "email": .string("ada@x")],
      ["name": .string("Fresh"), "email": .string("fresh@x")],
      ["name": .string("Again"), "email": .string("fresh@x"), "age": .int(9)],
      ["name": .string("Nova"), "email": .string("ada@x")],
      ["name": .string("Other"), "email": .string("other@x"), "age": .int(3)],
    ]
    for policy in MergePolicyTests.policies {
      let stack = try CompanyStack(kind)
      let context = stack.context()
      let ada = try context.person("Ada", age: 30, email: "ada@x")
      try context.save()
      var request = BatchInsertRequest(entityName: "Person", objects: given)
      request.resultType = .objectIDs
      #expect(throws: ManagedObjectError.self) { try context.execute(request) }
      #expect(try stack.context().all(Person.self).count == 1)
      context.mergePolicy = policy
      let result = try context.execute(request)
      let stored = try stack.context().all(Person.self, sortedBy: "email")
      #expect(stored.map(summary) == expected[policy.mergeType], "\(policy.mergeType)")
      #expect(stored.first?.objectID == ada.objectID)
      let touched = stored.map(\.objectID).filter { $0 != ada.objectID || stored.first?.name != "Ada" }
      #expect(Set(result.objectIDs ?? []) == Set(touched) && result.count == touched.count)
    }
  }

  @Test("a value that is given counts even if it is the default's", arguments: StoreKind.allCases)
  func givenDefault(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.person("Ada", age: 30, email: "ada@x")
    try context.save()
    try context.execute(
      BatchInsertRequest(entityName: "Person", objects: [["email": .string("ada@x"), "age": .null]]))
    #expect(try stack.context().all(Person.self).map(summary) == ["Ada - ada@x"])
  }

  @Test("primary keys of the model's own are unique values", arguments: StoreKind.allCases)
  func primaryKeys(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let given: [[String: Value]] = [
      ["code": .int(39), "name": .string("Rome")], ["code": .int(39), "name": .string("Roma")],
    ]
    for name in ["Roma", "Rom"] {
      try context.execute(BatchInsertRequest(entityName: "City", objects: given))
      try context.execute(
        BatchInsertRequest(entityName: "City", objects: [["code": .int(39), "name": .string(name)]]))
      #expect(try stack.context().all(City.self).map(\.name) == [name])
    }
  }

  @Test("ten thousand rows of which half are stored", arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.execute(BatchInsertRequest(entityName: "Person", objects: rows(5000)))
    var request = BatchInsertRequest(
      entityName: "Person",
      objects: (0..<10000).map { ["name": .string("New"), "email": .string("\($0)@x")] })
    request.resultType = .count
    #expect(try context.execute(request).count == 10000)
    let stored = try stack.context().all(Person.self)
    #expect(stored.count == 10000 && stored.allSatisfy { $0.name == "New" } && stored.count { $0.age != nil } == 5000)
  }
}
