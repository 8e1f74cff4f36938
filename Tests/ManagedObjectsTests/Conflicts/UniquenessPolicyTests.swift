import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merge policies: unique values that are taken")
struct UniquenessPolicyTests {
  /// A stored Ada of 30 years with an address, and a context with a policy.
  private func stack(
    _ kind: StoreKind, _ policy: MergePolicy
  ) throws -> (stack: CompanyStack, id: ManagedObjectID, here: ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada", age: 30, email: "ada@x")
    ada.employer = try writer.company("Acme")
    try writer.save()
    let here = stack.context()
    here.mergePolicy = policy
    return (stack, ada.objectID, here)
  }

  private func summary(_ person: Person?) -> String {
    "\(person?.name ?? "-") \(person?.age.map(String.init) ?? "-") \(person?.email ?? "-") "
      + "\(person?.employer?.name ?? "-")"
  }

  private static let outcomes: [MergePolicy.MergeType: String] = [
    .mergeByPropertyStoreTrump: "Ada 30 ada@x Acme", .mergeByPropertyObjectTrump: "Twin 30 ada@x Mill",
    .overwrite: "Twin - ada@x Mill", .rollback: "Ada 30 ada@x Acme",
  ]

  @Test("a new object becomes the row that has its values", arguments: StoreKind.allCases)
  func upsert(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let (stack, id, here) = try stack(kind, policy)
      let twin = try here.person("Twin", email: "ada@x")
      let temporary = twin.objectID
      let mill = try here.company("Mill")
      twin.employer = mill
      let fresh = try here.person("Fresh", age: 1, email: "fresh@x")
      let save = try #require(try here.saveAndTell())
      #expect(twin.objectID == id && here.object(with: temporary) === twin && !here.hasChanges)
      #expect(save.insertedObjectIDs == [mill.objectID, fresh.objectID])
      #expect(
        save.updatedObjectIDs.map(\.entity.name) == (twin.name == "Twin" ? ["Person", "Company"] : []),
        "the company that loses its employee has changed, too")
      #expect(summary(twin) == Self.outcomes[policy.mergeType], "\(policy.mergeType)")
      #expect(mill.employees == (twin.employer === mill ? [twin] : []))
      let reader = stack.context()
      #expect(
        try reader.all(Person.self).count == 2 && summary(reader.named("Fresh", Person.self)) == "Fresh 1 fresh@x -")
      #expect(try summary(reader.existingObject(with: id) as? Person) == Self.outcomes[policy.mergeType])
      twin.age = 99
      try here.save()
      #expect(try (stack.context().existingObject(with: id) as? Person)?.age == 99)
    }
  }

  @Test("the row's object stays when it is in use, and the new one leaves", arguments: StoreKind.allCases)
  func upsertOfHeld(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let (stack, id, here) = try stack(kind, policy)
      let ada = try #require(try here.existingObject(with: id) as? Person)
      let acme = try #require(ada.employer)
      #expect(acme.employees == [ada])
      let mill = try here.company("Mill")
      let twin = try here.person("Twin", email: "ada@x")
      twin.employer = mill
      #expect(mill.employees == [twin])
      try here.save()
      #expect(
        twin.managedObjectContext == nil && summary(ada) == Self.outcomes[policy.mergeType], "\(policy.mergeType)")
      let moved = ada.employer === mill
      #expect(mill.employees == (moved ? [ada] : []) && acme.employees == (moved ? [] : [ada]))
      #expect(try summary(stack.context().existingObject(with: id) as? Person) == Self.outcomes[policy.mergeType])
      #expect(!here.hasChanges)
    }
  }

  @Test("what refers to the new object refers to the row afterwards", arguments: StoreKind.allCases)
  func references(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let stack = try CompanyStack(kind)
      let writer = stack.context()
      let acme = try writer.company("Acme")
      (acme.country, acme.registration) = ("CH", 1)
      let rome = try writer.city(39, "Rome")
      try writer.save()
      let here = stack.context()
      here.mergePolicy = policy
      let company = try here.company("Acme AG")
      (company.country, company.registration) = ("CH", 1)
      let city = try here.city(39, "Roma")
      let bob = try here.person("Bob")
      (bob.employer, bob.birthplace, bob.visited) = (company, city, [city])
      try here.save()
      let trumps = policy === MergePolicy.mergeByPropertyObjectTrump || policy === MergePolicy.overwrite
      #expect(company.employees == [bob] && bob.birthplace === city && city.objectID == rome.objectID)
      let stored = try #require(try stack.context().named("Bob", Person.self))
      #expect(stored.employer?.objectID == acme.objectID && stored.birthplace?.objectID == rome.objectID)
      #expect(stored.employer?.name == (trumps ? "Acme AG" : "Acme") && stored.visited.count == 1)
      #expect(stored.birthplace?.name == (trumps ? "Roma" : "Rome"))
      #expect(stored.employer?.employees == [stored])
    }
  }

  @Test("pairs of the new object come to the row's", arguments: StoreKind.allCases)
  func pairs(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: Set<String>] = [
      .mergeByPropertyStoreTrump: ["Bob", "Cid"], .mergeByPropertyObjectTrump: ["Bob", "Cid"], .overwrite: ["Cid"],
      .rollback: ["Bob"],
    ]
    for policy in MergePolicyTests.policies {
      let (stack, id, here) = try stack(kind, policy)
      let writer = stack.context()
      try #require(try writer.existingObject(with: id) as? Person).friends = [try writer.person("Bob")]
      try writer.save()
      let twin = try here.person("Twin", email: "ada@x")
      let cid = try here.person("Cid")
      twin.friends = [cid]
      try here.save()
      let stored = try #require(try stack.context().existingObject(with: id) as? Person)
      #expect(Set(stored.friends.compactMap(\.name)) == expected[policy.mergeType], "\(policy.mergeType)")
      #expect(Set(twin.friends.compactMap(\.name)) == expected[policy.mergeType], "\(policy.mergeType)")
      #expect(cid.friends.isEmpty == (policy.mergeType == .rollback))
    }
  }

  @Test("objects of one save with the same values become one", arguments: StoreKind.allCases)
  func sameContext(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: String] = [
      .mergeByPropertyStoreTrump: "one 20 new@x Mill", .mergeByPropertyObjectTrump: "three 20 new@x Mill",
      .overwrite: "three - new@x -", .rollback: "one - new@x -",
    ]
    for policy in MergePolicyTests.policies {
      let (stack, _, here) = try stack(kind, policy)
      let one = try here.person("one", email: "new@x")
      let two = try here.person("two", age: 20, email: "new@x")
      two.employer = try here.company("Mill")
      let three = try here.person("three", email: "new@x")
      try here.save()
      #expect(summary(one) == expected[policy.mergeType], "\(policy.mergeType)")
      #expect(two.managedObjectContext == nil && three.managedObjectContext == nil)
      let found = try stack.context().all(Person.self, .equal("email", .string("new@x")))
      #expect(found.map(summary) == [expected[policy.mergeType]] && found.first?.objectID == one.objectID)
    }
  }

  @Test("new objects of one save that are all a stored row", arguments: StoreKind.allCases)
  func sameRow(_ kind: StoreKind) throws {
    let (stack, id, here) = try stack(kind, .mergeByPropertyObjectTrump)
    let twins = try (1...3).map { try here.person("Twin \($0)", age: $0 == 2 ? 20 : nil, email: "ada@x") }
    try here.save()
    #expect(twins[0].objectID == id && twins[1].managedObjectContext == nil)
    #expect(try stack.context().all(Person.self).map(summary) == ["Twin 3 20 ada@x Acme"])
  }

  @Test("a saved object that takes another row's values displaces it, or gives them up", arguments: StoreKind.allCases)
  func updated(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let (stack, id, here) = try stack(kind, policy)
      let bob = try here.person("Bob", age: 5, email: "bob@x")
      try here.save()
      (bob.email, bob.age) = ("ada@x", 6)
      try here.save()
      let stored = try stack.context().all(Person.self, sortedBy: "name")
      switch policy.mergeType {
      case .mergeByPropertyObjectTrump, .overwrite:
        #expect(stored.map(summary) == ["Bob 6 ada@x -"] && stored.first?.objectID == bob.objectID)
      case .mergeByPropertyStoreTrump:
        #expect(stored.map(summary) == ["Ada 30 ada@x Acme", "Bob 6 bob@x -"] && stored.first?.objectID == id)
      case .rollback, .error: #expect(stored.map(summary) == ["Ada 30 ada@x Acme", "Bob 5 bob@x -"])
      }
      #expect(!here.hasChanges && bob.email == stored.last?.email && bob.age == stored.last?.age)
    }
  }

  @Test("a row's object of another entity goes or stays whole", arguments: StoreKind.allCases)
  func inherited(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let (stack, id, here) = try stack(kind, policy)
      let boss = try here.insert(Manager.self)
      (boss.name, boss.email) = ("Boss", "ada@x")
      try here.save()
      let stored = try stack.context().all(Person.self)
      if policy === MergePolicy.mergeByPropertyObjectTrump || policy === MergePolicy.overwrite {
        #expect(stored.map(summary) == ["Boss - ada@x -"] && stored.first is Manager)
      } else {
        #expect(stored.map(\.objectID) == [id] && boss.managedObjectContext == nil)
      }
    }
  }

  @Test("a conflict names the row and the objects", arguments: StoreKind.allCases)
  func snapshots(_ kind: StoreKind) throws {
    let (_, id, here) = try stack(kind, .error)
    let twin = try here.person("Twin", email: "ada@x")
    let (one, two) = (try here.person("one", email: "new@x"), try here.person("two", email: "new@x"))
    #expect {
      try here.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error, conflicts.count == 2 else {
        return false
      }
      let (stored, among) = (conflicts[0], conflicts[1])
      return stored.databaseObjectID == id && stored.databaseSnapshot?["age"] == .int(30)
        && stored.conflictingObjectIDs == [twin.objectID] && stored.constraintValues == ["email": .string("ada@x")]
        && among.databaseObjectID == nil && among.conflictingObjectIDs == [one.objectID, two.objectID]
        && among.conflictingSnapshots.map { $0["name"] } == [.string("one"), .string("two")]
    }
  }

  @Test("half of ten thousand new objects are rows already", arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    for number in 0..<5000 { try writer.person("Stored", age: 30, email: "\(number)@x") }
    try writer.save()
    let here = stack.context()
    here.mergePolicy = .mergeByPropertyObjectTrump
    for number in 0..<10000 { try here.person("New", email: "\(number)@x") }
    try here.save()
    let stored = try stack.context().all(Person.self)
    #expect(stored.count == 10000 && stored.allSatisfy { $0.name == "New" })
    #expect(stored.count { $0.age == 30 } == 5000)
  }

  @Test("rows swap, rotate and pass on unique values in one save", arguments: StoreKind.allCases)
  func swap(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let people = try (0..<6).map { try context.person("Person \($0)", email: "\($0)@x") }
    let companies = try (0..<2).map { try context.company("Company \($0)") }
    for (index, company) in companies.enumerated() { (company.country, company.registration) = ("CH", index) }
    try context.save()
    for (index, place) in [1, 2, 0, 4, 5, 6].enumerated() { people[index].email = "\(place)@x" }
    (companies[0].registration, companies[1].registration) = (1, 0)
    try context.person("New", email: "3@x")
    try context.save()
    let stored = try stack.context().all(Person.self, sortedBy: "name").compactMap(\.email)
    #expect(stored == ["3@x", "1@x", "2@x", "0@x", "4@x", "5@x", "6@x"])
    #expect(try stack.context().all(Company.self, sortedBy: "name").map(\.registration) == [1, 0])
  }

  @Test("a swap with a conflict beside it is refused for that alone", arguments: StoreKind.allCases)
  func swapAndConflict(_ kind: StoreKind) throws {
    let (stack, id, here) = try stack(kind, .error)
    let people = try (0..<4).map { try here.person("Person \($0)", email: "\($0)@x") }
    try here.save()
    for (index, address) in ["1@x", "0@x", "ada@x", "0@x"].enumerated() { people[index].email = address }
    #expect {
      try here.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      return conflicts.map(\.objectID) == [people[2].objectID, people[3].objectID]
        && conflicts.map(\.databaseObjectID) == [id, nil]
        && conflicts.last?.conflictingObjectIDs == [people[1].objectID, people[3].objectID]
    }
    let stored = try stack.context().all(Person.self, sortedBy: "email").map(\.email)
    #expect(stored == ["0@x", "1@x", "2@x", "3@x", "ada@x"])
  }
}
