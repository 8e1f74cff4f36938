import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Batch delete requests")
struct BatchDeleteTests {
  private func delete(
    _ name: String, _ predicate: FetchPredicate? = nil, in stack: CompanyStack
  ) throws -> BatchDeleteResult {
    var request = BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: name, predicate: predicate))
    request.resultType = .objectIDs
    return try stack.context().execute(request)
  }

  @Test("rows that a request finds are gone, and what refers to them is cleared", arguments: StoreKind.allCases)
  func nullify(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, bob, acme) = (try context.person("Ada"), try context.person("Bob"), try context.company("Acme"))
    let rome = try context.city(39, "Rome")
    let (desk, red) = (try context.insert(Desk.self), try context.insert(Project.self))
    acme.employees = [ada, bob]
    (ada.desk, ada.projects, ada.friends, ada.visited, bob.birthplace) = (desk, [red], [bob], [rome], rome)
    try context.save()

    let companies = try delete("Company", in: stack)
    #expect(companies.objectIDs == [acme.objectID] && companies.count == 1)
    let reader = stack.context()
    #expect(try reader.all(Person.self).map(\.employer) == [nil, nil])
    #expect(try delete("Person", .equal("name", .string("Ada")), in: stack).objectIDs == [ada.objectID])
    #expect(try delete("City", in: stack).count == 1)
    let after = stack.context()
    let rest = try #require(try after.all(Person.self).first)
    #expect(rest.name == "Bob" && rest.friends.isEmpty && rest.birthplace == nil)
    #expect(try after.all(Desk.self).map(\.occupant) == [nil] && after.all(Project.self)[0].members.isEmpty)
  }

  @Test("a cascade deletes unread rows, too", arguments: StoreKind.allCases)
  func cascade(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, mill) = (try context.company("Acme"), try context.company("Mill"))
    for company in [acme, mill] {
      for _ in 0..<3 { try context.insert(Department.self).company = company }
    }
    try context.save()
    let result = try delete("Company", .equal("name", .string("Acme")), in: stack)
    #expect(result.count == 4 && result.objectIDs?.first == acme.objectID)
    #expect(try stack.context().all(Department.self).compactMap(\.company?.name) == ["Mill", "Mill", "Mill"])
  }

  @Test("a rule that denies keeps all of them", arguments: StoreKind.allCases)
  func deny(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, _) = (try context.company("Acme"), try context.company("Mill"))
    let contract = try context.insert(Contract.self)
    contract.company = acme
    try context.save()
    #expect {
      _ = try delete("Company", in: stack)
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.reason) == [.deleteDenied] && failures.map(\.objectID) == [acme.objectID]
    }
    #expect(try stack.context().all(Company.self).count == 2)
    #expect(try delete("Contract", in: stack).count == 1)
    #expect(try delete("Company", in: stack).count == 2)
  }

  @Test("IDs of several entities, some of rows that are gone", arguments: StoreKind.allCases)
  func byID(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (ada, bob, acme) = (try context.person("Ada"), try context.person("Bob"), try context.company("Acme"))
    let boss = try context.insert(Manager.self)
    try context.save()
    context.delete(bob)
    try context.save()
    var request = BatchDeleteRequest(objectIDs: [ada, bob, acme, boss].map(\.objectID))
    request.resultType = .count
    #expect(try context.execute(request).count == 3)
    #expect(try context.execute(request).count == 0)
    #expect(try stack.context().all(Person.self).isEmpty && stack.context().all(Company.self).isEmpty)
  }

  @Test("sort and limit say which", arguments: StoreKind.allCases)
  func limit(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for age in 1...5 { try context.person("Person", age: Int32(age)) }
    try context.save()
    var fetch = FetchRequest<Person>(
      entityName: "Person", sortDescriptors: [FetchSortDescriptor("age", ascending: false)])
    fetch.fetchLimit = 2
    try context.execute(BatchDeleteRequest(fetchRequest: fetch))
    #expect(try stack.context().all(Person.self, sortedBy: "age").map(\.age) == [1, 2, 3])
  }

  @Test("numbers of deleted rows aren't given again", arguments: StoreKind.allCases)
  func numbers(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    try context.save()
    _ = try delete("Person", in: stack)
    let bob = try stack.context().person("Bob")
    try bob.managedObjectContext?.save()
    #expect(bob.objectID != ada.objectID)
  }

  @Test("a store that fails leaves everything as it was", arguments: StoreKind.allCases)
  func failing(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    try context.person("Ada")
    try context.save()
    stack.breaker.isBroken = true
    #expect(throws: Breaker.error) { _ = try delete("Person", in: stack) }
    stack.breaker.isBroken = false
    #expect(try stack.context().all(Person.self).count == 1)
  }
}
