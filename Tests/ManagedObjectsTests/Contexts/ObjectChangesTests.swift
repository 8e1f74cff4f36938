import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Observing one object")
struct ObjectChangesTests {
  /// Runs the body on one thread, where its contexts belong, and returns the first change of each sequence; nil for one that ended
  /// without any.
  private func changes(
    _ kind: StoreKind, _ body: (CompanyStack, ManagedObjectContext) throws -> [ObjectChanges]
  ) async throws -> [ObjectChange?] {
    let sequences = try run(kind, body)
    var found: [ObjectChange?] = []
    for sequence in sequences {
      var iterator = sequence.makeAsyncIterator()
      found.append(await iterator.next())
    }
    return found
  }

  private func run(
    _ kind: StoreKind, _ body: (CompanyStack, ManagedObjectContext) throws -> [ObjectChanges]
  ) throws -> [ObjectChanges] {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let sequences = try body(stack, context)
    // Every sequence ends.
    context.reset()
    return sequences
  }

  @Test("the properties that an event changed are named with their values", arguments: StoreKind.allCases)
  func values(_ kind: StoreKind) async throws {
    let found = try await changes(kind) { _, context in
      let (ada, bo) = (try context.person("Ada", age: 36), try context.person("Bo"))
      try context.save()
      let (coalesced, other) = (ada.observeChanges(), bo.observeChanges())
      ada.name = "Ada"
      context.processPendingChanges()
      ada.name = "Eve"
      ada.age = 37
      context.processPendingChanges()
      ada.age = 38
      context.processPendingChanges()
      let late = ada.observeChanges()
      ada.email = "ada@example.org"
      context.processPendingChanges()
      return [coalesced, other, late]
    }
    #expect(found[0]?.keys == ["name", "age", "email"])
    #expect(found[0]?.values == ["name": "Eve", "age": 38, "email": "ada@example.org"])
    #expect(found[1] == nil)
    #expect(found[2]?.keys == ["email"], "what came before is known")
  }

  @Test("both ends of a relationship change, whether or not a set has been read", arguments: StoreKind.allCases)
  func relationships(_ kind: StoreKind) async throws {
    let found = try await changes(kind) { stack, context in
      let writer = stack.context()
      let (ada, acme, unread) = (
        try writer.person("Ada"), try writer.company("Acme"), try writer.company("Unread")
      )
      try writer.save()
      let mine = try #require(context.object(with: ada.objectID) as? Person)
      let read = try #require(context.object(with: acme.objectID) as? Company)
      let other = try #require(context.object(with: unread.objectID) as? Company)
      #expect(read.employees.isEmpty)
      let sequences = [mine.observeChanges(), read.observeChanges(), other.observeChanges()]
      mine.employer = read
      context.processPendingChanges()
      mine.employer = other
      context.processPendingChanges()
      return sequences
    }
    #expect(found[0]?.keys == ["employer"])
    #expect(found[1]?.keys == ["employees"] && found[1]?.values["employees"] == .objects([]))
    #expect(found[2]?.keys.contains("employees") == true)
    #expect(found[2]?.keys.contains("name") == false)
  }

