import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Merge policies: rows that another context has changed")
struct MergePolicyTests {
  static let policies: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  /// Ada at Acme, aged 30, in two contexts.
  private struct Twice {
    let stack: CompanyStack
    let here: ManagedObjectContext
    let ada: Person
    let there: ManagedObjectContext
    let other: Person

    init(_ kind: StoreKind, _ policy: MergePolicy) throws {
      stack = try CompanyStack(kind)
      let writer = stack.context()
      try writer.person("Ada", age: 30).employer = try writer.company("Acme")
      try writer.company("Mill")
      try writer.save()
      (here, there) = (stack.context(), stack.context())
      here.mergePolicy = policy
      ada = try #require(try here.named("Ada", Person.self))
      other = try #require(try there.named("Ada", Person.self))
      _ = (ada.projects, other.projects)
    }

    var stored: Person {
      get throws { try #require(try stack.context().all(Person.self).first) }
    }
  }

  private func summary(_ person: Person) -> String {
    "\(person.name ?? "-") \(person.age.map(String.init) ?? "-") \(person.email ?? "-") \(person.employer?.name ?? "-")"
  }

  @Test("what both changed is decided by the policy, the rest comes together", arguments: StoreKind.allCases)
  func properties(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: String] = [
      .mergeByPropertyStoreTrump: "Theirs 31 mine@x Acme", .mergeByPropertyObjectTrump: "Mine 31 mine@x Acme",
      .overwrite: "Mine 30 mine@x Acme", .rollback: "Theirs 31 - Acme",
    ]
    for policy in Self.policies {
      let two = try Twice(kind, policy)
      (two.other.name, two.other.age) = ("Theirs", 31)
      try two.there.save()
      (two.ada.name, two.ada.email) = ("Mine", "mine@x")
      try two.here.person("Bystander")
      try two.here.save()
      let stored = try #require(try two.stack.context().existingObject(with: two.ada.objectID) as? Person)
      #expect(summary(stored) == expected[policy.mergeType], "\(policy.mergeType)")
      #expect(summary(two.ada) == expected[policy.mergeType], "\(policy.mergeType) in the context")
      #expect(!two.here.hasChanges && !two.ada.hasChanges)
      #expect(try two.stack.context().all(Person.self).count == 2)
      two.ada.age = 99
      try two.here.save()
    }
  }

  @Test("a policy is set from any thread, by the context's queue", arguments: StoreKind.allCases)
  func queue(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada", age: 30)
    try writer.save()
    let (id, coordinator) = (ada.objectID, stack.coordinator)
    let queue = ContextQueue(.privateQueue, coordinator: coordinator)
    queue.mergePolicy = .mergeByPropertyObjectTrump
    let age = try queue.performAndWait { context in
      let mine = try #require(try context.existingObject(with: id) as? Person)
      mine.age = 31
      let other = ManagedObjectContext(.confinement, coordinator: coordinator)
      try #require(try other.existingObject(with: id) as? Person).age = 32
      try other.save()
      try context.save()
      return mine.age
    }
    #expect(age == 31)
    #expect(queue.mergePolicy === MergePolicy.mergeByPropertyObjectTrump)
  }

  @Test(
    "a to-one relationship is a property like others, and sets at its other end follow", arguments: StoreKind.allCases)
  func toOne(_ kind: StoreKind) throws {
    let expected: [MergePolicy.MergeType: String] = [
      .mergeByPropertyStoreTrump: "-", .mergeByPropertyObjectTrump: "Mill", .overwrite: "Mill", .rollback: "-",
    ]
    for policy in Self.policies {
      let two = try Twice(kind, policy)
      let (acme, mill) = (
        try #require(try two.here.named("Acme", Company.self)), try #require(try two.here.named("Mill", Company.self))
      )
      #expect(acme.employees == [two.ada] && mill.employees.isEmpty)
      two.other.employer = nil
      try two.there.save()
      two.ada.employer = mill
      try two.here.save()
      let name = expected[policy.mergeType]
      #expect(try (two.stored.employer?.name ?? "-") == name, "\(policy.mergeType)")
      #expect((two.ada.employer?.name ?? "-") == name, "\(policy.mergeType)")
      #expect(acme.employees.isEmpty && mill.employees == (name == "Mill" ? [two.ada] : []), "\(policy.mergeType)")
      #expect(!two.here.hasChanges)
    }
  }

