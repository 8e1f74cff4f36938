import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Rows that another context has changed")
struct OptimisticLockingTests {
  /// Ada in two contexts.
  private func twice(_ stack: CompanyStack) throws -> (
    here: ManagedObjectContext, ada: Person, there: ManagedObjectContext, other: Person
  ) {
    let writer = stack.context()
    try writer.person("Ada", age: 30)
    try writer.save()
    let (here, there) = (stack.context(), stack.context())
    return (
      here, try #require(try here.named("Ada", Person.self)), there, try #require(try there.named("Ada", Person.self))
    )
  }

  @Test("a row changed elsewhere is a conflict, and nothing is written", arguments: StoreKind.allCases)
  func changed(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, ada, there, other) = try twice(stack)
    other.age = 31
    try there.save()
    ada.name = "Mine"
    try here.person("Bystander")
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: ada.objectID, isDeleted: false)])) {
      try here.save()
    }
    #expect(try stack.context().all(Person.self).map(\.name) == ["Ada"])
    #expect(ada.name == "Mine" && here.hasChanges)
  }

  @Test("a row deleted elsewhere is a conflict", arguments: StoreKind.allCases)
  func deleted(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, ada, there, other) = try twice(stack)
    there.delete(other)
    try there.save()
    ada.name = "Mine"
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: ada.objectID, isDeleted: true)])) {
      try here.save()
    }
  }

  @Test("deleting a row that was changed elsewhere is a conflict", arguments: StoreKind.allCases)
  func deletingChanged(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, ada, there, other) = try twice(stack)
    other.age = 31
    try there.save()
    here.delete(ada)
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: ada.objectID, isDeleted: false)])) {
      try here.save()
    }
    #expect(try stack.context().all(Person.self).count == 1)
  }

  @Test("conflicts of several rows are reported together", arguments: StoreKind.allCases)
  func several(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let people = try ["one", "two", "three"].map { try writer.person($0) }
    try writer.save()
    let here = stack.context()
    let mine = try people.map { try here.existingObject(with: $0.objectID) as? Person }
    people[0].age = 1
    writer.delete(people[1])
    try writer.save()
    for person in mine { person?.name = "Mine" }
    #expect {
      try here.save()
    } throws: { error in
      guard case ManagedObjectError.mergeConflicts(let conflicts) = error else { return false }
      return Set(conflicts.map(\.objectID)) == [people[0].objectID, people[1].objectID]
        && conflicts.map(\.isDeleted).sorted { !$0 && $1 } == [false, true]
    }
  }

  @Test("a row that another context only read can be saved", arguments: StoreKind.allCases)
  func onlyRead(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, ada, _, other) = try twice(stack)
    #expect(other.name == "Ada" && other.friends.isEmpty)
    ada.age = 31
    try here.save()
    ada.age = 32
    try here.save()
    #expect(try stack.context().named("Ada", Person.self)?.age == 32)
  }

  @Test(
    "values that the store keeps with less precision aren't taken for another context's change",
    arguments: StoreKind.allCases)
  func coarseValues(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let sample = try context.insert(Sample.self)
    sample.day = Date(timeIntervalSince1970: 1_700_000_000.123_456_789)
    sample.instant = Date(timeIntervalSinceReferenceDate: 1.000_000_4)
    sample.ratio = .nan
    sample.amount = Decimal(string: "0.1000")
    try context.save()
    sample.text = "changed"
    try context.save()
    context.delete(sample)
    try context.save()
  }

  @Test("after a merge the save goes through", arguments: StoreKind.allCases)
  func merged(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, ada, there, other) = try twice(stack)
    ada.name = "Mine"
    other.age = 31
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    try here.save()
    let again = try #require(try stack.context().all(Person.self).first)
    #expect(again.name == "Mine" && again.age == 31)
  }

  @Test("rows changed and deleted by another program are conflicts")
  func anotherProgram() throws {
    let stack = try CompanyStack(.sqlite)
    let writer = stack.context()
    for name in ["Ada", "Bob", "Cid"] { try writer.person(name) }
    try writer.save()
    let here = stack.context()
    let people = try here.all(Person.self, sortedBy: "name")
    try stack.execute("UPDATE Person SET age = 31 WHERE name = 'Ada'", "DELETE FROM Person WHERE name = 'Bob'")
    for person in people { person.name = "Mine" }
    let conflicts = [
      MergeConflict(objectID: people[0].objectID, isDeleted: false),
      MergeConflict(objectID: people[1].objectID, isDeleted: true),
    ]
    #expect(throws: ManagedObjectError.mergeConflicts(conflicts)) { try here.save() }
  }
}
