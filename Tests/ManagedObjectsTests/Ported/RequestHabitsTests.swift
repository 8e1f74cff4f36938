import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of fetches, deletions and batch requests.
@Suite("What programs expect of a request")
struct RequestHabitsTests {
  /// A stack with five people, two of which are managers, and what Ada and Bob have in common.
  private func people(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for (name, age) in [("Ada", 30), ("Bob", 30), ("Cid", 50)] {
      try context.person(name, age: Int32(age), email: "\(name)@x")
    }
    for name in ["Dee", "Eve"] {
      let manager = try context.insert(Manager.self)
      (manager.name, manager.age) = (name, 60)
    }
    try context.save()
    return (stack, context)
  }

  private func request(
    _ predicate: FetchPredicate? = nil, _ name: String = "Person", subentities: Bool = true
  ) -> FetchRequest<Person> {
    FetchRequest(entityName: name, predicate: predicate, includesSubentities: subentities)
  }

  @Test("a request has what it was made with, and defaults for the rest")
  func defaults() {
    let plain = FetchRequest<Person>(entityName: "Person")
    #expect(plain.fetchBatchSize == 0 && plain.predicate == nil && plain.fetchLimit == 0 && plain.fetchOffset == 0)
    var other = FetchRequest<Person>(entityName: "Person", predicate: .constant(true))
    other.fetchBatchSize = 20
    #expect(other.fetchBatchSize == 20 && other.predicate == .constant(true) && other.entityName == "Person")
  }

  @Test("what matches is found and counted, and nothing is where nothing matches", arguments: StoreKind.allCases)
  func found(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(try context.fetch(request(.equal("age", 30))).count == 2)
    #expect(try context.count(for: request(.equal("age", 30))) == 2)
    #expect(try context.fetch(request(.equal("age", 31))).isEmpty)
    #expect(try context.count(for: request(.equal("age", 31))) == 0)
  }

  @Test(
    "IDs are fetched of an entity alone or with its subentities, and nothing is registered",
    arguments: StoreKind.allCases)
  func ids(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    context.reset()
    let old = FetchPredicate.equal("age", 60)
    #expect(try context.fetchIDs(request(old)).count == 2)
    #expect(try context.fetchIDs(request(old, subentities: false)).isEmpty)
    #expect(try context.fetchIDs(request(old, "Manager", subentities: false)).count == 2)
    #expect(try context.fetchIDs(request(.equal("name", "Zoe"))).isEmpty)
    #expect(context.registeredObjects.isEmpty)
  }

  @Test("unsaved changes count, unless the request says otherwise", arguments: StoreKind.allCases)
  func pending(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let ada = try #require(try context.named("Ada", Person.self))
    ada.name = "Ada II"
    var stored = request(.equal("name", "Ada"))
    #expect(try context.fetch(stored).isEmpty)
    stored.includesPendingChanges = false
    #expect(try context.fetch(stored) == [ada] && ada.name == "Ada II")
    try context.person("Zoe")
    var new = request(.equal("name", "Zoe"))
    #expect(try context.fetch(new).count == 1)
    new.includesPendingChanges = false
    #expect(try context.fetch(new).isEmpty)
  }

  @Test("a pending deletion hides an object, and a reset shows it again", arguments: StoreKind.allCases)
  func pendingDeletion(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    for manager in try context.fetch(request(.equal("name", "Dee"), "Manager")) { context.delete(manager) }
    #expect(try context.fetch(request(.equal("name", "Dee"))).isEmpty)
    context.reset()
    #expect(try context.fetch(request(.equal("name", "Dee"))).count == 1)
  }

  @Test("objects are found, or made once", arguments: StoreKind.allCases)
  func foundOrMade(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    func person(_ name: String) throws -> Person {
      if let known = try context.fetch(request(.equal("name", .string(name)))).first { return known }
      let person = try context.insert(Person.self)
      #expect(person.email == nil)
      person.name = name
      return person
    }
    #expect(try person("Ada").age == 30 && !context.hasChanges)
    let new = try person("Zoe")
    #expect(try person("Zoe") === new && new.isInserted)
    context.delete(new)
    #expect(try person("Zoe") !== new)
  }

