import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Calls to an object with a class of its own")
struct LifeCycleTests {
  @Test("an insertion, a save, a fault that is filled, and a deletion, in their order", arguments: StoreKind.allCases)
  func moments(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let diary = context.diary
    let item = try context.insert(Item.self)
    #expect(diary.take() == ["awakeFromInsert"])
    try context.save()
    #expect(diary.take() == ["willSave", "validateForInsert", "didSave"])
    context.refresh(item, mergeChanges: false)
    #expect(diary.take() == ["willTurnIntoFault", "didTurnIntoFault"])
    item.count = 1
    #expect(diary.take() == ["awakeFromFetch"])
    try context.save()
    #expect(diary.take() == ["willSave", "validateForUpdate", "didSave"])
    item.count = 2
    context.rollback()
    #expect(diary.take() == ["awake \(SnapshotEventType.rollback.rawValue)"])
    item.count = 3
    context.refresh(item, mergeChanges: true)
    #expect(diary.take() == ["awake \(SnapshotEventType.refresh.rawValue)"])
    var wasMarked: [Bool] = []
    for event in ["prepareForDeletion", "willSave", "didSave"] {
      diary.onEvent[event] = { wasMarked.append($0.isDeleted) }
    }
    context.delete(item)
    #expect(diary.take() == ["prepareForDeletion"])
    try context.save()
    #expect(diary.take() == ["willSave", "validateForDelete", "didSave"])
    #expect(wasMarked == [false, true, true])
    #expect(item.managedObjectContext == nil)
  }

  @Test("a reset turns every object into a fault that has values, before and after", arguments: StoreKind.allCases)
  func resets(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let diary = context.diary
    let (item, fault) = (try context.insert(Item.self), try context.insert(Item.self))
    try context.save()
    context.refresh(fault, mergeChanges: false)
    _ = diary.take()
    var contexts: [ManagedObjectContext?] = []
    for event in ["willTurnIntoFault", "didTurnIntoFault"] {
      diary.onEvent[event] = {
        contexts.append($0.managedObjectContext)
        $0.name = "worked out"
      }
    }
    context.reset()
    #expect(diary.take() == ["willTurnIntoFault", "didTurnIntoFault"])
    #expect(contexts == [context, nil])
    #expect(item.managedObjectContext == nil && !context.hasChanges)
  }

  @Test("a fetch wakes what it reads, once", arguments: StoreKind.allCases)
  func fetches(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let writer = stack.context()
    for name in ["a", "b", "c"] { try writer.insert(Item.self).name = name }
    try writer.save()
    let context = stack.context()
    let items = try context.all(Item.self)
    #expect(items.count == 3 && context.diary.take() == Array(repeating: "awakeFromFetch", count: 3))
    #expect(try context.all(Item.self) == items && context.diary.take().isEmpty)
  }

  @Test("values set in awakeFromFetch are no change", arguments: StoreKind.allCases)
  func wakingSets(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let writer = stack.context()
    try writer.insert(Item.self).stamp = "stored"
    try writer.save()
    let context = stack.context()
    context.diary.onEvent["awakeFromFetch"] = { object in
      (object as? Item)?.label = "worked out"
      (object as? Item)?.stamp = "shown"
    }
    let item = try #require(try context.all(Item.self).first)
    #expect(item.label == "worked out" && item.stamp == "shown")
    #expect(!context.hasChanges && !item.isUpdated)
    item.count = 4
    #expect(item.changedValues() == ["count": .int(4), "stamp": .string("shown")])
    try context.save()
    #expect(try stack.context().all(Item.self).first?.stamp == "shown", "it is saved with the first real change")
  }

  @Test("defaults set on insertion give way to the values it was given", arguments: StoreKind.allCases)
  func defaults(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    context.diary.onEvent["awakeFromInsert"] = { object in
      object.name = "default"
      (object as? Item)?.stamp = "default"
    }
    let entity = try #require(context.model.entitiesByName["Item"])
    var values = entity.initialValues
    values[0] = .string("given")
    let objects = try context.insert(entity, count: 2) { _ in values }
    #expect(objects.allSatisfy { $0.value(forKey: "name") == .string("given") })
    #expect(objects.allSatisfy { $0.value(forKey: "stamp") == .string("default") })
  }

  @Test("a save asks and validates objects with nothing to write, too", arguments: StoreKind.allCases, [false, true])
  func nothingToWrite(_ kind: StoreKind, isTransient: Bool) throws {
    let context = try DiaryModel.stack(kind).context()
    let item = try context.insert(Item.self)
    try context.save()
    _ = context.diary.take()
    if isTransient {
      item.label = "shown"
    } else {
      item.count = 1
      item.count = nil
    }
    try context.save()
    #expect(context.diary.take() == ["willSave", "validateForUpdate", "didSave"])
    #expect(!context.hasChanges && !item.hasPersistentChangedValues)
  }

