import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Undo and redo")
struct UndoTests {
  private func context(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    context.undoManager = UndoManager()
    return (stack, context)
  }

  @Test("without an undo manager nothing is undone", arguments: StoreKind.allCases)
  func none(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let ada = try context.person("Ada", age: 30)
    context.undo()
    context.redo()
    #expect(ada.isInserted && ada.age == 30)
  }

  @Test("changes are undone event by event, and redone", arguments: StoreKind.allCases)
  func updates(_ kind: StoreKind) throws {
    let (_, context) = try context(kind)
    let ada = try context.person("Ada", age: 30)
    try context.save()
    (ada.age, ada.name) = (31, "Eve")
    context.processPendingChanges()
    ada.age = 32
    context.undo()
    #expect(ada.age == 31 && ada.name == "Eve")
    context.undo()
    #expect(ada.age == 30 && ada.name == "Ada" && !context.hasChanges, "as it was saved")
    context.redo()
    context.redo()
    #expect(ada.age == 32 && ada.name == "Eve" && ada.isUpdated)
    #expect(!(try #require(context.undoManager).canRedo))
    context.undo()
    ada.name = "New"
    context.processPendingChanges()
    #expect(!(try #require(context.undoManager).canRedo), "a new change leaves nothing to redo")
  }

  @Test("blocks within a block belong to its event, and are undone with it", arguments: StoreKind.allCases)
  func nestedBlocks(_ kind: StoreKind) throws {
    let context = ContextQueue(.privateQueue, coordinator: try CompanyStack(kind).coordinator)
    try context.performAndWait { context in
      context.undoManager = UndoManager()
      context.retainsRegisteredObjects = true
      try context.person("Ada", age: 30)
      try context.save()
    }
    let changes = Recorder<Int>()
    let observer = context.observe(ManagedObjectContext.didChangeObjectsNotification) { note in
      if let announced = ContextChanges(note) { changes.note(announced.updated.count) }
    }
    defer { observer.cancel() }
    try context.performAndWait { context in
      let ada = try #require(try context.named("Ada", Person.self))
      ada.age = 31
      try context.performAndWait { context in try context.named("Ada", Person.self)?.name = "Eve" }
      ada.email = "ada@example.org"
    }
    #expect(changes.items == [1])
    try context.performAndWait { context in
      context.undo()
      let ada = try #require(try context.named("Ada", Person.self))
      #expect(ada.age == 30 && ada.email == nil && !context.hasChanges)
    }
  }

  @Test("an insertion is undone and redone with the same object", arguments: StoreKind.allCases)
  func insertions(_ kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    let acme = try context.company("Acme")
    try context.save()
    let ada = try context.person("Ada", age: 30)
    ada.employer = acme
    context.undo()
    #expect(ada.managedObjectContext == nil && !context.hasChanges && acme.employees.isEmpty)
    context.redo()
    #expect(ada.isInserted && ada.age == 30 && ada.employer == acme && acme.employees == [ada])
    try context.save()
    #expect(try stack.context().named("Acme", Company.self)?.employees.map(\.name) == ["Ada"])
  }

  @Test("a deletion is undone with everything that hung on it", arguments: StoreKind.allCases)
  func deletions(_ kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    let (acme, ada, red) = (try context.company("Acme"), try context.person("Ada"), try context.insert(Project.self))
    let office = try context.insert(Department.self)
    office.company = acme
    ada.employer = acme
    ada.projects = [red]
    try context.save()
    #expect(acme.employees == [ada] && red.members == [ada])
    context.delete(acme)
    context.delete(ada)
    context.processPendingChanges()
    #expect(office.isDeleted && red.members.isEmpty)
    context.undo()
    #expect(!acme.isDeleted && !office.isDeleted && !ada.isDeleted)
    #expect(ada.employer == acme && acme.employees == [ada] && red.members == [ada] && acme.departments == [office])
    #expect(!context.hasChanges)
    context.redo()
    #expect(acme.isDeleted && office.isDeleted && ada.isDeleted)
    try context.save()
    #expect(try stack.context().all(Company.self).isEmpty)
  }

  @Test("a deletion that was saved is undone: the object is inserted again", arguments: StoreKind.allCases)
  func savedDeletions(_ kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    let (acme, ada) = (try context.company("Acme"), try context.person("Ada", age: 30))
    let red = try context.insert(Project.self)
    acme.employees = [ada]
    ada.projects = [red]
    try context.save()
    let id = ada.objectID
    context.delete(ada)
    try context.save()
    context.undo()
    #expect(ada.isInserted && ada.objectID == id && ada.employer == acme && acme.employees == [ada])
    #expect(red.members == [ada] && ada.age == 30)
    try context.save()
    let again = try #require(try stack.context().existingObject(with: id) as? Person)
    #expect(again.name == "Ada" && again.employer?.name == "Acme" && again.projects.count == 1)
    context.redo()
    try context.save()
    #expect(try stack.context().all(Person.self).isEmpty)
  }