  @Test("objects with values are looked up among those that a context has", arguments: StoreKind.allCases)
  func materialised(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    context.reset()
    func filled(_ predicate: FetchPredicate) throws -> [ManagedObject] {
      try context.registeredObjects.filter { try !$0.isFault && $0 is Person && predicate.evaluate(with: $0) }
    }
    var managers = request(nil, "Manager")
    managers.returnsObjectsAsFaults = false
    let held = try context.fetch(managers)
    #expect(try filled(true).count == 2 && filled(.equal("name", "Eve")).count == 1)
    context.refreshAllObjects()
    #expect(try filled(true).isEmpty && held.allSatisfy(\.isFault))
  }

  @Test("the faults of several entities are filled by a fetch for each", arguments: StoreKind.allCases)
  func filled(_ kind: StoreKind) throws {
    let (stack, context) = try people(kind)
    let acme = try context.company("Acme")
    acme.employees = Set(try context.all(Person.self))
    try context.save()
    let members = Array(acme.employees)
    context.refreshAllObjects()
    #expect(members.allSatisfy(\.isFault) && members.count == 5)
    let reads = stack.reads.items.count
    for name in ["Person", "Company"] {
      var all = FetchRequest<ManagedObject>(
        entityName: name, predicate: try FetchPredicate(format: "SELF IN %@", members + [acme]))
      all.returnsObjectsAsFaults = false
      if name == "Person" { all.predicate = try FetchPredicate(format: "SELF IN %@", members) }
      if name == "Company" { all.predicate = try FetchPredicate(format: "SELF == %@", acme) }
      _ = try context.fetch(all)
    }
    #expect(members.allSatisfy { !$0.isFault } && !acme.isFault)
    #expect(stack.reads.items.count == reads + 2)
  }

  @Test("the members of a set can be deleted together", arguments: StoreKind.allCases)
  func deletedMembers(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let acme = try context.company("Acme")
    acme.employees = Set(try context.all(Person.self))
    try context.save()
    context.refreshAllObjects()
    #expect(acme.employees.count == 5)
    for person in acme.employees { context.delete(person) }
    try context.save()
    #expect(acme.employees.isEmpty)
  }

  @Test(
    "what is deleted by entity and predicate is gone for every entity, subentities or not",
    arguments: StoreKind.allCases)
  func deletions(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    func delete(_ request: FetchRequest<Person>, except kept: [Person] = []) throws {
      for person in try context.fetch(request) where !kept.contains(person) { context.delete(person) }
    }
    try delete(request(.equal("name", "Dee"), subentities: false))
    #expect(try context.count(for: request(.equal("name", "Dee"))) == 1, "it is a manager")
    try delete(request(.equal("name", "Dee")))
    #expect(try context.count(for: request(nil, "Manager")) == 1)
    let ada = try #require(try context.named("Ada", Person.self))
    try delete(request(), except: [ada])
    #expect(try context.fetch(request()) == [ada])
    try delete(request())
    #expect(try context.count(for: request()) == 0)
    try context.save()
  }

  @Test("a batch request answers with what it was asked for, and nothing else", arguments: StoreKind.allCases)
  func batchResults(_ kind: StoreKind) throws {
    for type in [BatchRequestResultType.statusOnly, .count, .objectIDs] {
      let (_, context) = try people(kind)
      var insert = BatchInsertRequest(entityName: "Person", objects: [["name": "Fay"], ["name": "Gus"]])
      var update = BatchUpdateRequest(entityName: "Person")
      (update.predicate, update.propertiesToUpdate) = (.equal("age", 30), ["age": 31])
      var delete = BatchDeleteRequest(fetchRequest: request(.equal("age", 31)))
      (insert.resultType, update.resultType, delete.resultType) = (type, type, type)
      for result in [try context.execute(insert), try context.execute(update), try context.execute(delete)] {
        #expect(result.resultType == type)
        #expect((result.count == nil) == (type == .statusOnly))
        #expect((result.objectIDs?.count == 2) == (type == .objectIDs))
      }
      #expect(try context.count(for: request()) == 5)
    }
  }

  @Test("a batch deletion concerns subentities unless its request leaves them out", arguments: StoreKind.allCases)
  func batchDeletion(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    try context.execute(BatchDeleteRequest(fetchRequest: request(subentities: false)))
    context.reset()
    #expect(try context.count(for: request()) == 2)
    try context.execute(BatchDeleteRequest(fetchRequest: request()))
    context.reset()
    #expect(try context.count(for: request()) == 0)
  }

