import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Query generations")
struct QueryGenerationTests {
  /// Ada, 30, of Acme, and Bob, 40, are saved; `change` makes Ada 31 and Bob leave, and hires Cid.
  private func people(_ kind: StoreKind) throws -> (stack: CompanyStack, change: () throws -> ContextSave?) {
    let stack = try CompanyStack(kind)
    let writer = stack.context("writer")
    let acme = try writer.company("Acme")
    try writer.person("Ada", age: 30).employer = acme
    try writer.person("Bob", age: 40).employer = acme
    try writer.save()
    return (
      stack,
      {
        let ada = try #require(try writer.named("Ada", Person.self))
        ada.age = (ada.age ?? 0) + 1
        for bob in try writer.all(Person.self, .equal("name", .string("Bob"))) { writer.delete(bob) }
        try writer.person("Cid", age: 50).employer = acme
        return try writer.saveAndTell()
      }
    )
  }

  private func names(_ context: ManagedObjectContext) throws -> [String?] {
    try context.all(Person.self, sortedBy: "name").map(\.name)
  }

  @Test(
    "a pinned context reads one moment: fetches, counts, faults, sets and dictionaries", arguments: StoreKind.allCases)
  func pinned(_ kind: StoreKind) throws {
    let (stack, change) = try people(kind)
    let context = stack.context()
    try context.setQueryGenerationFrom(.current)
    let ids = try context.fetchIDs(FetchRequest<Person>(entityName: "Person"))
    _ = try change()
    _ = try change()
    #expect(try names(context) == ["Ada", "Bob"])
    #expect(try context.count(for: FetchRequest<Person>(entityName: "Person")) == 2)
    let acme = try #require(try context.named("Acme", Company.self))
    #expect(Set(acme.employees.map(\.objectID)) == Set(ids))
    let ada = try #require(try context.named("Ada", Person.self))
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault && ada.age == 30)
    var oldest = FetchRequest<Person>(entityName: "Person")
    oldest.propertiesToFetch = [.expression(ExpressionDescription("age", .maximum("age")))]
    #expect(try context.fetchDictionaries(oldest).first?["age"] == 40)
    #expect(try names(stack.context()) == ["Ada", "Cid", "Cid"])
    let child = ManagedObjectContext(.confinement, parent: context)
    #expect(try names(child) == ["Ada", "Bob"])
    #expect(throws: QueryGenerationError.childContext) { try child.setQueryGenerationFrom(.current) }

    try context.setQueryGenerationFrom(nil)
    #expect(context.queryGenerationToken == nil)
    #expect(try names(context) == ["Ada", "Cid", "Cid"])
  }

  @Test("a token brings another context to the same moment", arguments: StoreKind.allCases)
  func shared(_ kind: StoreKind) throws {
    let (stack, change) = try people(kind)
    let (first, second) = (stack.context(), stack.context())
    try first.setQueryGenerationFrom(.current)
    _ = try names(first)
    _ = try change()
    try second.setQueryGenerationFrom(first.queryGenerationToken)
    #expect(try names(second) == ["Ada", "Bob"])
    let elsewhere = try CompanyStack(kind).context()
    #expect(throws: QueryGenerationError.otherCoordinator) {
      try elsewhere.setQueryGenerationFrom(first.queryGenerationToken)
    }
  }

  @Test("a merge, a save and a reset go on to the current moment", arguments: StoreKind.allCases)
  func advancing(_ kind: StoreKind) throws {
    let (stack, change) = try people(kind)
    let (merging, saving, resetting) = (stack.context(), stack.context(), stack.context())
    for context in [merging, saving, resetting] {
      try context.setQueryGenerationFrom(.current)
      #expect(try names(context) == ["Ada", "Bob"])
    }
    let ada = try #require(try merging.named("Ada", Person.self))
    let save = try #require(try change())
    for context in [merging, saving, resetting] { #expect(try names(context) == ["Ada", "Bob"]) }

    merging.mergeChanges(fromContextDidSave: save)
    #expect(ada.age == 31)
    #expect(try names(merging) == ["Ada", "Cid"])
    try saving.person("Dot")
    try saving.save()
    #expect(try names(saving) == ["Ada", "Cid", "Dot"])
    resetting.reset()
    #expect(try names(resetting) == ["Ada", "Cid", "Dot"])
    #expect(merging.queryGenerationToken != nil && saving.queryGenerationToken != nil)
    _ = try change()
    #expect(try names(saving) == ["Ada", "Cid", "Dot"])
  }

  @Test("a save of a pinned context meets the store as it is", arguments: StoreKind.allCases)
  func conflicts(_ kind: StoreKind) throws {
    let (stack, change) = try people(kind)
    let context = stack.context()
    try context.setQueryGenerationFrom(.current)
    let ada = try #require(try context.named("Ada", Person.self))
    _ = try change()
    ada.email = "ada@example.com"
    #expect(throws: ManagedObjectError.self) { try context.save() }
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(ada.age == 31)
    #expect(try stack.context().named("Ada", Person.self)?.email == "ada@example.com")
  }
}
