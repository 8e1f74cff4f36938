import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Values by key and key path")
struct KeyValueCodingTests {
  /// A company with three people, one of them without an age.
  private func company(_ kind: StoreKind) throws -> (CompanyStack, Company) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    let people = [
      try context.person("Ada", age: 36), try context.person("Bo", age: 20), try context.person("Cy"),
      try context.person("Di", age: 20),
    ]
    acme.employees = Set(people.prefix(3))
    let desk = try context.insert(Desk.self)
    desk.label = "by the window"
    people[0].desk = desk
    people[0].friends = [people[1], people[3]]
    try context.save()
    return (stack, acme)
  }

  @Test("literals, Swift values and objects are set by key", arguments: StoreKind.allCases)
  func setting(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, bo, acme) = (try context.person("?"), try context.person("Bo"), try context.company("Acme"))
    let number = 36
    try ada.setValue("Ada", forKey: "name")
    try ada.setValue(number, forKey: "age")
    try ada.setValue("ada@\(acme.name ?? "").example", forKey: "email")
    try ada.setValue(acme, forKey: "employer")
    #expect(ada.name == "Ada" && ada.age == 36 && ada.email == "ada@Acme.example" && ada.employer == acme)
    try acme.setValue([ada, bo], forKey: "employees")
    #expect(acme.employees == [ada, bo] && bo.employer == acme)
    try acme.setValue(Set([bo]), forKey: "employees")
    #expect(ada.employer == nil)
    let (nobody, none): (Company?, String?) = (nil, nil)
    try bo.setValue(nobody, forKey: "employer")
    try ada.setValue(none, forKey: "email")
    try ada.setValue(nil, forKey: "age")
    #expect(acme.employees.isEmpty && ada.email == nil && ada.age == nil)
    #expect(ada.value(forKey: "name") == "Ada" && ada.value(forKey: "age") == .null)
    let sample = try context.insert(Sample.self)
    try sample.setValue(3, forKey: "ratio")
    try sample.setValue(2.5, forKey: "amount")
    try sample.setValue(true, forKey: "flag")
    #expect(sample.ratio == 3 && sample.amount == Decimal(string: "2.5") && sample.value(forKey: "flag") == true)
  }

  @Test("what a property doesn't hold is refused, and nothing is set")
  func refusedValues() throws {
    let stack = try CompanyStack(.inMemory)
    let (context, other) = (stack.context(), stack.context())
    let (ada, stranger) = (try context.person("Ada", age: 36), try other.company("Other"))
    #expect(throws: ManagedObjectError.self) { try ada.setValue("x", forKey: "age") }
    #expect(throws: ManagedObjectError.self) { try ada.setValue(1.5, forKey: "age") }
    #expect(throws: ManagedObjectError.self) { try ada.setValue(ada, forKey: "employer") }
    #expect(throws: ManagedObjectError.self) { try ada.setValue([ada], forKey: "employer") }
    #expect(throws: ManagedObjectError.foreignObject(stranger.objectID)) {
      try ada.setValue(stranger, forKey: "employer")
    }
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Person", name: "nmae")) {
      try ada.setValue("x", forKey: "nmae")
    }
    #expect(ada.age == 36 && ada.employer == nil)
  }

  @Test("values are read by key as Swift types, and relationships as objects", arguments: StoreKind.allCases)
  func reading(_ kind: StoreKind) throws {
    let (stack, acme) = try company(kind)
    // Its context ends with it.
    defer { withExtendedLifetime(stack) {} }
    let ada = try #require(acme.employees.first { $0.name == "Ada" })
    #expect(try ada["name"] as String? == "Ada")
    #expect(try ada["age"] as Int? == 36)
    #expect(try ada["age"] as Double? == 36)
    #expect(try ada["email"] as String? == nil)
    #expect(try ada["employer"] as Company? == acme)
    #expect(try ada["birthplace"] as City? == nil)
    #expect(try ada["friends"] as Set<Person> == ada.friends)
    #expect(Set(try ada["friends"] as [Person]) == ada.friends)
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Person", name: "nmae")) { try ada["nmae"] as String? }
    #expect(throws: ManagedObjectError.notOfType(entity: "Person", keyPath: "name", type: "Int", found: "String")) {
      try ada["name"] as Int?
    }
    #expect(throws: ManagedObjectError.notOfType(entity: "Person", keyPath: "employer", type: "City", found: "Company"))
    {
      try ada["employer"] as City?
    }
  }

  @Test("key paths lead over relationships to values", arguments: StoreKind.allCases)
  func paths(_ kind: StoreKind) throws {
    let (stack, saved) = try company(kind)
    let acme = try #require(stack.context().object(with: saved.objectID) as? Company)
    let ada = try #require(acme.employees.first { $0.name == "Ada" })
    #expect(try ada.value(forKeyPath: "employer.name") == "Acme")
    #expect(try ada.value(forKeyPath: "birthplace.name") == .null)
    #expect(try ada["desk.occupant.employer"] as Company? == acme)
    #expect(Set(try acme["employees.name"] as [String]) == ["Ada", "Bo", "Cy"])
    #expect(Set(try acme["employees.age"] as [Int]) == [36, 20])
    #expect(try acme.values(forKeyPath: "employees.age").count == 3, "nil included")
    #expect(try acme["employees.friends"] as Set<Person> == ada.friends.union([ada]), "Bo's friend is Ada")
    #expect(try acme.value(forKeyPath: "employees.friends").objectIDs?.count == 3)
    #expect(try acme.value(forKeyPath: "employees") == acme.value(forKey: "employees"))
    #expect(try acme["employees.desk.label"] as [String] == ["by the window"])
    #expect(throws: ManagedObjectError.severalValues(entity: "Company", keyPath: "employees.name")) {
      try acme.value(forKeyPath: "employees.name")
    }
    for (path, name) in [("employees.nmae", "nmae"), ("employees.name.length", "length")] {
      let error = #expect(throws: ManagedObjectError.self) { try acme.values(forKeyPath: path) }
      guard case .unknownProperty(_, name) = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
    #expect(throws: ManagedObjectError.self) { try ada.value(forKeyPath: "birthplace.nmae") }
  }

  @Test("operators of key paths compute over the objects of a relationship", arguments: StoreKind.allCases)
  func operators(_ kind: StoreKind) throws {
    let (stack, acme) = try company(kind)
    // Its context ends with it.
    defer { withExtendedLifetime(stack) {} }
    #expect(try acme.value(forKeyPath: "employees.@count") == 3)
    #expect(try acme.value(forKeyPath: "employees.@sum.age") == 56)
    #expect(try acme["employees.@avg.age"] as Double? == 56.0 / 3)
    #expect(try acme.value(forKeyPath: "employees.@min.age") == 20)
    #expect(try acme.value(forKeyPath: "employees.@max.name") == "Cy")
    #expect(try acme["employees.@max.age"] as Int? == 36)
    #expect((try acme["employees.friends.@unionOfObjects.age"] as [Int]).sorted() == [20, 20, 36])
    #expect((try acme["employees.friends.@distinctUnionOfObjects.age"] as [Int]).sorted() == [20, 36])
    #expect((try acme["employees.@distinctUnionOfObjects.desk"] as [Desk]).map(\.label) == ["by the window"])
    #expect(try acme.value(forKeyPath: "employees.employer.employees.@count") == 9)
    #expect(try acme.value(forKeyPath: "departments.@count") == 0)
    #expect(try acme.value(forKeyPath: "contracts.@sum.number") == 0)
    #expect(try acme.value(forKeyPath: "contracts.@avg.number") == 0.0)
    #expect(try acme.value(forKeyPath: "contracts.@max.number") == .null)
    for path in ["@count", "employees.@median.age", "employees.@sum", "contracts.@sum.nmae", "name.@count"] {
      #expect(throws: ManagedObjectError.self, "\(path)") { try acme.value(forKeyPath: path) }
    }
    #expect(throws: ManagedObjectError.self) { try acme.value(forKeyPath: "employees.@sum.name") }
  }

  @Test("several values are read and set as a dictionary", arguments: StoreKind.allCases)
  func dictionaries(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, bo, acme) = (try context.person("Ada", age: 36), try context.person("Bo"), try context.company("Acme"))
    ada.employer = acme
    let values = try ada.dictionaryWithValues(forKeys: ["name", "age", "email", "employer"])
    #expect(values == ["name": "Ada", "age": 36, "email": nil, "employer": .object(acme.objectID)])
    try bo.setValuesForKeys(values)
    #expect(bo.name == "Ada" && bo.age == 36 && bo.employer == acme)
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Person", name: "nmae")) {
      try bo.setValuesForKeys(["age": 1, "nmae": "x"])
    }
    #expect(bo.age == 36, "nothing is set when a key is unknown")
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Person", name: "nmae")) {
      try bo.dictionaryWithValues(forKeys: ["nmae"])
    }
  }

  @Test("a primitive value sets one end of a relationship, and isn't announced")
  func primitives() throws {
    let context = try CompanyStack(.inMemory).context()
    let (ada, acme) = (try context.person("Ada"), try context.company("Acme"))
    try context.save()
    try ada.setPrimitiveValue(.object(acme.objectID), forKey: "employer")
    #expect(ada.primitiveValue(forKey: "employer") == .object(acme.objectID) && ada.employer == acme)
    #expect(acme.employees.isEmpty && !ada.hasChanges)
    try acme.setPrimitiveValue(.objects([ada.objectID]), forKey: "employees")
    #expect(acme.employees == [ada])
    #expect(throws: ManagedObjectError.self) { try ada.setPrimitiveValue(.object(ada.objectID), forKey: "employer") }
  }

  @Test("a mutable set changes the object and the inverse", arguments: StoreKind.allCases)
  func mutableSets(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, bo, acme) = (try context.person("Ada"), try context.person("Bo"), try context.company("Acme"))
    let staff = try #require(acme.mutableSetValue(forKey: "employees"))
    staff.add(ada)
    staff.union([ada, bo])
    #expect(acme.employees == [ada, bo] && bo.employer == acme && staff.count == 2 && staff.contains(bo))
    for person in staff { staff.remove(person) }
    #expect(staff.isEmpty && ada.employer == nil && staff.anyObject() == nil)
    staff.setSet([ada, bo])
    staff.intersect([bo])
    #expect(staff.allObjects == [bo])
    staff.minus([bo])
    staff.add(ada)
    staff.removeAllObjects()
    #expect(acme.employees.isEmpty)
    #expect(acme.mutableSetValue(forKey: "name") == nil && ada.mutableSetValue(forKey: "employer") == nil)
  }

  @Test("another context's object isn't in a mutable set, and is left alone", arguments: StoreKind.allCases)
  func foreignMembers(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let (ada, acme) = (try here.person("Ada"), try here.company("Acme"))
    ada.employer = acme
    try here.save()
    let theirs = try #require(try there.named("Ada", Person.self))
    let staff = try #require(acme.mutableSetValue(forKey: "employees"))
    #expect(staff.contains(ada) && !staff.contains(theirs))
    staff.remove(theirs)
    #expect(acme.employees == [ada] && theirs.employer?.name == "Acme" && !there.hasChanges)
  }
}