  @Test("changes are undone after they were saved, and the undo is saved", arguments: StoreKind.allCases)
  func savedChanges(_ kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    let ada = try context.person("Ada", age: 30)
    try context.save()
    let acme = try context.company("Acme")
    (ada.age, ada.employer) = (31, acme)
    try context.save()
    context.undo()
    #expect(ada.age == 30 && ada.employer == nil && acme.isDeleted)
    try context.save()
    #expect(try stack.context().all(Company.self).isEmpty)
    context.redo()
    #expect(ada.age == 31 && ada.employer == acme && acme.isInserted)
    try context.save()
    #expect(try stack.context().named("Ada", Person.self)?.employer?.name == "Acme")
  }

  @Test("sets and one-to-one pairs are changed back on both sides", arguments: StoreKind.allCases)
  func relationships(_ kind: StoreKind) throws {
    let (_, context) = try context(kind)
    let (ada, bob, desk) = (try context.person("Ada"), try context.person("Bob"), try context.insert(Desk.self))
    let red = try context.insert(Project.self)
    ada.desk = desk
    red.members = [ada]
    try context.save()
    desk.occupant = bob
    red.members = [bob]
    context.undo()
    #expect(ada.desk == desk && bob.desk == nil && desk.occupant == ada)
    #expect(red.members == [ada] && ada.projects == [red] && bob.projects.isEmpty)
    context.redo()
    #expect(bob.desk == desk && ada.desk == nil && red.members == [bob])
  }

