import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Saves that are refused")
struct SaveRefusalTests {
  @Test("validation reports every failure of every object, and writes nothing", arguments: StoreKind.allCases)
  func validation(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let saved = try context.person("Ada")
    try context.save()
    saved.age = -1
    let young = try context.person("x", age: 151, email: "no address")
    let department = try context.insert(Department.self)
    let company = try context.insert(Company.self)
    let long = try context.person(String(repeating: "x", count: 41))
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      let found = Set(
        failures.map { "\($0.objectID?.uriRepresentation.absoluteString ?? "") \($0.property) \($0.code)" })
      func line(_ object: ManagedObject, _ text: String) -> String {
        "\(object.objectID.uriRepresentation.absoluteString) \(text)"
      }
      return found == [
        line(saved, "age below_minimum"), line(young, "name too_short"), line(young, "age above_maximum"),
        line(young, "email no_match"), line(department, "company missing_value"), line(company, "name missing_value"),
        line(long, "name too_long"),
      ]
    }
    #expect(try stack.context().count(for: FetchRequest<Person>(entityName: "Person")) == 1)
    #expect(context.hasChanges && young.isInserted)

    context.rollback()
    try context.save()
  }

  @Test("a value of another type than the model's is found on the save", arguments: StoreKind.allCases)
  func wrongType(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    ada.setValue(.string("forty"), at: 2)
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.property) == ["age"] && failures.map(\.code) == ["wrong_type"]
    }
  }

  @Test("uniqueness conflicts are all reported, and nothing is written", arguments: StoreKind.allCases)
  func uniqueness(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let first = stack.context()
    try first.person("Ada", email: "ada@example.org")
    let bob = try first.person("Bob", email: "bob@example.org")
    let acme = try first.company("Acme")
    (acme.country, acme.registration) = ("CH", 1)
    try first.city(39, "Rome")
    try first.save()

    let context = stack.context()
    let twin = try context.person("Twin", email: "ada@example.org")
    let fresh = try context.person("Fresh", email: "fresh@example.org")
    let again = try context.person("Again", email: "fresh@example.org")
    let mill = try context.company("Mill")
    (mill.country, mill.registration) = ("CH", 1)
    let other = try context.company("Other")
    (other.country, other.registration) = ("FR", 1)
    let rome = try context.city(39, "Roma")
    let changed = try #require(context.object(with: bob.objectID) as? Person)
    changed.email = "ada@example.org"
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      let found = Set(conflicts.map { "\($0.objectID) \($0.constraint.joined(separator: ","))" })
      return found == [
        "\(twin.objectID) email", "\(again.objectID) email", "\(mill.objectID) country,registration",
        "\(rome.objectID) code", "\(changed.objectID) email",
      ]
    }
    #expect(fresh.isInserted)
    let reader = stack.context()
    #expect(try reader.all(Person.self).count == 2 && reader.all(Company.self).count == 1)
    #expect(try reader.named("Bob", Person.self)?.email == "bob@example.org")

    for object in [twin, again, mill, rome] { context.delete(object) }
    changed.email = "bobby@example.org"
    try context.save()
    #expect(try stack.context().all(Person.self).count == 3)
  }

  @Test("an object that breaks two constraints is reported for both", arguments: StoreKind.allCases)
  func twoConstraints(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada", email: "ada@example.org")
    try context.save()
    let boss = try context.insert(Manager.self)
    boss.name = "Boss"
    boss.email = "ada@example.org"
    #expect(
      throws: ManagedObjectError.constraintConflicts([.init(objectID: boss.objectID, constraint: ["email"])]),
      "a subentity's objects are in the same constraint"
    ) { try context.save() }
  }

  @Test("nil clashes with nothing", arguments: StoreKind.allCases)
  func nilIsUnique(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for name in ["one", "two"] {
      try context.person(name)
      try context.company(name).registration = 1
    }
    try context.save()
    #expect(try stack.context().all(Company.self).count == 2)
  }

  @Test("values that others give up in the same save can be taken", arguments: StoreKind.allCases)
  func handedOn(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let people = try ["a@x", "b@x", "c@x"].map { try context.person("Person", email: $0) }
    try context.save()
    people[0].email = "b@x"
    people[1].email = "d@x"
    context.delete(people[2])
    try context.person("New", email: "c@x")
    try context.save()
    #expect(try Set(stack.context().all(Person.self).map(\.email)) == ["b@x", "d@x", "c@x"])
  }

  @Test("a save that fails can be corrected and tried again", arguments: StoreKind.allCases)
  func retry(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, twin) = (try context.person("Ada", email: "a@x"), try context.person("Twin", email: "a@x"))
    ada.friends = [twin]
    #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(ada.objectID.isTemporaryID && ada.friends == [twin])
    twin.email = "b@x"
    try context.save()
    #expect(try stack.context().named("Twin", Person.self)?.friends.map(\.name) == ["Ada"])
  }
}