  /// The change that `event` makes of a saved person.
  private func change(
    _ kind: StoreKind, _ event: (Person, _ theirs: Person, ManagedObjectContext) throws -> ObjectChanges
  ) async throws -> ObjectChange? {
    let found = try await changes(kind) { stack, context in
      let writer = stack.context()
      let original = try writer.person("Ada", age: 36)
      try writer.save()
      context.undoManager = UndoManager()
      return [try event(try #require(context.object(with: original.objectID) as? Person), original, context)]
    }
    return found[0]
  }

  @Test("merges, undo, rollback and refreshes are changes, too", arguments: StoreKind.allCases)
  func otherWriters(_ kind: StoreKind) async throws {
    let merged = try await change(kind) { ada, theirs, context in
      let changes = ada.observeChanges()
      theirs.age = 37
      context.mergeChanges(fromContextDidSave: try #require(try theirs.managedObjectContext?.saveAndTell()))
      context.processPendingChanges()
      return changes
    }
    #expect(merged?.keys == ["age"] && merged?.values == ["age": 37])
    let undone = try await change(kind) { ada, _, context in
      ada.name = "Eve"
      context.processPendingChanges()
      let changes = ada.observeChanges()
      context.undo()
      context.processPendingChanges()
      return changes
    }
    #expect(undone?.keys == ["name"] && undone?.values == ["name": "Ada"])
    let rolledBack = try await change(kind) { ada, _, context in
      ada.email = "ada@example.org"
      context.processPendingChanges()
      let changes = ada.observeChanges()
      context.rollback()
      return changes
    }
    #expect(rolledBack?.keys == ["email"] && rolledBack?.values == ["email": .null])
    let refreshed = try await change(kind) { ada, _, context in
      let changes = ada.observeChanges()
      context.refresh(ada, mergeChanges: false)
      context.processPendingChanges()
      return changes
    }
    #expect(refreshed?.keys == Set(Person.propertyNames ?? []) && refreshed?.values.isEmpty == true)
    let afterwards = try await change(kind) { ada, _, context in
      context.refresh(ada, mergeChanges: false)
      context.processPendingChanges()
      let changes = ada.observeChanges()
      ada.age = 40
      context.processPendingChanges()
      return changes
    }
    #expect(afterwards?.keys == ["age"])
  }

  @Test("values that are set and set back, or rolled back before they are announced, are no change, nor is a read")
  func unchanged() async throws {
    let found = try await changes(.inMemory) { stack, context in
      let writer = stack.context()
      let original = try writer.person("Ada", age: 36)
      let text = try writer.insert(Note.self)
      try writer.save()
      let ada = try #require(context.object(with: original.objectID) as? Person)
      let note = try #require(context.object(with: text.objectID) as? Note)
      let sequences = [ada.observeChanges(), note.observeChanges()]
      note.text = "x"
      context.rollback()
      #expect(ada.friends.isEmpty)
      context.processPendingChanges()
      ada.age = 1
      ada.age = 36
      context.processPendingChanges()
      return sequences
    }
    #expect(found == [nil, nil])
  }

  @Test("the sequence ends when the object has no context any more", arguments: StoreKind.allCases)
  func ends(_ kind: StoreKind) async throws {
    let sequences = try deleted(kind)
    for sequence in sequences {
      var count = 0
      for await _ in sequence { count += 1 }
      #expect(count == 0)
    }
  }

  private func deleted(_ kind: StoreKind) throws -> [ObjectChanges] {
    let stack = try CompanyStack(kind)
    let (context, writer) = (stack.context(), stack.context())
    let (ada, original) = (try context.person("Ada"), try writer.person("Bo"))
    try context.save()
    try writer.save()
    let bo = try #require(context.object(with: original.objectID) as? Person)
    let sequences = [ada.observeChanges(), bo.observeChanges()]
    context.delete(ada)
    try context.save()
    writer.delete(original)
    context.mergeChanges(fromContextDidSave: try #require(try writer.saveAndTell()))
    context.processPendingChanges()
    return sequences + [ada.observeChanges()]
  }

  @Test("a sequence may be consumed while the context goes on, on its own queue")
  func concurrently() async throws {
    let stack = try CompanyStack(.inMemory)
    let context = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let (id, changes) = try await context.perform { context in
      let ada = try context.person("Ada", age: 0)
      try context.save()
      return (ada.objectID, ada.observeChanges())
    }
    let consumer = Task {
      var ages: [Value] = []
      for await change in changes {
        ages += change.values["age"].map { [$0] } ?? []
        if ages.last == 3 { break }
      }
      return ages
    }
    for age in 1...3 {
      await context.perform { context in (context.object(with: id) as? Person)?.age = Int32(age) }
    }
    let ages = await consumer.value
    #expect(ages.last == 3 && Set(ages).count == ages.count)
  }
}
