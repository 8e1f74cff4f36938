import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of single objects and of what a context does with them.
@Suite("What programs expect of an object")
struct ObjectHabitsTests {
  @Test("a refresh keeps changes and the values, or gives up both", arguments: StoreKind.allCases)
  func refresh(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    try context.save()
    ada.name = "Eve"
    context.refresh(ada, mergeChanges: true)
    #expect(!ada.isFault && ada.name == "Eve" && ada.isUpdated)
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault && ada.name == "Ada" && !ada.isUpdated)
  }

  @Test("refreshing all makes faults of objects without changes only", arguments: StoreKind.allCases)
  func refreshAll(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
    try context.save()
    ada.name = "Ada II"
    context.refreshAllObjects()
    #expect(!ada.isFault && bob.isFault && ada.name == "Ada II" && bob.name == "Bob")
  }

  @Test("values are changed until the save, and committed after it", arguments: StoreKind.allCases)
  func values(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let (ada, acme) = (try context.insert(Person.self), try context.company("Acme"))
    func committed(_ key: String) -> Value? { ada.committedValues(forKeys: [key])[key] }
    #expect(ada.changedValues()["email"] == nil && ada.changedValues()["age"] == nil)
    (ada.name, ada.email, ada.employer) = ("Ada", "a@x", acme)
    #expect(ada.changedValues()["name"] == "Ada" && ada.changedValues()["email"] == "a@x")
    #expect(committed("email") == nil)
    try context.save()
    #expect(committed("email") == "a@x" && committed("name") == "Ada" && ada.changedValues().isEmpty)
    ada.email = "b@x"
    #expect(ada.changedValues() == ["email": "b@x"] && committed("email") == "a@x")
    ada.email = "c@x"
    #expect(ada.changedValues() == ["email": "c@x"] && committed("email") == "a@x")
    try context.save()
    #expect(ada.changedValues().isEmpty && committed("email") == "c@x")
    var request = FetchRequest<Person>(entityName: "Person", predicate: .equal("email", "c@x"))
    request.fetchBatchSize = 1
    let found = try #require(try context.fetch(request).first)
    #expect(found === ada)
    found.email = "d@x"
    #expect(found.changedValues() == ["email": "d@x"] && committed("email") == "c@x" && committed("name") == "Ada")
  }

  @Test("a new object becomes a fault and is filled again", arguments: StoreKind.allCases)
  func newFault(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    #expect(ada.objectID.isTemporaryID && !ada.isFault)
    for _ in 0..<2 {
      context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault)
      ada.willAccessValue(forKey: nil)
      #expect(!ada.isFault)
    }
  }

  @Test("an object that was saved and reset away has no context", arguments: StoreKind.allCases)
  func resetAway(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    try context.save()
    context.reset()
    #expect(ada.managedObjectContext == nil && !ada.hasChanges && context.registeredObjects.isEmpty)
  }

  @Test("a new object that is deleted is so at once", arguments: StoreKind.allCases)
  func deleted(_ kind: StoreKind) throws {
    let (here, there) = try { stack in (stack.context(), stack.context()) }(CompanyStack(kind))
    let people = [try here.person("Ada"), try here.person("Bob"), try there.person("Cid")]
    for person in people { person.managedObjectContext?.delete(person) }
    for person in people { #expect(person.isDeleted) }
    try here.save()
    #expect(!here.hasChanges && people[0].managedObjectContext == nil)
  }

  @Test("an ID that is made permanent before the save stays", arguments: StoreKind.allCases)
  func permanent(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    let temporary = ada.objectID
    try context.obtainPermanentIDs(for: [ada])
    let permanent = ada.objectID
    #expect(temporary.isTemporaryID && !permanent.isTemporaryID && temporary != permanent && ada.isInserted)
    try context.save()
    #expect(ada.objectID == permanent)
  }

  @Test("predicates hold of new objects as they are set", arguments: StoreKind.allCases)
  func evaluate(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let person = try context.insert(Person.self)
    let isAda = try FetchPredicate(format: "%K == %@", "name", "Ada")
    let both = try FetchPredicate(format: "%K == %@ AND %K == %@", "name", "Ada", "email", "a@x")
    #expect(try FetchPredicate.constant(true).evaluate(with: person) && !isAda.evaluate(with: person))
    person.name = "Bob"
    #expect(try !isAda.evaluate(with: person))
    (person.name, person.email) = ("Ada", "b@x")
    #expect(try isAda.evaluate(with: person) && !both.evaluate(with: person))
    person.email = "a@x"
    #expect(try both.evaluate(with: person))
  }

  @Test("a date that is refreshed once per save marks changed objects", arguments: StoreKind.allCases)
  func stamps(_ kind: StoreKind) throws {
    let context = try ParkModel.stack(kind).context()
    let park = try context.insert(Park.self)
    let first = park.updatedAt
    park.updatedAt = first
    park.touch()
    try context.save()
    let saved = park.updatedAt
    park.touch()
    let second = park.updatedAt
    park.touch()
    #expect(second != saved && park.updatedAt == second, "the object has changed already")
    try context.save()
    park.touch()
    #expect(park.updatedAt != second)
  }

  @Test("objects that are marked to go are found by their mark", arguments: StoreKind.allCases)
  func marked(_ kind: StoreKind) throws {
    let context = try ParkModel.stack(kind).context()
    let parks = try (0..<3).map { _ in try context.insert(Park.self) }
    #expect(parks.allSatisfy { $0.closedAt == nil && $0.changedValues()["closedAt"] == nil })
    for park in parks { park.close() }
    #expect(parks.allSatisfy { $0.closedAt != nil && $0.changedValues()["closedAt"] != nil })
    try context.save()
    #expect(try context.all(Park.self, FetchPredicate(format: "closedAt == nil")).isEmpty)
    #expect(try context.all(Park.self, FetchPredicate(format: "closedAt != nil AND SELF IN %@", parks)).count == 3)
  }

  @Test("transient values last until a refresh", arguments: StoreKind.allCases)
  func transient(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let sample = try context.insert(Sample.self)
    sample.mood = "glad"
    try context.save()
    #expect(sample.mood == "glad")
    context.refreshAllObjects()
    #expect(sample.mood == nil)
    sample.mood = "sad"
    #expect(sample.mood == "sad" && context.hasChanges && !sample.hasPersistentChangedValues)
    try context.save()
    #expect(!context.hasChanges && sample.mood == "sad")
  }

  @Test("transient values go up with each of a child's saves", arguments: StoreKind.allCases)
  func transientOfChild(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let child = ContextQueue(.privateQueue, parent: parent)
    let id = try child.performAndWait { child in
      let sample = try child.insert(Sample.self)
      (sample.text, sample.mood) = ("one", "glad")
      try child.save()
      #expect(sample.mood == "glad" && !child.hasChanges)
      sample.mood = "sad"
      #expect(child.hasChanges && !sample.hasPersistentChangedValues)
      return sample.objectID
    }
    func moods(_ queue: ContextQueue) -> String? {
      queue.performAndWait { context in
        context.retainsRegisteredObjects = true
        return (context.object(with: id) as? Sample)?.mood
      }
    }
    #expect(moods(parent) == "glad" && moods(child) == "sad")
    try child.performAndWait { child in try child.save() }
    #expect(moods(parent) == "sad")
    let isInserted = parent.performAndWait { parent in parent.insertedObjects.count == 1 && parent.hasChanges }
    #expect(isInserted)
    try parent.performAndWait { parent in try parent.save() }
    let permanent = try #require(
      try parent.performAndWait { parent in try parent.all(Sample.self).first?.objectID })
    try child.performAndWait { child in
      let sample = try #require(try child.existingObject(with: permanent) as? Sample)
      sample.mood = "calm"
      #expect(child.hasChanges && !sample.hasPersistentChangedValues)
      try child.save()
    }
    let seen = parent.performAndWait { parent in
      let sample = parent.object(with: permanent) as? Sample
      return "\(sample?.mood ?? "-") \(parent.hasChanges) \(sample?.hasPersistentChangedValues ?? true)"
    }
    #expect(seen == "calm true false")
  }

  @Test("a child follows its parent's saves only if it is set to", arguments: StoreKind.allCases, [false, true])
  func follows(_ kind: StoreKind, merges: Bool) throws {
    let stack = try CompanyStack(kind)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let id = try parent.performAndWait { parent in
      let ada = try parent.person("Ada")
      try parent.save()
      return ada.objectID
    }
    let child = ContextQueue(.privateQueue, parent: parent)
    try child.performAndWait { child in
      child.automaticallyMergesChangesFromParent = merges
      child.retainsRegisteredObjects = true
      let ada = try child.existingObject(with: id) as? Person
      #expect(ada?.name == "Ada")
    }
    try parent.performAndWait { parent in
      (try parent.existingObject(with: id) as? Person)?.name = "Eve 😀"
      try parent.save()
    }
    let name = child.performAndWait { child in (child.object(with: id) as? Person)?.name }
    #expect(name == (merges ? "Eve 😀" : "Ada"))
  }

  @Test("a fetch that is asked to refresh objects does", arguments: StoreKind.allCases)
  func refetched(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let theirs = try there.person("Ada")
    try there.save()
    let mine = try #require(try here.all(Person.self).first)
    theirs.name = "Eve"
    try there.save()
    var request = FetchRequest<Person>(entityName: "Person")
    #expect(try here.fetch(request) == [mine] && mine.name == "Ada")
    request.shouldRefreshRefetchedObjects = true
    #expect(try here.fetch(request) == [mine] && mine.name == "Eve")
  }

  @Test("what a batch request has changed shows after a refresh", arguments: StoreKind.allCases)
  func batchAndRefresh(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada")
    try context.save()
    var request = BatchUpdateRequest(entityName: "Person")
    request.predicate = .equal("name", "Ada")
    request.propertiesToUpdate = ["name": "Eve"]
    request.resultType = .objectIDs
    #expect(try context.execute(request).objectIDs == [ada.objectID])
    #expect(ada.name == "Ada")
    context.refresh(ada, mergeChanges: false)
    #expect(ada.name == "Eve")
  }

  @Test("a save that fails and is rolled back leaves what was there before", arguments: StoreKind.allCases)
  func saveOrRollBack(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let acme = try context.company("Acme")
    try context.person("Ada", email: "a@x").employer = acme
    try context.save()
    #expect(context.registeredObjects.count == 2)
    let twin = try context.person("Ada", email: "a@x")
    #expect(context.registeredObjects.count == 3)
    #expect(throws: ManagedObjectError.self) { try context.save() }
    context.rollback()
    #expect(context.registeredObjects.count == 2 && !context.hasChanges && twin.managedObjectContext == nil)
    try context.save()
  }

  @Test("an undo takes back an event, and a rollback everything with the undo itself", arguments: StoreKind.allCases)
  func undo(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try context.performAndWait { context in
      context.undoManager = ManagedObjects.UndoManager()
      for number in 0..<10 { try context.person("P\(number)").employer = try context.company("C\(number)") }
      context.undo()
      #expect(context.insertedObjects.isEmpty)
      context.redo()
      #expect(context.insertedObjects.count == 20)
      context.rollback()
      #expect(context.insertedObjects.isEmpty)
      context.redo()
      #expect(context.insertedObjects.isEmpty)
      context.undoManager?.disableUndoRegistration()
      try context.person("Ada")
      context.processPendingChanges()
      context.undoManager?.enableUndoRegistration()
      context.undo()
      #expect(context.insertedObjects.count == 1, "it was not registered")
    }
    let plain = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    try plain.performAndWait { plain in
      try plain.person("Bob")
      plain.undo()
      #expect(plain.insertedObjects.count == 1)
      plain.rollback()
      #expect(plain.insertedObjects.isEmpty)
    }
  }

  @Test("a context keeps what a program puts beside it, each its own", arguments: StoreKind.allCases)
  func beside(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let ada = try here.person("Ada")
    here.userInfo["favourite"] = ada
    #expect(here.userInfo["favourite"] as? Person === ada && there.userInfo["favourite"] == nil)
    let bob = try here.person("Bob")
    here.userInfo["favourite"] = bob
    #expect(here.userInfo["favourite"] as? Person === bob)
    here.userInfo["favourite"] = nil
    #expect(here.userInfo.isEmpty)
  }

  @Test("contexts have the parent and the kind of queue that they were made with")
  func contexts() throws {
    let stack = try CompanyStack(.inMemory)
    let container = PersistentContainer(
      coordinator: stack.coordinator, stack: .independent, viewQueue: .privateQueue)
    let background = container.newBackgroundContext()
    #expect(background.concurrencyType == .privateQueue && background.parent == nil)
    let child = ContextQueue(.privateQueue, parent: container.viewContext)
    #expect(child.parent == container.viewContext && child.concurrencyType == .privateQueue)
    let main = ContextQueue(.mainQueue, parent: container.viewContext)
    #expect(main.concurrencyType == .mainQueue && main != child)
    let isSame = background.performAndWait { context in context.queue == background }
    #expect(isSame)
    #expect(throws: CancellationError.self) { try background.performAndWait { _ in throw CancellationError() } }
  }
}