  @Test("merging a batch deletion's IDs takes the objects out of another context", arguments: StoreKind.allCases)
  func mergedDeletion(_ kind: StoreKind) throws {
    let (stack, context) = try people(kind)
    let held = try context.fetch(request(.equal("age", 30)))
    var delete = BatchDeleteRequest(fetchRequest: request(.equal("age", 30)))
    delete.resultType = .objectIDs
    let ids = try #require(try stack.context().execute(delete).objectIDs)
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [ManagedObjectContext.NotificationKey.deletedObjects.rawValue: ids],
      into: [context.queue])
    context.processPendingChanges()
    #expect(held.allSatisfy { $0.managedObjectContext == nil })
    #expect(try context.count(for: request(.equal("age", 30))) == 0)
  }

  @Test("a batch insert with an unknown key, or a unique value twice, is refused whole", arguments: StoreKind.allCases)
  func refusedInsert(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let refused: [[[String: Value]]] = [
      [["name": "Fay"], ["WRONG": "Gus"]], [["name": "Fay", "email": "f@x"], ["name": "Gus", "email": "f@x"]],
    ]
    for objects in refused {
      #expect(throws: ManagedObjectError.self) {
        try context.execute(BatchInsertRequest(entityName: "Person", objects: objects))
      }
      #expect(try context.count(for: request()) == 5)
    }
  }

  @Test("ten thousand objects come in the background, with their progress", arguments: StoreKind.allCases)
  func asynchronous(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let objects = (0..<10_000).map { ["name": Value.string("P\($0)")] }
    try writer.execute(BatchInsertRequest(entityName: "Person", objects: objects))
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (ends, ended) = AsyncStream.makeStream(of: [Int64].self)
    let all = request(true)
    let isKnown = try await context.perform { context in
      let result = try context.execute(
        AsynchronousFetchRequest(fetchRequest: all) { result in
          ended.yield([Int64(result.finalResult?.count ?? -1), result.progress.completedUnitCount])
        })
      return result.operationError == nil
    }
    let end = await ends.first { _ in true }
    #expect(isKnown && end == [10_000, 10_000])
    #expect(try await context.fetch(all) { $0.count } == 10_000)
  }

  @Test("a subquery finds what a filter in the program finds", arguments: StoreKind.allCases)
  func subquery(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let all = try context.all(Person.self, sortedBy: "name")
    for (name, staff) in [("One", all[0..<2]), ("Two", all[2..<4]), ("Three", all[4..<5])] {
      try context.company(name).employees = Set(staff)
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let filtered = try context.all(Company.self).filter { company in
        company.employees.filter { $0.age == 30 }.count > 1
      }
      let format = "SUBQUERY(%K, $person, $person.age == 30).@count > 1"
      #expect(try context.all(Company.self, FetchPredicate(format: format, "employees")) == filtered)
      #expect(filtered.map(\.name) == ["One"])
    }
  }

  @Test("groups are chosen by a computed column, by its name or as a variable", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    var ages = request()
    ages.propertiesToGroupBy = ["age"]
    ages.propertiesToFetch = [
      "age", .expression(try ExpressionDescription("people", format: "count:(age)", expressionResultType: .integer64)),
    ]
    ages.sortDescriptors = [FetchSortDescriptor("age")]
    for format in ["people > 1", "$people > 1"] {
      ages.havingPredicate = try FetchPredicate(format: format)
      let found = try context.fetchDictionaries(ages)
      #expect(found.map { $0["age"] } == [30, 60] as [Int?] && found.map { $0["people"] } == [2, 2] as [Int?])
    }
    ages.havingPredicate = try FetchPredicate(format: "$persons > 1")
    #expect(throws: FetchPredicateError.self) { try context.fetchDictionaries(ages) }
  }

  @Test("with a batch size, one look at each object reads batch by batch", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let objects = (0..<95).map { ["name": Value.string("P\($0)")] }
    try stack.context().execute(BatchInsertRequest(entityName: "Person", objects: objects))
    let context = stack.context()
    var all = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")])
    all.fetchBatchSize = 10
    let array = try context.fetchBatched(all)
    let before = stack.reads.items.count
    #expect(array.first?.name == "P0" && stack.reads.items.count == before + 1)
    for person in array { #expect(person.name != nil) }
    #expect(stack.reads.items.count == before + 10)
  }
}
