import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("What a fetch reads, and what its objects read later")
struct FaultingTests {
  /// A hundred people, named by their ages from 1 on; the odd ones work for Acme, the even ones for Bell.
  private func people(_ kind: StoreKind) throws -> CompanyStack {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let companies = [try context.company("Bell"), try context.company("Acme")]
    for number in 1...100 {
      let person = try context.person("P\(number)", age: Int32(number))
      person.employer = companies[number % 2]
      person.projects = []
    }
    try context.save()
    return stack
  }

  private func request(_ change: (inout FetchRequest<Person>) -> Void = { _ in }) -> FetchRequest<Person> {
    var request = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("age")])
    change(&request)
    return request
  }

  /// Checks what `body` reads from the store.
  private func expect(
    _ stack: CompanyStack, reads expected: [String], at location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) rethrows {
    let before = stack.reads.items.count
    try body()
    let reads = stack.reads.items.dropFirst(before).map { $0.hasPrefix("rows") ? "rows" : $0 }
    #expect(reads == expected, sourceLocation: location)
  }

  @Test("IDs are fetched without rows, with unsaved changes if there are any", arguments: StoreKind.allCases)
  func ids(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    try expect(stack, reads: ["IDs Person"]) { _ = try context.fetchIDs(request()) }
    #expect(context.registeredObjects.isEmpty)
    let new = try context.person("New", age: 0)
    let ids = try context.fetchIDs(request())
    #expect(ids.count == 101 && ids.first == new.objectID)
    #expect(try context.fetchIDs(request { $0.includesPendingChanges = false }).count == 100)
    let child = ManagedObjectContext(.confinement, parent: context)
    #expect(try child.fetchIDs(request()) == ids)
  }

  @Test("with a batch size, touching one object reads its batch", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    var found: [Person] = []
    try expect(stack, reads: ["IDs Person"]) { found = try context.fetch(request { $0.fetchBatchSize = 20 }) }
    #expect(found.count == 100 && found.allSatisfy { $0.isFault })
    expect(stack, reads: ["rows"]) { #expect(found[45].name == "P46") }
    #expect(found.indices.filter { !found[$0].isFault } == Array(40..<60))
    expect(stack, reads: Array(repeating: "rows", count: 4)) {
      #expect(found.map(\.age) == (1...100).map { Int32($0) })
    }
  }

  @Test("a faulting array makes objects as they are asked for, and keeps few", arguments: StoreKind.allCases)
  func faultingArray(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    let found = try context.fetchBatched(request { $0.fetchBatchSize = 10 })
    #expect(found.count == 100 && context.registeredObjects.isEmpty)
    expect(stack, reads: ["rows"]) { #expect(found[99].name == "P100") }
    #expect(context.registeredObjects.count == 10)
    expect(stack, reads: Array(repeating: "rows", count: 9)) {
      #expect(found.map(\.age) == (1...100).map { Int32($0) })
    }
    expect(stack, reads: []) { #expect(found.suffix(30).map(\.age) == (71...100).map { Int32($0) }) }
    #expect(found.objectIDs == (try context.fetchIDs(request())))
  }

  @Test("a faulting array counts unsaved changes, and outlives their save", arguments: StoreKind.allCases)
  func faultingArrayOfChanges(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    let new = try context.person("New", age: 0)
    let found = try context.fetchBatched(request { $0.fetchBatchSize = 10 })
    #expect(found.count == 101 && found[0] === new)
    try context.save()
    #expect(found[0] === new && found[1].name == "P1")
  }

  @Test("deleted rows keep their places in a faulting array", arguments: StoreKind.allCases)
  func deletedMeanwhile(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let (context, other) = (stack.context(), stack.context())
    let found = try context.fetchBatched(request { $0.fetchBatchSize = 10 })
    other.delete(try #require(try other.named("P3", Person.self)))
    try other.save()
    #expect(found[2].name == nil && found[3].name == "P4" && found.count == 100)
  }

  @Test("without property values objects are faults, unless they must not be", arguments: StoreKind.allCases)
  func withoutValues(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    let bare = request { $0.includesPropertyValues = false }
    var found: [Person] = []
    try expect(stack, reads: ["IDs Person"]) { found = try context.fetch(bare) }
    #expect(found.allSatisfy { $0.isFault } && found[7].name == "P8" && !found[7].isFault)
    var filled = bare
    filled.returnsObjectsAsFaults = false
    #expect(try context.fetch(filled).allSatisfy { !$0.isFault })
    #expect(found[8].name == "P9")
  }

  @Test("some properties make partial faults, which read the rest when it is touched", arguments: StoreKind.allCases)
  func partialFaults(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let context = stack.context()
    let found = try context.fetch(request { $0.propertiesToFetch = ["name"] })
    expect(stack, reads: []) { #expect(found.map(\.name) == (1...100).map { "P\($0)" }) }
    #expect(found.allSatisfy { $0.isFault })
    expect(stack, reads: ["rows"]) { #expect(found[4].age == 5) }
    #expect(!found[4].isFault && found[5].isFault)
    // A change needs the whole row, for the save compares it.
    found[6].name = "Changed"
    #expect(found[6].age == 7)
    try context.save()
    #expect(try stack.context().named("Changed", Person.self)?.age == 7)
    #expect(throws: FetchPredicateError.self) { try context.fetch(request { $0.propertiesToFetch = ["nam"] }) }
    #expect(throws: FetchRequestError.expressionOfObjects("n")) {
      try context.fetch(request { $0.propertiesToFetch = [.expression(.init("n", .count()))] })
    }
  }

  @Test("a merge makes a partial fault forget what it has read", arguments: StoreKind.allCases)
  func mergedPartialFault(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let (context, other) = (stack.context(), stack.context())
    let found = try context.fetch(request { $0.propertiesToFetch = ["name"] })
    try #require(try other.named("P1", Person.self)).name = "First"
    context.mergeChanges(fromContextDidSave: try #require(try other.saveAndTell()))
    #expect(found[0].name == "First" && found[1].name == "P2")
  }

  @Test("objects that are held take on stored values if the request says so", arguments: StoreKind.allCases)
  func refetched(_ kind: StoreKind) throws {
    let stack = try people(kind)
    let (context, other) = (stack.context(), stack.context())
    let found = try context.fetch(request())
    found[1].name = "Mine"
    let acme = try #require(try context.named("Acme", Company.self))
    #expect(acme.employees.count == 50)
    let theirs = try other.fetch(request())
    (theirs[0].name, theirs[1].name, theirs[1].age) = ("Theirs", "Theirs", 0)
    theirs[0].employer = nil
    try other.save()
    #expect(try context.fetch(request { $0.fetchLimit = 5 })[0].name == "P1")
    _ = try context.fetch(request { $0.shouldRefreshRefetchedObjects = true })
    #expect(found[0].name == "Theirs" && found[0].employer == nil && !found[0].hasChanges)
    #expect(found[1].name == "Mine" && found[1].age == 0 && found[1].hasChanges)
    #expect(acme.employees.count == 49)
    try context.save()
    #expect(try stack.context().named("Mine", Person.self)?.age == 0)
  }

  @Test("objects of another class than the request's are left out, or refused by a faulting array")
  func otherClass() throws {
    let stack = try people(.inMemory)
    let context = stack.context()
    let wrong = FetchRequest<Manager>(entityName: "Person")
    #expect(try context.fetch(wrong).isEmpty)
    #expect(throws: ManagedObjectError.self) { try context.fetchBatched(wrong) }
  }
}
