import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// SQLite doesn't look up targets again that the store has found in an earlier save: see `KnownTargets`.
@Suite("References of rows without objects to a row that the store remembers")
struct KnownTargetTests {
  private static let model = Result {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        "Team", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("members", to: "Member", inverse: "team", isToMany: true)]),
      EntityDefinition(
        "Member", attributes: [AttributeDefinition("number", .integer64)],
        relationships: [RelationshipDefinition("team", to: "Team", inverse: "members")],
        uniquenessConstraints: [["number"]]),
    ])
  }

  /// Who deletes the row.
  enum Deletion: CaseIterable {
    case anotherProgram, anotherContext, batchRequest, transactionOfSaves
  }

  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator
  private let member: EntityDescription
  /// A team with members 1 and 2, which two saves have referred to.
  private let reds: ManagedObjectID

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: try Self.model.get())
    try coordinator.addPersistentStore(.sqlite(at: directory.file("teams.sqlite")))
    member = try #require(coordinator.model.entitiesByName["Member"])
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let team = try context.insert("Team")
    try context.save()
    reds = team.objectID
    for number in [1, 2] as [Int64] { try add([number], to: reds) }
  }

  private func context() -> ManagedObjectContext {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "rows \(UUID())")
    context.announcesChanges = false
    return context
  }

  /// Saves members without objects.
  private func add(_ numbers: [Int64], to team: ManagedObjectID, in context: ManagedObjectContext? = nil) throws {
    let context = context ?? self.context()
    let slots = try (number: #require(member.slot(of: "number")), team: #require(member.slot(of: "team")))
    let rows = NewRows(member, of: coordinator, capacity: 8, textCapacity: 0, initial: member.initialValues)
    for number in numbers {
      rows.beginRow()
      rows.set(slots.number, .int(number))
      rows.setReference(slots.team)
      rows.endRow()
    }
    for row in numbers.indices { rows.point(row, slots.team, to: team) }
    #expect(try context.insert(rows))
    try context.saveValidated()
  }

  private func isBroken(_ error: any Error) -> Bool {
    if case ManagedObjectError.brokenReferences = error { true } else { false }
  }

  /// The numbers of the members in the file, in which no reference leads nowhere.
  private func numbers() throws -> [Int64] {
    try DatabaseQueue(path: directory.file("teams.sqlite").path).read { db in
      #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
      return try Int64.fetchAll(db, sql: "SELECT number FROM Member ORDER BY number")
    }
  }

  private func delete(_ way: Deletion) throws {
    switch way {
    case .anotherProgram:
      try DatabaseQueue(path: directory.file("teams.sqlite").path).write { db in
        try db.execute(sql: "UPDATE Member SET team_id = NULL; DELETE FROM Team")
      }
    case .anotherContext:
      let context = context()
      context.delete(context.object(with: reds))
      try context.save()
    case .batchRequest:
      _ = try context().execute(BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Team")))
    case .transactionOfSaves:
      let store = try #require(coordinator.persistentStores.first)
      let context = context()
      try coordinator.inOneTransaction(of: store) {
        context.delete(context.object(with: reds))
        try context.save()
        return ((), .commit)
      }
    }
  }

  @Test("are refused once it has been deleted, whoever did that", arguments: Deletion.allCases)
  func deleted(_ way: Deletion) throws {
    try delete(way)
    #expect { try add([3], to: reds) } throws: { isBroken($0) }
    #expect(try numbers() == [1, 2])
  }

  @Test("are refused when the save was rolled back that inserted it")
  func rolledBack() throws {
    let context = context()
    let blues = try context.insert("Team")
    try context.obtainPermanentIDs(for: [blues])
    let id = blues.objectID
    #expect(throws: ManagedObjectError.self) { try add([3, 1], to: id, in: context) }
    #expect { try add([4], to: id) } throws: { isBroken($0) }
    #expect(try numbers() == [1, 2])
  }

  @Test("don't keep other constraints from being checked, nor SQLite from checking references after a failure")
  func conflicts() throws {
    #expect {
      try add([3, 1], to: reds)
    } throws: { error in
      if case ManagedObjectError.constraintConflicts(let conflicts) = error { conflicts.count == 1 } else { false }
    }
    let missing = try coordinator.managedObjectID(entity: "Team", number: 99)
    #expect { try add([4], to: missing) } throws: { isBroken($0) }
    // With an object in the way, which SQLite checks itself.
    let context = context()
    let object = try context.insert("Member")
    try object.setValue(.object(missing), forKey: "team")
    #expect(throws: (any Error).self) { try context.save() }
    try add([5], to: reds)
    #expect(try numbers() == [1, 2, 5])
  }

  @Test("are refused when SQLite refuses them at the end of a transaction of several saves")
  func transaction() throws {
    let store = try #require(coordinator.persistentStores.first)
    #expect(throws: (any Error).self) {
      try coordinator.inOneTransaction(of: store) {
        let context = context()
        context.delete(context.object(with: reds))
        try context.save()
        try add([3], to: reds)
        return ((), .commit)
      }
    }
    // The deletion was rolled back with the rest.
    try add([4], to: reds)
    #expect(try numbers() == [1, 2, 4])
  }
}
