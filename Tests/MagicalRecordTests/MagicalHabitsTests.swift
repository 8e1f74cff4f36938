import Dispatch
import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What MagicalRecord's own tests say, where no other test does. In the suite of the program's one stack.
extension MagicalStackTests {
  private func with<T>(_ kind: StoreKind, _ body: (MagicalStack) async throws -> T) async throws -> T {
    let scratch = try ScratchDirectory()
    let store = kind == .inMemory ? PersistentStoreDescription.inMemory() : .sqlite(at: scratch.file("m.sqlite"))
    let stack = try MagicalStack(model: CompanyModel.model, store: store, nesting: .savingContext)
    MagicalRecord.setUp(stack)
    MagicalRecord.setLogHandler { _, _ in }
    defer {
      MagicalRecord.setErrorHandler(nil)
      MagicalRecord.cleanUp()
    }
    let result = try await body(stack)
    try stack.coordinator.close()
    return result
  }

  @Test(
    "what a block inserts is there for the default context by its permanent ID", arguments: StoreKind.allCases,
    [false, true])
  func insertedInBlock(_ kind: StoreKind, waits: Bool) async throws {
    try await with(kind) { stack in
      let found = Recorder<ManagedObjectID>()
      let insert: @Sendable (ManagedObjectContext) throws -> Void = { context in
        let ada = try Person.createEntity(in: context)
        #expect(ada.hasChanges && ada.objectID.isTemporaryID)
        try context.obtainPermanentIDs(for: [ada])
        found.note(ada.objectID)
      }
      if waits { #expect(try MagicalRecord.saveAndWait(insert)) } else { #expect(try await MagicalRecord.save(insert)) }
      let id = try #require(found.items.first)
      #expect(!id.isTemporaryID)
      let isClean = try await stack.defaultContext.perform { context in
        try !context.existingObject(with: id).hasChanges
      }
      #expect(isClean)
      let change: @Sendable (ManagedObjectContext) throws -> Void = { context in
        (context.object(with: id) as? Person)?.age = 36
      }
      if waits { #expect(try MagicalRecord.saveAndWait(change)) } else { #expect(try await MagicalRecord.save(change)) }
      let age = await stack.defaultContext.perform { context in (context.object(with: id) as? Person)?.age }
      #expect(age == 36)
    }
  }

  @Test(
    "saving one level leaves the parent with changes, and saving to the store leaves none",
    arguments: StoreKind.allCases, [false, true])
  func oneLevel(_ kind: StoreKind, waits: Bool) async throws {
    try await with(kind) { stack in
      for isWhole in [false, true] {
        let parent = stack.defaultContext
        let child = ContextQueue(.privateQueue, parent: parent)
        let id = try await child.perform { child in
          child.retainsRegisteredObjects = true
          let person = try Person.createEntity(in: child)
          try child.obtainPermanentIDs(for: [person])
          #expect(!person.objectID.isTemporaryID && person.hasChanges)
          return person.objectID
        }
        switch (isWhole, waits) {
        case (false, true): #expect(child.saveOnlySelfAndWait().didSave)
        case (true, true): #expect(child.saveToPersistentStoreAndWait().didSave)
        case (false, false):
          let outcome = await withCheckedContinuation { continuation in
            child.saveOnlySelf { continuation.resume(returning: $0) }
          }
          #expect(outcome.didSave)
        case (true, false): #expect(try await child.saveToPersistentStore())
        }
        let isChangedAbove = await parent.perform { parent in parent.object(with: id).hasChanges }
        let isChanged = await child.perform { child in child.registeredObject(for: id)?.hasChanges }
        #expect(isChangedAbove != isWhole && isChanged == false)
      }
    }
  }

  @Test("a save gives permanent IDs", arguments: StoreKind.allCases)
  func permanentIDs(_ kind: StoreKind) async throws {
    try await with(kind) { stack in
      let isTemporary = try await #require(stack.rootSavingContext).perform { context in
        let person = try Person.createEntity(in: context)
        let before = person.objectID.isTemporaryID
        #expect(context.saveOnlySelfAndWait().didSave)
        return [before, person.objectID.isTemporaryID]
      }
      #expect(isTemporary == [true, false])
    }
  }

  @Test("an object that a block deletes is gone in the default context", arguments: StoreKind.allCases)
  func deletedInBlock(_ kind: StoreKind) async throws {
    try await with(kind) { stack in
      let id = try await stack.defaultContext.perform { context in
        context.retainsRegisteredObjects = true
        let ada = try Person.createEntity(in: context)
        #expect(context.saveToPersistentStoreAndWait().didSave && !ada.isEntityDeleted)
        context.userInfo["ada"] = ada
        return ada.objectID
      }
      try MagicalRecord.saveAndWait { context in
        let mine = try #require(context.object(with: id) as? Person)
        #expect(!mine.isEntityDeleted && mine.deleteEntity() && mine.isDeleted)
        context.processPendingChanges()
        #expect(context.deletedObjects == [mine] && mine.isEntityDeleted)
      }
      let isGone = await stack.defaultContext.perform { context in
        (context.userInfo["ada"] as? Person)?.isEntityDeleted
      }
      #expect(isGone == true)
    }
  }

  @Test("requests name the entity, and those for the first have a limit and the predicate")
  func requests() async throws {
    try await with(.inMemory) { stack in
      try await stack.defaultContext.perform { context in
        let all = try Person.requestAll(in: context)
        #expect(all.entityName == "Person" && all.fetchLimit == 0 && all.predicate == nil)
        let byName = try Person.requestFirst(by: "name", with: Value.null, in: context)
        #expect(byName.entityName == "Person" && byName.fetchLimit == 1 && byName.fetchOffset == 0)
        #expect(byName.predicate == .equal("name", .null))
        #expect(try Person.entityDescription(in: context).name == "Person")
      }
    }
  }

  @Test("unsaved objects are counted, all and by a predicate", arguments: StoreKind.allCases)
  func counted(_ kind: StoreKind) async throws {
    try await with(kind) { stack in
      let counts = try await stack.defaultContext.perform { context in
        for number in 0..<20 { try Person.createEntity(in: context).name = "Group \(number / 5)" }
        return [
          try Person.countOfEntities(in: context),
          try Person.countOfEntities(matching: .equal("name", "Group 1"), in: context),
        ]
      }
      #expect(counts == [20, 5])
    }
  }

  @Test("an error handler gets the error that a save ends with")
  func errorHandler() async throws {
    try await with(.inMemory) { _ in
      struct Ours: Error, Equatable { let code: Int }
      let heard = Recorder<Int>()
      MagicalRecord.setErrorHandler { heard.note(($0 as? Ours)?.code ?? 0) }
      let outcome = await withCheckedContinuation { continuation in
        MagicalRecord.save({ _ in throw Ours(code: 1000) }, completion: { continuation.resume(returning: $0) })
      }
      #expect((outcome.error as? Ours)?.code == 1000 && heard.items == [1000])
    }
  }

  @Test("stacks in memory and at a name have one store, of their kind", arguments: [StoreKind.inMemory, .sqlite])
  func kinds(_ kind: StoreKind) throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("named.sqlite")
    let stack =
      kind == .inMemory
      ? try MagicalRecord.setupStackWithInMemoryStore(model: CompanyModel.model)
      : try MagicalRecord.setupSQLiteStack(model: CompanyModel.model, storeNamed: file.path)
    let stores = stack.coordinator.persistentStores
    #expect(stores.count == 1 && stores[0].url?.lastPathComponent == (kind == .sqlite ? "named.sqlite" : nil))
    #expect(try MagicalRecord.defaultContext() == stack.defaultContext)
    if kind == .sqlite {
      try stack.coordinator.addPersistentStore(.inMemory())
      #expect(stack.coordinator.persistentStores.count == 2 && stack.coordinator.persistentStores[1].url == nil)
    }
    MagicalRecord.cleanUp()
    try stack.coordinator.close()
  }

  @Test("a context may follow another's saves without changes of its own", arguments: StoreKind.allCases)
  func follows(_ kind: StoreKind) async throws {
    try await with(kind) { stack in
      let follower = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      follower.automaticallyMergesChangesFromParent = true
      let other = ContextQueue(.privateQueue, coordinator: stack.coordinator)
      try other.performAndWait { other in
        _ = try Person.createEntity(in: other)
        #expect(other.hasChanges)
      }
      #expect(other.saveOnlySelfAndWait().didSave)
      let isChanged = [other, follower].map { queue in queue.performAndWait { $0.hasChanges } }
      #expect(isChanged == [false, false])
    }
  }
}
