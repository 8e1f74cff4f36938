import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("What has changed")
struct ChangedValuesTests {
  @Test("changedValues names what differs from the store, and nothing else", arguments: StoreKind.allCases)
  func changedValues(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada", age: 30)
    #expect(ada.changedValues()["age"] == .int(30), "of a new object, what differs from the defaults")
    try context.save()
    #expect(ada.changedValues().isEmpty)
    ada.age = 31
    ada.name = "Ada"
    #expect(ada.changedValues() == ["age": .int(31)])
    let acme = try context.company("Acme")
    ada.employer = acme
    #expect(ada.changedValues() == ["age": .int(31), "employer": .object(acme.objectID)])
    ada.age = 30
    ada.employer = nil
    #expect(ada.changedValues().isEmpty)
  }

  @Test("setting a value that is there already changes nothing", arguments: StoreKind.allCases)
  func equalValues(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, acme) = (try context.person("Ada", age: 30), try context.company("Acme"))
    ada.employer = acme
    try context.save()
    ada.age = 30
    ada.name = "Ada"
    ada.employer = acme
    acme.employees = [ada]
    #expect(!context.hasChanges && !ada.isUpdated && !acme.isUpdated)
    #expect(try context.saveAndTell() == nil)
  }

  @Test(
    "an object that was changed and changed back isn't written, and is announced all the same",
    arguments: StoreKind.allCases)
  func changedBack(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada", age: 30)
    try context.save()
    ada.age = 31
    ada.age = 30
    let other = stack.context()
    let theirs = try #require(try other.named("Ada", Person.self))
    theirs.age = 40
    try other.save()
    #expect(!ada.hasPersistentChangedValues)
    #expect(try context.saveAndTell()?.updatedObjectIDs == [ada.objectID])
    #expect(!context.hasChanges)
    #expect(try stack.context().all(Person.self).map(\.age) == [40])
  }

  @Test("a transient attribute is neither stored nor a change to save", arguments: StoreKind.allCases)
  func transients(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let sample = try context.insert(Sample.self)
    sample.mood = "glad"
    try context.save()
    #expect(sample.mood == "glad")
    #expect(try stack.context().all(Sample.self).first?.mood == nil)
    sample.mood = "sad"
    #expect(sample.changedValues().isEmpty && !sample.hasPersistentChangedValues)
    #expect(try context.saveAndTell()?.updatedObjectIDs == [sample.objectID])
    #expect(sample.mood == "sad")
  }

  @Test("values are reached by name, and what doesn't fit is refused", arguments: StoreKind.allCases)
  func byName(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, acme) = (try context.person("Ada"), try context.company("Acme"))
    try ada.setValue(.int(30), forKey: "age")
    try ada.setValue(.object(acme.objectID), forKey: "employer")
    #expect(ada.age == 30 && ada.employer == acme && acme.employees == [ada])
    #expect(ada.value(forKey: "age") == .int(30) && ada.value(forKey: "unknown") == nil)
    try acme.setValue(.objects([]), forKey: "employees")
    #expect(ada.employer == nil)
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Person", name: "unknown")) {
      try ada.setValue(.null, forKey: "unknown")
    }
    #expect(throws: ManagedObjectError.self) { try ada.setValue(.string("x"), forKey: "age") }
    #expect(throws: ManagedObjectError.self) { try ada.setValue(.int(1 << 40), forKey: "age") }
    #expect(throws: ManagedObjectError.self) { try ada.setValue(.object(ada.objectID), forKey: "employer") }
    #expect(throws: ManagedObjectError.self) { try acme.setValue(.objects([acme.objectID]), forKey: "employees") }
  }
}
