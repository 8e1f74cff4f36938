import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("A store whose log is copied while it is loaded")
struct LoadedStoreTests {
  private let directory: ScratchDirectory
  private var file: URL { directory.file("company.sqlite") }

  init() throws { directory = try ScratchDirectory() }

  /// Pages and a log so small that every few saves begin another round.
  private func coordinator() throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(
      .sqlite(at: file, options: SQLiteStoreOptions(pageSize: 4096, checkpointSize: 16 * 4096)))
    return coordinator
  }

  private func save(_ names: [String], to coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for name in names { try context.person(name + " of the house of many") }
    try context.save()
  }

  /// What another program finds: nothing broken, and the first word of each person's name.
  private func found() throws -> [String] {
    let queue = try DatabaseQueue(path: file.path)
    return try queue.read { db in
      #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
      return try String.fetchAll(db, sql: "SELECT substr(name, 1, instr(name, ' ') - 1) FROM Person ORDER BY 1")
    }
  }

  @Test("closed at any moment, has every save, and no log beside it")
  func closed() throws {
    var expected: [String] = []
    for round in 10..<30 {
      let coordinator = try coordinator()
      for place in 10..<10 + round {
        let names = (10..<40).map { "\(round).\(place).\($0)" }
        try save(names, to: coordinator)
        expected += names
      }
      try coordinator.close()
      #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    }
    #expect(try found() == expected)
  }

  @Test("opened twice, and loaded both ways and read at the same time, has every row once")
  func twice() async throws {
    let coordinators = [try coordinator(), try coordinator()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, coordinator) in coordinators.enumerated() {
        group.addTask {
          for place in 100..<300 { try save((10..<20).map { "\(number).\(place).\($0)" }, to: coordinator) }
        }
        group.addTask {
          var last = 0
          for _ in 0..<100 {
            let context = ManagedObjectContext(.confinement, coordinator: coordinator)
            let count = try context.count(for: FetchRequest<Person>(entityName: "Person"))
            #expect(count >= last && count.isMultiple(of: 10))
            last = count
          }
        }
      }
      try await group.waitForAll()
    }
    for coordinator in coordinators { try coordinator.close() }
    let expected = (0..<2).flatMap { number in
      (100..<300).flatMap { place in (10..<20).map { "\(number).\(place).\($0)" } }
    }
    #expect(try found() == expected)
  }
}
