import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merge policies on the way up")
struct ChildConflictTests {
  /// Ada of 30 years in a parent, and in a child with a policy.
  private func family(
    _ kind: StoreKind, _ policy: MergePolicy
  ) throws -> (
    stack: CompanyStack, parent: ManagedObjectContext, ada: Person, child: ManagedObjectContext, mine: Person
  ) {
    let stack = try CompanyStack(kind)
    let parent = stack.context()
    let ada = try parent.person("Ada", age: 30)
    ada.employer = try parent.company("Acme")
    try parent.save()
    let child = ManagedObjectContext(.confinement, parent: parent)
    child.mergePolicy = policy
    let mine = try #require(try child.named("Ada", Person.self))
    return (stack, parent, ada, child, mine)
  }

  @Test("an object that the parent has changed since is a conflict for the child", arguments: StoreKind.allCases)
  func conflict(_ kind: StoreKind) throws {
    let (_, _, ada, child, mine) = try family(kind, .error)
    ada.age = 31
    mine.name = "Mine"
    #expect {
      try child.save()
    } throws: { error in
      guard case ManagedObjectError.mergeConflicts(let conflicts) = error else { return false }
      return conflicts == [.init(objectID: ada.objectID, isDeleted: false)]
        && conflicts[0].persistedSnapshot?["age"] == .int(31) && conflicts[0].cachedSnapshot?["age"] == .int(30)
    }
    #expect(ada.name == "Ada" && mine.name == "Mine")
  }

  @Test("the child's policy settles it, and the parent is what the child meets", arguments: StoreKind.allCases)
  func settled(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: String] = [
      .mergeByPropertyStoreTrump: "Theirs 31 mine@x", .mergeByPropertyObjectTrump: "Mine 31 mine@x",
      .overwrite: "Mine 30 mine@x", .rollback: "Theirs 31 ",
    ]
    for policy in MergePolicyTests.policies {
      let (stack, parent, ada, child, mine) = try family(kind, policy)
      (ada.name, ada.age) = ("Theirs", 31)
      (mine.name, mine.email) = ("Mine", "mine@x")
      try child.save()
      #expect(
        "\(ada.name ?? "") \(ada.age ?? 0) \(ada.email ?? "")" == expected[policy.mergeType], "\(policy.mergeType)")
      #expect("\(mine.name ?? "") \(mine.age ?? 0) \(mine.email ?? "")" == expected[policy.mergeType])
      #expect(!child.hasChanges && parent.hasChanges)
      try parent.save()
      #expect(try stack.context().all(Person.self).map(\.name) == [ada.name])
    }
  }

  @Test("the parent's own policy applies when it saves on", arguments: StoreKind.allCases)
  func onwards(_ kind: StoreKind) throws {
    let (stack, parent, ada, child, mine) = try family(kind, .error)
    parent.mergePolicy = .mergeByPropertyStoreTrump
    let elsewhere = stack.context()
    let other = try #require(try elsewhere.named("Ada", Person.self))
    (other.name, other.age) = ("Theirs", 31)
    try elsewhere.save()
    (mine.name, mine.email) = ("Mine", "mine@x")
    try child.save()
    #expect(ada.name == "Mine")
    try parent.save()
    #expect(ada.name == "Theirs" && ada.age == 31 && ada.email == "mine@x")
    let stored = try #require(try stack.context().all(Person.self).first)
    #expect(stored.name == "Theirs" && stored.age == 31 && stored.email == "mine@x")
  }

  @Test("an object that its parent deleted comes back or goes, by the child's policy", arguments: StoreKind.allCases)
  func deleted(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let (stack, parent, ada, child, mine) = try family(kind, policy)
      let id = ada.objectID
      parent.delete(ada)
      mine.age = 31
      try child.save()
      try parent.save()
      let stored = try stack.context().all(Person.self)
      if policy === MergePolicy.mergeByPropertyObjectTrump || policy === MergePolicy.overwrite {
        #expect(stored.map(\.age) == [31] && stored.first?.objectID == id && stored.first?.employer?.name == "Acme")
        #expect(try parent.all(Person.self).count == 1)
      } else {
        #expect(stored.isEmpty && mine.managedObjectContext == nil)
      }
      #expect(!parent.hasChanges && !child.hasChanges)
    }
  }

  @Test("an object whose row is gone comes back through two contexts", arguments: StoreKind.allCases)
  func goneBelow(_ kind: StoreKind) throws {
    let (stack, parent, ada, child, mine) = try family(kind, .mergeByPropertyObjectTrump)
    parent.mergePolicy = .mergeByPropertyObjectTrump
    let elsewhere = stack.context()
    elsewhere.delete(try elsewhere.existingObject(with: ada.objectID))
    try elsewhere.save()
    mine.age = 31
    try child.save()
    try parent.save()
    #expect(try stack.context().all(Person.self).map(\.age) == [31])
  }

  @Test("both delete the same object", arguments: StoreKind.allCases)
  func bothDelete(_ kind: StoreKind) throws {
    let (stack, parent, ada, child, mine) = try family(kind, .error)
    parent.delete(ada)
    child.delete(mine)
    try child.save()
    try parent.save()
    #expect(try stack.context().all(Person.self).isEmpty)
  }

  @Test("a child's new object that is a stored row is so in the child too", arguments: StoreKind.allCases)
  func upsert(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada", age: 30, email: "ada@x")
    try writer.save()
    let parent = stack.context()
    parent.mergePolicy = .mergeByPropertyObjectTrump
    let child = ManagedObjectContext(.confinement, parent: parent)
    child.mergePolicy = .mergeByPropertyObjectTrump
    let twin = try child.person("Twin", email: "ada@x")
    let bob = try child.person("Bob")
    bob.friends = [twin]
    try child.save()
    try parent.save()
    #expect(try child.named("Bob", Person.self) === bob && twin.objectID == ada.objectID)
    twin.name = "Changed"
    try child.save()
    try parent.save()
    let stored = try #require(try stack.context().existingObject(with: ada.objectID) as? Person)
    #expect(stored.name == "Changed" && stored.age == 30 && stored.friends.map(\.name) == ["Bob"])
  }
}
