import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A store that fails")
struct BrokenStoreTests {
  private let stack: CompanyStack
  private let acme: ManagedObjectID

  init() throws {
    stack = try CompanyStack(.inMemory)
    let writer = stack.context()
    let company = try writer.company("Acme")
    try writer.person("Ada").employer = company
    try writer.save()
    acme = company.objectID
  }

  @Test("a fault that can't be read stays one, and the next call that can throw says why")
  func faults() throws {
    let context = stack.context()
    let company = try #require(context.object(with: acme) as? Company)
    stack.breaker.isBroken = true
    #expect(company.name == nil && company.isFault)
    #expect(throws: Breaker.error) { try context.save() }
    #expect(company.employees.isEmpty)
    stack.breaker.isBroken = false
    #expect(throws: Breaker.error) { try context.count(for: FetchRequest<Company>(entityName: "Company")) }
    #expect(company.name == "Acme" && company.employees.count == 1, "what couldn't be read isn't taken for empty")
    try context.save()
  }

  @Test("what a block couldn't read concerns that block, and what it has changed")
  func blocks() throws {
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (stack, acme) = (stack, acme)
    let ada = try context.performAndWait { context in
      context.retainsRegisteredObjects = true
      return try #require(try context.named("Ada", Person.self)).objectID
    }
    @Sendable func readAcme(in context: ManagedObjectContext) {
      #expect((context.object(with: acme) as? Company)?.name == nil)
    }
    let companies = FetchRequest<Company>(entityName: "Company")
    context.performAndWait { context in
      stack.breaker.isBroken = true
      readAcme(in: context)
      stack.breaker.isBroken = false
    }
    // A later block has nothing to do with it.
    #expect(try context.performAndWait { context in try context.count(for: companies) } == 1)
    try context.performAndWait { context in try context.save() }
    #expect(throws: Breaker.error) {
      try context.performAndWait { context in
        context.refreshAllObjects()
        stack.breaker.isBroken = true
        readAcme(in: context)
        stack.breaker.isBroken = false
        #expect(throws: Never.self) { try context.existingObject(with: ada) }
        _ = try context.count(for: companies)
      }
    }
    context.performAndWait { context in
      stack.breaker.isBroken = true
      readAcme(in: context)
      stack.breaker.isBroken = false
      (context.object(with: ada) as? Person)?.age = 31
    }
    #expect(try context.performAndWait { context in try context.count(for: companies) } == 1)
    #expect(throws: Breaker.error, "what it saves may come of what couldn't be read") {
      try context.performAndWait { context in try context.save() }
    }
    try context.performAndWait { context in try context.save() }
    #expect(try stack.context().named("Ada", Person.self)?.age == 31)
  }

  @Test("a failed write leaves the changes in the context")
  func writes() throws {
    let context = stack.context()
    let company = try #require(try context.named("Acme", Company.self))
    company.name = "Acme & Co"
    let new = try context.person("New")
    stack.breaker.isBroken = true
    #expect(throws: Breaker.error) { try context.save() }
    #expect(company.isUpdated && new.isInserted && new.objectID.isTemporaryID)
    stack.breaker.isBroken = false
    try context.save()
    #expect(try stack.context().named("New", Person.self) != nil)
    #expect(try stack.context().all(Company.self).map(\.name) == ["Acme & Co"])
  }

  @Test("a child gets the failure, and not an error that the object doesn't exist")
  func children() throws {
    let child = ManagedObjectContext(.confinement, parent: stack.context())
    stack.breaker.isBroken = true
    #expect(throws: Breaker.error) { try child.existingObject(with: acme) }
    #expect(throws: Breaker.error) { try child.all(Company.self) }
    stack.breaker.isBroken = false
    #expect((try child.existingObject(with: acme) as? Company)?.name == "Acme")
  }

  @Test("a deletion whose rules can't be looked up isn't saved, and can be later")
  func deletions() throws {
    let context = stack.context()
    context.delete(context.object(with: acme))
    stack.breaker.isBroken = true
    #expect(throws: Breaker.error) { try context.save() }
    stack.breaker.isBroken = false
    try context.save()
    #expect(try stack.context().named("Ada", Person.self)?.value(forKey: "employer") == .null)
  }
}
