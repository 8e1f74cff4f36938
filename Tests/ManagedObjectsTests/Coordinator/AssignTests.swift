import ManagedObjects
import TestSupport
import Testing

@Suite("New objects among several stores")
struct AssignTests {
  @Test(
    "go to the first store that holds their entity, or to the one that they are assigned to", arguments: StorePair.all)
  func assigned(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let (rex, tom) = (try context.animal("Rex"), try context.animal("Tom", "Cat", in: stack.stores[1]))
    try context.save()
    #expect(rex.objectID.storeIdentifier == stack.stores[0].identifier)
    #expect(stack.coordinator.persistentStore(for: tom.objectID) == stack.stores[1])
    // Both stores number from the start: the IDs are those of two objects all the same.
    #expect(rex.objectID != tom.objectID)
    let uri = tom.objectID.uriRepresentation
    let reader = stack.context()
    let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(try reader.existingObject(with: id).text("name") == "Tom")
    #expect(try reader.existingObject(with: rex.objectID).text("name") == "Rex")
    let uris = [rex, tom].map(\.objectID.uriRepresentation)
    #expect(Set(uris.compactMap(stack.coordinator.managedObjectID(forURIRepresentation:))).count == 2)
    try tom.setValue(.int(3), forKey: "legs")
    context.delete(rex)
    try context.save()
    #expect(try stack.context().herd() == ["Tom"])
  }

  @Test(
    "may be assigned again until they are saved, and have their permanent ID of that store before",
    arguments: StorePair.all)
  func permanentIDs(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let rex = try context.animal("Rex", in: stack.stores[0])
    try context.assign(rex, to: stack.stores[1])
    let pip = try context.animal("Pip")
    try context.obtainPermanentIDs(for: [rex, pip])
    #expect(rex.objectID.storeIdentifier == stack.stores[1].identifier)
    #expect(pip.objectID.storeIdentifier == stack.stores[0].identifier)
    #expect(throws: PersistentStoreError.notNew(rex.objectID)) { try context.assign(rex, to: stack.stores[0]) }
    try context.save()
    #expect(try context.herd { $0.affectedStores = [stack.stores[1]] } == ["Rex"])
  }

  @Test("take their store along into a parent context", arguments: StorePair.all)
  func children(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let child = ManagedObjectContext(.confinement, parent: parent)
    let (rex, pip) = (try child.animal("Rex", in: stack.stores[1]), try child.animal("Pip", in: stack.stores[1]))
    try child.obtainPermanentIDs(for: [pip])
    #expect(pip.objectID.storeIdentifier == stack.stores[1].identifier)
    try child.save()
    #expect(try child.herd { $0.affectedStores = [stack.stores[1]] } == ["Pip", "Rex"])
    #expect(try child.herd { $0.affectedStores = [stack.stores[0]] } == [])
    try parent.performAndWait { parent in try parent.save() }
    #expect(try child.existingObject(with: rex.objectID).objectID.storeIdentifier == stack.stores[1].identifier)
    #expect(try stack.context().herd { $0.affectedStores = [stack.stores[1]] } == ["Pip", "Rex"])
  }

  @Test("are forgotten with their store by a rollback, and have none of it afterwards", arguments: StorePair.all)
  func rollback(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let rex = try context.animal("Rex", in: stack.stores[1])
    context.rollback()
    #expect(throws: PersistentStoreError.notNew(rex.objectID)) { try context.assign(rex, to: stack.stores[1]) }
    #expect(try context.herd() == [])
  }

  @Test("are refused a store that can't take them, each in words")
  func refusals() throws {
    let stack = try HerdStack(StorePair(first: .inMemory, second: .sqlite), ["dogs", "cats"])
    let context = stack.context()
    let dog = try context.animal("Rex")
    let refusal = #expect(throws: PersistentStoreError.self) { try context.assign(dog, to: stack.stores[1]) }
    #expect(refusal == .notHeld(entity: "Dog", stores: [stack.stores[1].description]))
    #expect("\(try #require(refusal))".contains("configuration doesn't have Dog"))
    let others = try HerdStack(StorePair(first: .inMemory, second: .inMemory))
    #expect(throws: PersistentStoreError.unknownStore(identifier: others.stores[0].identifier)) {
      try context.assign(dog, to: others.stores[0])
    }
    #expect(throws: ManagedObjectError.foreignObject(dog.objectID)) {
      try stack.context().assign(dog, to: stack.stores[0])
    }
    try context.save()
    #expect(throws: PersistentStoreError.notNew(dog.objectID)) { try context.assign(dog, to: stack.stores[0]) }
  }

  @Test(
    "refer to objects of their own store: the save names those that don't, and writes nothing", arguments: StorePair.all
  )
  func references(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    let owner = try context.insert("Owner")
    let rex = try context.animal("Rex", in: stack.stores[1])
    try rex.setValue(.object(owner.objectID), forKey: "owner")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    guard case .validation(let failures)? = error else {
      Issue.record("a validation error was expected")
      return
    }
    #expect(failures.map(\.property) == ["owner"] && failures.map(\.objectID) == [rex.objectID])
    #expect(failures.first?.reason == .otherStore([owner.objectID]))
    #expect(failures.first?.description.contains(owner.objectID.description) == true)
    #expect(try stack.context().herd() == [])
    try context.assign(owner, to: stack.stores[1])
    try context.save()
    let reader = stack.context()
    let read = try reader.existingObject(with: rex.objectID)
    #expect(read.value(forKey: "owner") == .object(owner.objectID))
    #expect(owner.objectID.storeIdentifier == stack.stores[1].identifier)
  }

  @Test("are unique within their store", arguments: StorePair.all)
  func uniqueness(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    try context.animal("Rex", tag: 1)
    try context.animal("Tom", "Cat", tag: 1, in: stack.stores[1])
    try context.save()
    let other = stack.context()
    let pip = try other.animal("Pip", tag: 1, in: stack.stores[1])
    #expect {
      try other.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      return conflicts.count == 1 && conflicts[0].objectID == pip.objectID
    }
    other.mergePolicy = .mergeByPropertyObjectTrump
    try other.save()
    #expect(try stack.context().herd() == ["Pip", "Rex"])
  }
}