  @Test("an order is changed back", arguments: StoreKind.allCases)
  func orders(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind, model: MusicModel.model).context()
    context.undoManager = UndoManager()
    let album = try context.insert(Album.self)
    let tracks = try (0..<4).map { _ in try context.insert(Track.self) }
    album.tracks = OrderedSet(tracks)
    try context.save()
    album.tracks = OrderedSet(tracks.reversed())
    context.processPendingChanges()
    album.tracks = [tracks[2], tracks[0]]
    context.undo()
    #expect(album.tracks == OrderedSet(tracks.reversed()) && tracks[3].album == album)
    context.undo()
    #expect(album.tracks == OrderedSet(tracks) && !context.hasChanges)
    context.redo()
    context.redo()
    #expect(album.tracks == [tracks[2], tracks[0]] && tracks[3].album == nil)
    try context.save()
  }

  @Test("merged changes survive an undo", arguments: StoreKind.allCases)
  func merges(_ kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    let ada = try context.person("Ada", age: 30)
    try context.save()
    ada.age = 31
    let there = stack.context()
    try #require(try there.named("Ada", Person.self)).email = "ada@example.org"
    context.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    context.undo()
    #expect(ada.age == 30 && ada.email == "ada@example.org")
    try context.save()
  }

  @Test("a group is undone as a whole; levels and registration are kept", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) throws {
    let (_, context) = try context(kind)
    let undo = try #require(context.undoManager)
    let ada = try context.person("Ada", age: 1)
    undo.beginUndoGrouping()
    ada.age = 2
    context.processPendingChanges()
    ada.age = 3
    undo.setActionName("Ageing")
    undo.endUndoGrouping()
    #expect(undo.undoActionName == "Ageing")
    context.undo()
    #expect(ada.age == 1 && undo.redoActionName == "Ageing")
    undo.disableUndoRegistration()
    ada.age = 9
    undo.enableUndoRegistration()
    undo.levelsOfUndo = 2
    for age in [10, 11, 12] as [Int32] {
      ada.age = age
      context.processPendingChanges()
    }
    context.undo()
    context.undo()
    #expect(ada.age == 10 && !undo.canUndo)
  }

  @Test("groups nest, and the last one inside is undone by itself", arguments: StoreKind.allCases)
  func nested(_ kind: StoreKind) throws {
    let (_, context) = try context(kind)
    let undo = try #require(context.undoManager)
    let ada = try context.person("Ada", age: 1)
    context.processPendingChanges()
    undo.beginUndoGrouping()
    ada.age = 2
    undo.beginUndoGrouping()
    ada.age = 3
    undo.setActionName("Inner")
    #expect(undo.groupingLevel == 2)
    undo.undo()
    #expect(ada.age == 3, "a group is open in another")
    undo.endUndoGrouping()
    undo.undoNestedGroup()
    #expect(ada.age == 2 && undo.groupingLevel == 1 && undo.redoActionName == "Inner")
    undo.redo()
    #expect(ada.age == 3)
    ada.name = "Eve"
    undo.undoNestedGroup()
    #expect(ada.age == 3 && ada.name == "Eve", "something was done after the nested group")
    undo.undo()
    #expect(ada.age == 1 && ada.name == "Ada" && undo.groupingLevel == 0, "ends the group and takes all of it back")
    undo.redo()
    #expect(ada.age == 3 && ada.name == "Eve" && undo.undoMenuItemTitle == "Undo Inner")
    undo.undoNestedGroup()
    #expect(ada.age == 1)
  }

  @Test("without groups by event each registration is undone by itself")
  func ungrouped() {
    final class Counter { var value = 0 }
    let (undo, counter) = (UndoManager(), Counter())
    func set(_ value: Int) {
      let former = counter.value
      undo.registerUndo(withTarget: counter) { _ in set(former) }
      counter.value = value
    }
    undo.groupsByEvent = false
    set(1)
    set(2)
    undo.undo()
    #expect(counter.value == 1)
    undo.redo()
    #expect(counter.value == 2)
    undo.groupsByEvent = true
    set(3)
    set(4)
    undo.undo()
    #expect(counter.value == 2)
  }

  @Test("what was registered with a target is forgotten with it")
  func targets() {
    final class Target { var log: [String] = [] }
    let (undo, a, b) = (UndoManager(), Target(), Target())
    undo.groupsByEvent = false
    undo.registerUndo(withTarget: a) { $0.log.append("a") }
    undo.registerUndo(withTarget: b) { $0.log.append("b") }
    undo.beginUndoGrouping()
    undo.registerUndo(withTarget: a) { $0.log.append("a") }
    undo.endUndoGrouping()
    undo.removeAllActions(withTarget: a)
    undo.undo()
    #expect(a.log.isEmpty && b.log == ["b"] && !undo.canUndo)
  }

  @Test("says what it does in notifications, and what would be lost")
  func notifications() {
    final class Target {}
    let (undo, target) = (UndoManager(), Target())
    let received = Recorder<String>()
    let names = [
      UndoManager.didOpenUndoGroupNotification, UndoManager.willCloseUndoGroupNotification,
      UndoManager.didCloseUndoGroupNotification, UndoManager.willUndoChangeNotification,
      UndoManager.didUndoChangeNotification, UndoManager.willRedoChangeNotification,
      UndoManager.didRedoChangeNotification,
    ]
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: undo, queue: nil) { note in
        received.note(note.name.rawValue.replacing("NSUndoManager", with: "").replacing("Notification", with: ""))
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    func act() { undo.registerUndo(withTarget: target) { _ in act() } }
    undo.beginUndoGrouping()
    act()
    undo.setActionIsDiscardable(true)
    undo.endUndoGrouping()
    #expect(undo.undoActionIsDiscardable && !undo.redoActionIsDiscardable)
    undo.undo()
    #expect(undo.redoActionIsDiscardable && undo.redoMenuItemTitle == "Redo")
    undo.redo()
    #expect(
      received.items == [
        "DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup", "WillUndoChange", "DidUndoChange",
        "WillRedoChange", "DidRedoChange",
      ])
  }

  @Test("what the program registers itself belongs to the event's group", arguments: StoreKind.allCases)
  func registered(_ kind: StoreKind) throws {
    final class Window {
      var title = "new"
      func set(_ title: String, _ undo: UndoManager) {
        let former = self.title
        undo.registerUndo(withTarget: self) { $0.set(former, undo) }
        self.title = title
      }
    }
    let (_, context) = try context(kind)
    let (ada, window) = (try context.person("Ada", age: 1), Window())
    context.processPendingChanges()
    ada.age = 2
    window.set("aged", try #require(context.undoManager))
    context.undo()
    #expect(ada.age == 1 && window.title == "new")
    context.redo()
    #expect(ada.age == 2 && window.title == "aged")
  }

  @Test("nothing can be undone after a rollback or a reset", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    let (_, context) = try context(kind)
    let undo = try #require(context.undoManager)
    try context.person("Ada")
    context.processPendingChanges()
    #expect(undo.canUndo)
    context.rollback()
    #expect(!undo.canUndo && !undo.canRedo)
    try context.person("Bob")
    context.processPendingChanges()
    context.reset()
    #expect(!undo.canUndo)
  }

  @Test("objects learn that their values came from an undo", arguments: StoreKind.allCases)
  func snapshots(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    context.undoManager = UndoManager()
    let item = try context.insert(Item.self)
    try context.save()
    item.count = 1
    context.processPendingChanges()
    context.delete(item)
    context.processPendingChanges()
    _ = context.diary.take()
    context.undo()
    #expect(context.diary.take() == ["awake \(SnapshotEventType.undoDeletion.rawValue)"])
    context.undo()
    #expect(context.diary.take() == ["awake \(SnapshotEventType.undoUpdate.rawValue)"])
  }

  @Test("the deletion of an object whose row is gone leaves nothing to undo", arguments: StoreKind.allCases)
  func rowIsGone(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let bern = try there.city(41, "Bern")
    try there.save()
    let mine = here.object(with: bern.objectID)
    there.delete(bern)
    try there.save()
    here.undoManager = UndoManager()
    here.delete(mine)
    here.processPendingChanges()
    #expect(mine.isDeleted)
    here.undo()
    #expect(mine.isDeleted && here.updatedObjects.isEmpty)
    try here.save()
    #expect(!here.hasChanges)
    #expect(try stack.context().all(City.self).isEmpty)
  }
}
