import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Saves of many new rows, which SQLite takes fifty a statement.
@Suite("A save of many new rows")
struct ManyRowsTests {
  static let model = Result {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        "Item",
        attributes: [
          AttributeDefinition("number", .integer64, isOptional: false), AttributeDefinition("code", .string),
          AttributeDefinition("text", .string),
        ],
        uniquenessConstraints: [["code"]], userInfo: ["primaryKey": "number"]),
      EntityDefinition("Sub", parent: "Item", attributes: [AttributeDefinition("extra", .string)]),
      EntityDefinition("Note", attributes: [AttributeDefinition("text", .string)]),
    ])
  }

  private func coordinator(_ kind: StoreKind, _ directory: ScratchDirectory) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try Self.model.get())
    try coordinator.addPersistentStore(kind.store(at: directory.file("items.sqlite")))
    return coordinator
  }

  /// Other tests run at the same time, and a notification tells only the context's name.
  private let rowsName = "rows \(UUID())"

  private func context(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: rowsName)
    context.announcesChanges = false
    return context
  }

  @Test("reports every row whose unique values are taken, wherever it is, and writes none", arguments: 0..<12)
  func conflicts(_ seed: UInt64) throws {
    var random = FixedNumbers(state: seed)
    let directory = try ScratchDirectory()
    let coordinator = try coordinator(.sqlite, directory)
    let first = context(coordinator)
    for number in [3, 77, 148, 149, 150, 171] {
      let item = try first.insert("Item")
      try item.setValue(.int(Int64(number)), forKey: "number")
      try item.setValue(.string("taken\(number)"), forKey: "code")
    }
    try first.save()

    let count = Int.random(in: 40...260, using: &random)
    let context = context(coordinator)
    var expected: Set<String> = []
    for row in 0..<count {
      let entity = Int.random(in: 0..<5, using: &random) == 0 ? "Sub" : "Item"
      let object = try context.insert(entity)
      var number = 1000 + row
      var code = "free\(row)"
      switch Int.random(in: 0..<25, using: &random) {
      case 0:
        number = 77
        expected.insert("\(object.objectID) number")
      case 1:
        code = "taken3"
        expected.insert("\(object.objectID) code")
      default: break
      }
      try object.setValue(.int(Int64(number)), forKey: "number")
      try object.setValue(.string(code), forKey: "code")
      try object.setValue(.string(String(repeating: "é", count: row % 7)), forKey: "text")
    }
    do {
      try context.save()
      #expect(expected.isEmpty)
    } catch ManagedObjectError.constraintConflicts(let conflicts) {
      #expect(Set(conflicts.map { "\($0.objectID) \($0.constraint.joined())" }) == expected)
      #expect(try self.context(coordinator).count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 6)
    }
  }

  @Test("keeps every value, whatever the number of rows", arguments: [1, 49, 50, 51, 100, 149, 1003])
  func values(_ count: Int) throws {
    let directory = try ScratchDirectory()
    let coordinator = try coordinator(.sqlite, directory)
    let context = context(coordinator)
    for row in 0..<count {
      let object = try context.insert(row % 97 == 3 ? "Sub" : "Item")
      try object.setValue(.int(Int64(row * 3)), forKey: "number")
      try object.setValue(row % 5 == 0 ? .null : .string("c\(row)"), forKey: "code")
      try object.setValue(.string(String(repeating: "x", count: row % 100 == 7 ? 70_000 : row % 30)), forKey: "text")
    }
    try context.save()
    var request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor("number")]
    let found = try self.context(coordinator).fetch(request)
    #expect(found.count == count)
    for (row, object) in found.enumerated() {
      #expect(object.entity.name == (row % 97 == 3 ? "Sub" : "Item"))
      #expect(object.value(forKey: "code") == (row % 5 == 0 ? .null : .string("c\(row)")))
      #expect(object.value(forKey: "text")?.plainText.utf8.count == (row % 100 == 7 ? 70_000 : row % 30))
    }
  }

  @Test("leaves the triggers that others have put on the table their own way with conflicts")
  func triggers() throws {
    let directory = try ScratchDirectory()
    let coordinator = try coordinator(.sqlite, directory)
    let database = try DatabaseQueue(path: directory.file("items.sqlite").path)
    try database.write { db in
      try db.execute(
        sql: """
          CREATE TABLE seen (text TEXT PRIMARY KEY);
          CREATE TRIGGER note AFTER INSERT ON "Note" BEGIN INSERT OR IGNORE INTO seen VALUES (new."text"); END;
          """)
    }
    let context = context(coordinator)
    for row in 0..<120 { try context.insert("Note").setValue(.string("t\(row % 7)"), forKey: "text") }
    try context.save()
    #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM seen") } == 7)
    #expect(try self.context(coordinator).count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 120)
  }

  @Test("without objects is announced and merged like one with objects", arguments: StoreKind.allCases)
  func newRows(_ kind: StoreKind) throws {
    let directory = try ScratchDirectory()
    let coordinator = try coordinator(kind, directory)
    let watching = ManagedObjectContext(.confinement, coordinator: coordinator, name: "watching")
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>(
        entityName: "Note", sortDescriptors: [FetchSortDescriptor("text")]), managedObjectContext: watching)
    try controller.performFetch()
    let saves = Recorder<ContextSave>()
    let name = rowsName
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { note in
      if let save = ContextSave(note), save.contextName == name { saves.note(save) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }

    let context = context(coordinator)
    let entity = try #require(coordinator.model.entitiesByName["Note"])
    let rows = NewRows(
      entity, of: coordinator, capacity: 60, textCapacity: 10, initial: entity.initialValues)
    for row in 0..<60 {
      rows.beginRow()
      rows.set(try #require(entity.slot(of: "text")), .string("n\(100 + row)"))
      rows.endRow()
    }
    #expect(try context.insert(rows))
    #expect(context.hasChanges)
    let checkpoint = try context.insert("Item")
    try checkpoint.setValue(.int(1), forKey: "number")
    try context.saveValidated()
    #expect(!context.hasChanges)

    let save = try #require(saves.items.first { !$0.insertedObjectIDs.isEmpty })
    #expect(save.insertedObjectIDs.count == 61 && !save.insertedObjectIDs.contains(where: \.isTemporaryID))
    watching.mergeChanges(fromContextDidSave: save)
    #expect(controller.fetchedObjects?.count == 60)
    #expect(controller.fetchedObjects?.last?.value(forKey: "text") == .string("n159"))
    let found = try self.context(coordinator).fetch(FetchRequest<ManagedObject>(entityName: "Note"))
    let told = save.insertedObjectIDs.filter { $0.entity.name == "Note" }
    #expect(Set(found.map { $0.objectID }) == Set(told))
  }

  @Test("without objects is in the history as one with objects")
  func newRowsInHistory() throws {
    let directory = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: try Self.model.get())
    try coordinator.addPersistentStore(
      .sqlite(at: directory.file("items.sqlite"), options: SQLiteStoreOptions(persistentHistoryTracking: true)))
    let context = context(coordinator)
    let entity = try #require(coordinator.model.entitiesByName["Note"])
    let rows = NewRows(entity, of: coordinator, capacity: 3, textCapacity: 0, initial: entity.initialValues)
    for number in 0..<3 {
      rows.beginRow()
      rows.set(try #require(entity.slot(of: "text")), .string("n\(number)"))
      rows.endRow()
    }
    #expect(try context.insert(rows))
    try context.saveValidated()
    let database = try DatabaseQueue(path: directory.file("items.sqlite").path)
    let changes = "SELECT group_concat(entity || ' ' || kind) FROM lade_history_change"
    #expect(try database.read { try String.fetchOne($0, sql: changes) } == "Note insert,Note insert,Note insert")
    let found = try self.context(coordinator).fetch(FetchRequest<ManagedObject>(entityName: "Note"))
    #expect(Set(found.map { $0.value(forKey: "text")?.plainText }) == ["n0", "n1", "n2"])
  }

  @Test("without objects gets the last numbers that there are", arguments: [false, true])
  func lastNumbers(_ areGivenBefore: Bool) throws {
    let directory = try ScratchDirectory()
    let first = try coordinator(.sqlite, directory)
    let maker = context(first)
    _ = try maker.insert("Note")
    try maker.save()
    let path = directory.file("items.sqlite").path
    try DatabaseQueue(path: path).write { db in
      try db.execute(sql: "UPDATE Note SET id = ?", arguments: [Int64.max - 3])
    }
    let coordinator = try coordinator(.sqlite, directory)
    let context = context(coordinator)
    let entity = try #require(coordinator.model.entitiesByName["Note"])
    let rows = NewRows(entity, of: coordinator, capacity: 3, textCapacity: 0, initial: entity.initialValues)
    for _ in 0..<3 {
      rows.beginRow()
      rows.endRow()
    }
    if areGivenBefore { _ = try context.obtainNumbers(for: rows) }
    #expect(try context.insert(rows))
    try context.saveValidated()
    let numbers = try DatabaseQueue(path: path).read { try Int64.fetchAll($0, sql: "SELECT id FROM Note ORDER BY id") }
    #expect(numbers == (0...3).map { Int64.max - 3 + $0 })
  }

  @Test("without objects isn't made where somebody could miss the objects")
  func refusedRows() throws {
    let directory = try ScratchDirectory()
    let coordinator = try coordinator(.sqlite, directory)
    let entity = try #require(coordinator.model.entitiesByName["Note"])
    func rows() -> NewRows {
      let rows = NewRows(entity, of: coordinator, capacity: 1, textCapacity: 0, initial: entity.initialValues)
      rows.append(entity.initialValues)
      return rows
    }
    let announcing = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try !announcing.insert(rows()))
    let parent = context(coordinator)
    let child = ManagedObjectContext(.confinement, parent: parent)
    child.announcesChanges = false
    #expect(try !child.insert(rows()))
    #expect(try !parent.insert(rows()))
    #expect(!parent.hasChanges && !child.hasChanges && !announcing.hasChanges)
    withExtendedLifetime(child) {}
    let taken = context(coordinator)
    #expect(try taken.insert(rows()))
    taken.removeNewRows()
    #expect(!taken.hasChanges)
    #expect(try taken.insert(rows()))
    taken.reset()
    #expect(!taken.hasChanges)
    #expect(try taken.insert(rows()))
    taken.rollback()
    #expect(!taken.hasChanges)
  }
}
