import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Delete rules")
struct DeleteRuleTests {
  @Test("nullify: the others stay and point nowhere", arguments: StoreKind.allCases, [true, false])
  func nullify(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let ada = try writer.person("Ada")
    ada.employer = try writer.company("Acme")
    try writer.save()
    let context = stack.context()
    let acme = try #require(try context.named("Acme", Company.self))
    if readsBefore { #expect(acme.employees.count == 1) }
    context.delete(acme)
    let save = try context.saveAndTell()
    #expect(save?.updatedObjectIDs == [ada.objectID])
    let again = try #require(try stack.context().named("Ada", Person.self))
    #expect(again.value(forKey: "employer") == .null)
  }

  @Test("nullify: sets lose the deleted object", arguments: StoreKind.allCases)
  func nullifySets(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    let (acme, red, desk) = (
      try context.company("Acme"), try context.insert(Project.self), try context.insert(Desk.self)
    )
    acme.employees = [ada, bob]
    red.members = [ada, bob]
    ada.friends = [bob]
    ada.desk = desk
    try context.save()
    context.delete(ada)
    try context.save()
    #expect(acme.employees == [bob] && red.members == [bob] && bob.friends.isEmpty && desk.occupant == nil)
    let reader = stack.context()
    #expect(try reader.named("Acme", Company.self)?.employees.count == 1)
    #expect(try reader.all(Project.self).first?.members.count == 1)
    #expect(try reader.named("Bob", Person.self)?.friends.isEmpty == true)
  }

  @Test("cascade: what hangs on it goes too", arguments: StoreKind.allCases)
  func cascade(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let acme = try context.company("Acme")
    for name in ["one", "two"] {
      let department = try context.insert(Department.self)
      department.name = name
      department.company = acme
    }
    try context.save()
    let other = stack.context()
    other.delete(other.object(with: acme.objectID))
    let save = try #require(try other.saveAndTell())
    #expect(save.deletedObjectIDs.count == 3)
    #expect(try stack.context().all(Department.self).isEmpty)
  }

  @Test("cascade shows at the end of the change, not only on the save", arguments: StoreKind.allCases)
  func cascadeBeforeSave(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, department) = (try context.company("Acme"), try context.insert(Department.self))
    department.company = acme
    try context.save()
    context.delete(acme)
    context.processPendingChanges()
    #expect(department.isDeleted)
    #expect(try context.all(Department.self).isEmpty)
    context.rollback()
    #expect(!department.isDeleted && department.company == acme)
  }

  @Test("deny: nothing is written, and every refusal is reported", arguments: StoreKind.allCases)
  func deny(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let companies = [try context.company("Acme"), try context.company("Mill")]
    for company in companies { try context.insert(Contract.self).company = company }
    let ada = try context.person("Ada")
    try context.save()
    for company in companies { context.delete(company) }
    ada.name = "Changed"
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.property) == ["contracts", "contracts"]
        && failures.allSatisfy { $0.reason == .deleteDenied }
        && failures.map(\.objectID) == companies.map(\.objectID)
    }
    #expect(try stack.context().all(Company.self).count == 2)
    #expect(try stack.context().named("Ada", Person.self) != nil)
    #expect(context.hasChanges)
  }

  @Test("deny passes when the others are deleted too, in whatever order", arguments: StoreKind.allCases, [true, false])
  func denyWithOthersDeleted(_ kind: StoreKind, companyFirst: Bool) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, contract) = (try context.company("Acme"), try context.insert(Contract.self))
    contract.company = acme
    try context.save()
    for object in companyFirst ? [acme, contract] : [contract, acme] { context.delete(object) }
    try context.save()
    #expect(try stack.context().all(Contract.self).isEmpty)
    #expect(try stack.context().all(Company.self).isEmpty)
  }

  @Test("no action: the others aren't touched, and lead nowhere", arguments: StoreKind.allCases)
  func noAction(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, note) = (try context.company("Acme"), try context.insert(Note.self))
    note.company = acme
    try context.save()
    context.delete(acme)
    #expect(try context.saveAndTell()?.updatedObjectIDs == [])
    #expect(note.company == nil)
    let reader = stack.context()
    #expect(try reader.all(Note.self).first?.company == nil)
    // Neither context takes the removed reference for another context's change.
    note.text = "still here"
    try context.save()
    let again = try #require(try reader.all(Note.self).first)
    #expect(again.company == nil)
  }

  @Test("what points at a deleted object without an inverse leads nowhere", arguments: StoreKind.allCases)
  func unidirectional(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, rome, oslo) = (try context.person("Ada"), try context.city(39, "Rome"), try context.city(47, "Oslo"))
    ada.birthplace = rome
    ada.visited = [rome, oslo]
    try context.save()
    context.delete(rome)
    try context.save()
    #expect(ada.birthplace == nil && ada.visited == [oslo])
    let again = try #require(try stack.context().named("Ada", Person.self))
    #expect(again.birthplace == nil && again.visited.map(\.name) == ["Oslo"])
    ada.age = 30
    try context.save()
  }

  @Test("a new reference to an object that is deleted in the same save isn't written", arguments: StoreKind.allCases)
  func referenceToDeleted(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let rome = try context.city(39, "Rome")
    try context.save()
    let ada = try context.person("Ada")
    ada.birthplace = rome
    context.delete(rome)
    try context.save()
    #expect(ada.birthplace == nil)
    #expect(try stack.context().named("Ada", Person.self)?.birthplace == nil)
  }

  @Test("an object whose set nothing leads back from can be deleted with it", arguments: StoreKind.allCases)
  func setWithoutInverse(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    ada.visited = [try context.city(39, "Rome")]
    try context.save()
    context.delete(ada)
    try context.save()
    let reader = stack.context()
    #expect(try reader.all(Person.self).isEmpty && reader.all(City.self).count == 1)
  }
}