  @Test("willSave may change, insert and delete, and is asked again about what changed", arguments: StoreKind.allCases)
  func willSave(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    let item = try context.insert(Item.self)
    let gone = try context.insert(Part.self)
    gone.name = "gone"
    try context.save()
    _ = context.diary.take()
    context.diary.onEvent["willSave"] = { object in
      guard let context = object.managedObjectContext else { return }
      if let item = object as? Item, item.stamp == nil {
        item.stamp = "first"
        let part = try context.insert(Part.self)
        part.name = "made on save"
        item.parts = [part]
        context.delete(gone)
      } else if let item = object as? Item, item.stamp == "first" {
        item.stamp = "second"
      }
    }
    item.count = 1
    try context.save()
    #expect(
      context.diary.take().filter { $0 == "willSave" }.count == 5, "the item three times, the part, the deleted object")
    #expect(!context.hasChanges)
    let reader = stack.context()
    let found = try #require(try reader.all(Item.self).first)
    #expect(found.stamp == "second" && found.parts.map(\.name) == ["made on save"])
    #expect(try reader.all(Part.self).count == 1)
  }

  @Test("a willSave that never comes to rest fails the save, and says which objects", arguments: StoreKind.allCases)
  func endless(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    let item = try context.insert(Item.self)
    var count = 0
    context.diary.onEvent["willSave"] = { object in
      count += 1
      (object as? Item)?.stamp = "\(count)"
    }
    #expect(throws: ManagedObjectError.unsettledChanges(attempts: 1000, objectIDs: [item.objectID])) {
      try context.save()
    }
    #expect(count == 1000 && item.isInserted)
    #expect(try stack.context().all(Item.self).isEmpty)
    context.diary.onEvent = [:]
    try context.save()
  }

  @Test("what didSave sets is an unsaved change", arguments: StoreKind.allCases)
  func didSave(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    let item = try context.insert(Item.self)
    context.diary.onEvent["didSave"] = { ($0 as? Item)?.count = 5 }
    try context.save()
    #expect(item.isUpdated && context.hasChanges)
    #expect(try stack.context().all(Item.self).first?.count == nil)
    context.diary.onEvent = [:]
    try context.save()
    #expect(try stack.context().all(Item.self).first?.count == 5)
  }

  @Test("objects that a rule deletes are prepared too, while they still hold together", arguments: StoreKind.allCases)
  func cascades(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let item = try context.insert(Item.self)
    let part = try context.insert(Part.self)
    part.name = "p"
    item.parts = [part]
    try context.save()
    var seen: [String] = []
    context.diary.onEvent["prepareForDeletion"] = { object in
      if let item = object as? Item { seen.append("item with \(item.parts.count)") }
      if let part = object as? Part {
        seen.append("part of an item: \(part.value(forKey: "owner") == .object(item.objectID))")
      }
    }
    context.delete(item)
    context.processPendingChanges()
    #expect(seen == ["item with 1", "part of an item: true"])
    try context.save()
  }

  @Test("an object that deletes itself while it is prepared for that is deleted once", arguments: StoreKind.allCases)
  func deletesItself(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let item = try context.insert(Item.self)
    try context.save()
    context.diary.onEvent["prepareForDeletion"] = { $0.managedObjectContext?.delete($0) }
    context.delete(item)
    #expect(context.deletedObjects == [item])
    try context.save()
  }

  @Test("a new object that a child saves isn't inserted twice", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let parent = try DiaryModel.stack(kind).context()
    let child = ManagedObjectContext(.confinement, parent: parent)
    try child.insert(Item.self).name = "x"
    try child.save()
    #expect(child.diary.take() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
    #expect(parent.diary.take().isEmpty)
    try parent.save()
    #expect(parent.diary.take() == ["willSave", "validateForInsert", "didSave"])
  }

  @Test("a prepareForDeletion may process the changes that led to it", arguments: StoreKind.allCases)
  func processesChanges(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    let items = [try context.insert(Item.self), try context.insert(Item.self)]
    for item in items { item.parts = [try context.insert(Part.self), try context.insert(Part.self)] }
    try context.save()
    context.diary.onEvent["prepareForDeletion"] = { object in
      if object is Part { object.managedObjectContext?.processPendingChanges() }
    }
    for item in items { context.delete(item) }
    context.processPendingChanges()
    #expect(context.deletedObjects.count == 6)
    try context.save()
    #expect(try stack.context().all(Part.self).isEmpty)
  }
}
