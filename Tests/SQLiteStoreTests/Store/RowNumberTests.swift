import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Row numbers are never given twice")
struct RowNumberTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  private func context() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.sqlite(at: directory.file("company.sqlite")))
    return ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  @Test("not after the highest row was deleted, nor after reopening")
  func reopening() throws {
    var given: [ManagedObjectID] = []
    for _ in 1...3 {
      let context = try context()
      for _ in 1...2 {
        let ada = try context.person("Ada")
        try context.save()
        given.append(ada.objectID)
        context.delete(ada)
        try context.save()
      }
    }
    #expect(Set(given).count == 6)
    #expect(given.map(\.number) == [1, 2, 3, 4, 5, 6])
  }

  @Test("not when an ID was obtained and its object never saved")
  func obtained() throws {
    let first = try context()
    let lost = try first.person("Lost")
    try first.obtainPermanentIDs(for: [lost])
    let second = try context()
    let ada = try second.person("Ada")
    try second.save()
    #expect(ada.objectID.number > lost.objectID.number)
  }

  @Test("and after the greatest number there is none, which is an error")
  func greatest() throws {
    let first = try context()
    try first.person("Ada")
    try first.save()
    try DatabaseQueue(path: directory.file("company.sqlite").path).write { db in
      try db.execute(sql: "UPDATE Person SET id = ?", arguments: [Int64.max])
    }
    let second = try context()
    let person = try second.person("Ben")
    try second.city(1, "Start Point")
    let attempts: [() throws -> Void] = [{ try second.save() }, { try second.obtainPermanentIDs(for: [person]) }]
    for attempt in attempts {
      do {
        try attempt()
        Issue.record("a number was given")
      } catch ManagedObjectError.store(let failure) {
        #expect(failure.kind == .outOfRange && failure.message.contains("9223372036854775807"), "\(failure)")
      }
    }
    second.delete(person)
    try second.save()
    #expect(try context().all(City.self).count == 1)
  }

  @Test("not by two coordinators on one file")
  func twoCoordinators() throws {
    let contexts = [try context(), try context()]
    var given: [ManagedObjectID] = []
    for round in 0..<10 {
      let person = try contexts[round % 2].person("Person")
      try contexts[round % 2].save()
      given.append(person.objectID)
    }
    #expect(Set(given).count == 10)
    #expect(try context().all(Person.self).count == 10)
  }
}