  @Test("many-to-many sets keep what each side added, and a rollback gives up its own", arguments: StoreKind.allCases)
  func sets(_ kind: StoreKind) throws {
    for policy in Self.policies {
      let two = try Twice(kind, policy)
      let (red, blue) = (try two.here.insert(Project.self), try two.there.insert(Project.self))
      (red.title, blue.title) = ("red", "blue")
      (two.other.projects, two.other.age) = ([blue], 31)
      try two.there.save()
      (two.ada.projects, two.ada.name) = ([red], "Mine")
      try two.here.save()
      let titles = try Set(two.stored.projects.compactMap(\.title))
      #expect(titles == (policy.mergeType == .rollback ? ["blue"] : ["blue", "red"]), "\(policy.mergeType)")
      if policy.mergeType == .rollback { #expect(red.members.isEmpty && two.ada.projects.map(\.title) == ["blue"]) }
    }
  }

  @Test("a row deleted elsewhere stays deleted when the store trumps, and comes back when the object does")
  func deletedThere() throws {
    for (kind, policy) in StoreKind.allCases.flatMap({ kind in Self.policies.map { (kind, $0) } }) {
      let two = try Twice(kind, policy)
      let id = two.ada.objectID
      let acme = try #require(try two.here.named("Acme", Company.self))
      #expect(acme.employees == [two.ada])
      two.there.delete(two.other)
      try two.there.save()
      two.ada.name = "Mine"
      let save = try two.here.saveAndTell()
      let comesBack = policy === MergePolicy.mergeByPropertyObjectTrump || policy === MergePolicy.overwrite
      #expect((save?.insertedObjectIDs ?? []) == (comesBack ? [id] : []))
      #expect((save?.updatedObjectIDs ?? []) == (comesBack ? [acme.objectID] : []), "its employee comes back")
      let stored = try two.stack.context().all(Person.self)
      if comesBack {
        #expect(stored.map(summary) == ["Mine 30 - Acme"] && stored.first?.objectID == id)
        #expect(!two.ada.hasChanges && acme.employees == [two.ada])
        two.ada.age = 40
        try two.here.save()
      } else {
        #expect(stored.isEmpty && two.ada.managedObjectContext == nil && acme.employees.isEmpty)
      }
    }
  }

  @Test("a row changed elsewhere is deleted when the object trumps, and kept when the store does")
  func deletedHere() throws {
    for (kind, policy) in StoreKind.allCases.flatMap({ kind in Self.policies.map { (kind, $0) } }) {
      let two = try Twice(kind, policy)
      let acme = try #require(try two.here.named("Acme", Company.self))
      #expect(acme.employees == [two.ada])
      two.other.age = 31
      try two.there.save()
      two.here.delete(two.ada)
      try two.here.save()
      let goes = policy === MergePolicy.mergeByPropertyObjectTrump || policy === MergePolicy.overwrite
      #expect(try two.stack.context().all(Person.self).map(summary) == (goes ? [] : ["Ada 31 - Acme"]))
      #expect(!two.here.hasChanges && acme.employees == (goes ? [] : [two.ada]))
      if !goes { #expect(summary(two.ada) == "Ada 31 - Acme" && !two.ada.isDeleted) }
    }
  }

  @Test("what the deletion of a kept object nullified is put back", arguments: StoreKind.allCases)
  func deletionTakenBack(_ kind: StoreKind) throws {
    let two = try Twice(kind, .mergeByPropertyStoreTrump)
    let acme = try #require(try two.here.named("Acme", Company.self))
    two.other.employer?.name = "Acme & Co"
    try two.there.save()
    two.here.delete(acme)
    try two.here.save()
    #expect(acme.name == "Acme & Co" && acme.employees == [two.ada] && two.ada.employer === acme)
    #expect(try two.stored.employer?.name == "Acme & Co")
  }

  @Test("deleting a deleted row is no conflict for a policy", arguments: StoreKind.allCases)
  func deletedTwice(_ kind: StoreKind) throws {
    for policy in Self.policies {
      let two = try Twice(kind, policy)
      two.there.delete(two.other)
      try two.there.save()
      two.here.delete(two.ada)
      try two.here.person("New")
      try two.here.save()
      #expect(try two.stack.context().all(Person.self).map(\.name) == ["New"])
    }
  }

  @Test("a conflict has the values as read, as changed and as stored", arguments: StoreKind.allCases)
  func snapshots(_ kind: StoreKind) throws {
    let two = try Twice(kind, .error)
    two.other.age = 31
    try two.there.save()
    two.ada.name = "Mine"
    #expect {
      try two.here.save()
    } throws: { error in
      guard case ManagedObjectError.mergeConflicts(let conflicts) = error, let conflict = conflicts.first else {
        return false
      }
      return conflict.cachedSnapshot?["age"] == .int(30) && conflict.persistedSnapshot?["age"] == .int(31)
        && conflict.objectSnapshot?["name"] == .string("Mine") && conflict.objectSnapshot?["projects"] == nil
        && conflict.persistedSnapshot?["employer"] == two.ada.employer.map { .object($0.objectID) }
    }
    #expect(two.ada.name == "Mine" && two.ada.age == 30, "the error policy touches nothing")
  }

  /// The older age wins, whichever context wrote it.
  private final class OldestWins: MergePolicy, @unchecked Sendable {
    init() { super.init(merge: .mergeByPropertyObjectTrump) }
    override func resolve(
      optimisticLockingConflicts conflicts: [MergeConflict], in context: ManagedObjectContext
    ) throws {
      try super.resolve(optimisticLockingConflicts: conflicts, in: context)
      for conflict in conflicts {
        guard case .int(let age)? = conflict.persistedSnapshot?["age"] else { continue }
        let person = context.object(with: conflict.objectID) as? Person
        person?.age = max(Int32(age), person?.age ?? 0)
      }
    }
  }

  @Test("a policy of one's own has the last word", arguments: StoreKind.allCases)
  func custom(_ kind: StoreKind) throws {
    let two = try Twice(kind, OldestWins())
    two.other.age = 60
    try two.there.save()
    (two.ada.age, two.ada.name) = (40, "Mine")
    try two.here.save()
    #expect(try summary(two.stored) == "Mine 60 - Acme")
  }

  /// Settles nothing.
  private final class Idle: MergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts conflicts: [MergeConflict], in: ManagedObjectContext) throws {}
  }

  @Test("a policy that settles nothing makes the save fail, and not go on for ever", arguments: StoreKind.allCases)
  func idle(_ kind: StoreKind) throws {
    let two = try Twice(kind, Idle(merge: .overwrite))
    two.other.age = 60
    try two.there.save()
    two.ada.age = 40
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: two.ada.objectID, isDeleted: false)])) {
      try two.here.save()
    }
  }

  @Test("two valid rows that make an invalid one don't pass validation", arguments: StoreKind.allCases)
  func validation(_ kind: StoreKind) throws {
    let two = try Twice(kind, .mergeByPropertyStoreTrump)
    two.other.age = 31
    try two.there.save()
    two.ada.name = "x"
    #expect(throws: ManagedObjectError.self) { try two.here.save() }
    two.ada.name = "Mine"
    try two.here.save()
    #expect(try summary(two.stored) == "Mine 31 - Acme")
  }

  @Test("thousands of conflicts are settled in one save", arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    for number in 0..<5000 { try writer.person("Person \(number)") }
    try writer.save()
    let here = stack.context()
    here.mergePolicy = .mergeByPropertyObjectTrump
    let mine = try here.all(Person.self)
    for person in try writer.all(Person.self) { person.age = 31 }
    try writer.save()
    for person in mine { person.email = "\(person.objectID.uriRepresentation.lastPathComponent)@x" }
    try here.save()
    let stored = try stack.context().all(Person.self)
    #expect(stored.count == 5000 && stored.allSatisfy { $0.age == 31 && $0.email != nil })
  }
}
