import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Stores that are added and removed")
struct StoreListTests {
  @Test("hold their configuration, also if others do; without one, the entities that earlier stores leave")
  func entities() throws {
    let stack = try HerdStack(
      [.inMemory, .inMemory, .inMemory, .inMemory], configurations: ["dogs", "cats", nil, "dogs"])
    let all = ["Animal", "Cat", "Dog", "Owner"]
    #expect(
      stack.stores.map { $0.entityNames.sorted() } == [
        ["Dog", "Owner"], ["Animal", "Cat", "Owner"], [], ["Dog", "Owner"],
      ])
    #expect(stack.stores.map(\.configurationName) == ["dogs", "cats", nil, "dogs"])
    let plain = try HerdStack([.inMemory, .sqlite], configurations: [nil, nil])
    #expect(plain.stores.map { $0.entityNames.sorted() } == [all, all])
    #expect(plain.coordinator.persistentStores == plain.stores)
    let url = try #require(plain.stores[1].url)
    #expect(plain.coordinator.persistentStore(for: url) == plain.stores[1])
    #expect(plain.coordinator.persistentStore(for: url.appendingPathComponent("x")) == nil)
  }

  @Test("can't be added twice")
  func twice() throws {
    let stack = try HerdStack([.sqlite], configurations: [nil])
    #expect(throws: PersistentStoreError.alreadyAdded(identifier: stack.stores[0].identifier)) {
      try stack.coordinator.addPersistentStore(.sqlite(at: stack.file))
    }
    #expect(stack.coordinator.persistentStores == stack.stores)
    try stack.context().animal("Rex")
  }

  @Test("are announced when they are added and removed")
  func notifications() throws {
    let coordinator = PersistentStoreCoordinator(model: HerdModel.model)
    let told = Recorder<[String: [PersistentStore]]>()
    let observer = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.storesDidChangeNotification, object: coordinator, queue: nil
    ) { note in
      told.note(note.userInfo as? [String: [PersistentStore]] ?? [:])
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let store = try coordinator.addPersistentStore(.inMemory())
    try coordinator.remove(store)
    #expect(told.items == [["added": [store]], ["removed": [store]]])
  }

  @Test(
    "are neither read nor written once they are removed, and are there again when they are added again",
    arguments: StorePair.all)
  func removed(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let (coordinator, store) = (stack.coordinator, stack.stores[0])
    let context = stack.context()
    let (rex, pip) = (try context.animal("Rex", in: store), try context.animal("Pip", in: store))
    try context.animal("Tom", "Cat", in: stack.stores[1])
    try context.save()
    context.refresh(pip, mergeChanges: false)
    try coordinator.remove(store)
    #expect(coordinator.persistentStores == [stack.stores[1]])
    #expect(throws: PersistentStoreError.unknownStore(identifier: store.identifier)) { try coordinator.remove(store) }
    #expect(coordinator.persistentStore(for: rex.objectID) == nil)
    #expect(try context.herd() == ["Tom"])
    #expect(rex.text("name") == "Rex")
    #expect(throws: PersistentStoreError.notReachable(pip.objectID)) { try context.existingObject(with: pip.objectID) }
    try rex.setValue(.int(3), forKey: "legs")
    #expect(throws: PersistentStoreError.notReachable(rex.objectID)) { try context.save() }
    context.rollback()
    #expect(throws: PersistentStoreError.unknownStore(identifier: store.identifier)) {
      try context.assign(context.animal("new"), to: store)
    }
    // An object that isn't assigned goes where there is room.
    try context.save()
    #expect(try context.herd() == ["Tom", "new"])
    guard pair.first == .sqlite else { return }
    let again = try coordinator.addPersistentStore(.sqlite(at: stack.file, configuration: "herd"))
    #expect(again.identifier == store.identifier && again != store)
    #expect(try context.herd() == ["Pip", "Rex", "Tom", "new"])
    #expect(pip.text("name") == "Pip")
  }
}
