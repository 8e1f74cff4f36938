import Foundation
import GRDB
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Checking the object graph", .timeLimit(.minutes(20)))
struct ObjectGraphCheckTests {
  /// Items 1 to 6 with permits 1 to 6 of one maker; items 1 to 2 with a label, and on a shelf.
  private func warehouse() async throws -> Warehouse {
    let house = try await Warehouse()
    try house.change { context in
      let maker = try context.insert("Maker")
      try maker.setValue(.string("m"), forKey: "name")
      let label = try context.insert("Label")
      try label.setValue(.string("red"), forKey: "name")
      let shelf = try context.insert("Shelf")
      try shelf.setValue(.int(1), forKey: "number")
      for number in 1...6 {
        let item = try context.insert("Item")
        try item.setValue(.string(Warehouse.code(number)), forKey: "code")
        try item.setValue(.int(Int64(number)), forKey: "middle")
        let permit = try context.insert("Permit")
        try permit.setValue(.int(Int64(number)), forKey: "number")
        try permit.setValue(.object(maker.objectID), forKey: "owner")
        try permit.setValue(.object(item.objectID), forKey: "item")
        if number < 3 {
          try item.setValue(.objects([label.objectID]), forKey: "labels")
          try item.setValue(.object(shelf.objectID), forKey: "shelf")
          try item.setValue(.object(maker.objectID), forKey: "maker")
        }
      }
    }
    return house
  }

  /// What a check finds, as `entity number.property kind: message` without IDs; repaired problems with a `+` in front.
  private func check(_ house: Warehouse, repairs: Bool = false, reportsReferences: Bool = true) throws -> [String] {
    var found: [StoreProblem] = []
    let check = ObjectGraphCheck(
      house.data, repairs: repairs, reportsReferences: reportsReferences, batchSize: 4, author: "test")
    let isWhole = try check.run(.init(shouldStop: { false }, report: { _, _ in }, found: { found.append($0) }))
    #expect(isWhole)
    return found.map { problem in
      let message = problem.message.replacing(/x-coredata:\/\/[^\/]*\//, with: "")
      return "\(problem.isRepaired == true ? "+" : "")\(problem.entity ?? "") \(problem.number ?? 0)."
        + "\(problem.property ?? "") \(problem.kind.rawValue): \(message)"
    }
  }

  @Test("a sound store has nothing wrong, and nothing is written")
  func sound() async throws {
    let house = try await warehouse()
    let writes = house.faults.writes
    #expect(try check(house).isEmpty && check(house, repairs: true).isEmpty)
    #expect(house.faults.writes == writes)
  }

  @Test("values that the model doesn't allow are reported with the object and what to do, and left")
  func validation() async throws {
    let house = try await warehouse()
    try house.vandalise(
      "UPDATE Item SET small = 2000 WHERE code = 'i00005'", "UPDATE Item SET shelf_id = 1 WHERE code = 'i00003'")
    for repairs in [false, true] {
      #expect(
        try check(house, repairs: repairs) == [
          "Item 5.small validation: Item.small is more than 1000 (Item/p5): give it a value that fits, by an update or an "
            + "import, or delete it",
          "Shelf 1.items validation: Shelf.items has more than 2 objects (Shelf/p1): give it a value that fits, by an "
            + "update or an import, or delete it",
        ])
    }
  }

  @Test("a reference to a missing object is set to null if it may be, and reported otherwise")
  func dangling() async throws {
    let house = try await warehouse()
    try house.vandalise(
      "UPDATE Item SET maker_id = 77 WHERE code = 'i00002'", "UPDATE Permit SET owner_id = 78 WHERE number = 3")
    let optional = "Item 2.maker reference: (Item/p2) leads to Maker/p77, which isn't there: "
    let required =
      "Permit 3.owner reference: (Permit/p3) leads to Maker/p78, which isn't there: it must have one: import "
      + "what is missing, or delete the object"
    #expect(try check(house) == [optional + "repair: true repairs it", required])
    #expect(try check(house, reportsReferences: false).isEmpty)
    #expect(try check(house, repairs: true) == ["+" + optional + "emptied", required])
    #expect(try check(house, repairs: true) == [required])
    #expect(try house.count("Item", "maker == nil") == 5)
  }

  @Test("of two objects that are each other's only one, the end that is missing is set; a second claim is emptied")
  func inverses() async throws {
    let house = try await warehouse()
    try house.vandalise(
      "UPDATE Item SET permit_id = NULL WHERE code = 'i00001'", "UPDATE Item SET permit_id = 3 WHERE code = 'i00002'")
    let first = "Permit 1.item inverse: (Permit/p1) leads to Item/p1, whose permit is empty: "
    let second = "Item 2.permit inverse: (Item/p2) leads to Permit/p3, whose item is Item/p3: "
    // The same, seen from the other end.
    let third = "Permit 2.item inverse: (Permit/p2) leads to Item/p2, whose permit is Permit/p3: "
    #expect(
      Set(try check(house)) == [
        first + "repair: true repairs it", second + "repair: true repairs it", third + "decide which it is, and set it",
      ])
    #expect(
      Set(try check(house, repairs: true)).isSuperset(of: ["+" + first + "set there, too", "+" + second + "emptied"]))
    // What is left after one repair, the next repairs.
    _ = try check(house, repairs: true)
    #expect(try check(house).isEmpty)
    #expect(try house.count("Item", "permit.number == middle") == 6)
  }

  @Test("pairs of which one object isn't there are removed")
  func pairs() async throws {
    let house = try await Warehouse()
    let store = try #require(house.data.persistentStores.first?.content as? FaultyDataStore)
    #expect(!(store is any PairMaintenance))
    // A coordinator of its own sees the store as it is.
    let plain = PersistentStoreCoordinator(model: try WarehouseModel.model.get())
    try house.fill(2)
    try plain.addPersistentStore(.sqlite(at: house.folder.file("data.sqlite")))
    try house.vandalise("INSERT INTO Item_labels (Item_id, Label_id) VALUES (1, 55), (66, 77)")
    for (repairs, words) in [(false, "repair: true removes them"), (true, "removed")] {
      var found: [StoreProblem] = []
      _ = try ObjectGraphCheck(plain, repairs: repairs, author: "test").run(
        .init(shouldStop: { false }, report: { _, _ in }, found: { found.append($0) }))
      #expect(found.map(\.description) == ["Item.labels: 2 pairs of which one object isn't there: \(words)"])
      #expect(found.first?.isRepaired == (repairs ? true : nil))
    }
    _ = try ObjectGraphCheck(plain, repairs: false, author: "test").run(
      .init(shouldStop: { false }, report: { _, _ in }, found: { Issue.record("\($0)") }))
    try plain.close()
  }

  @Test("values that several objects have and only one may are reported with the objects")
  func uniqueness() async throws {
    let house = try await warehouse()
    let indexes = try house.uniqueIndexes(of: "Maker")
    for index in indexes { try house.vandalise("DROP INDEX \"\(index)\"") }
    #expect(indexes.count == 1)
    try house.vandalise("INSERT INTO Maker (id, name) VALUES (8, 'm'), (9, 'n')")
    #expect(
      try check(house, repairs: true) == [
        "Maker 1.name uniqueness: 2 objects have “m” (Maker/p1, Maker/p8): delete all but one, or give the others values "
          + "of their own"
      ])
  }

  @Test("it stops at a batch when it is asked to, and reports how far it is")
  func stops() async throws {
    let house = try await warehouse()
    var reports: [(Int64, Int64)] = []
    let check = ObjectGraphCheck(house.data, repairs: false, batchSize: 4, author: "test")
    let isWhole = try check.run(
      .init(shouldStop: { reports.count > 1 }, report: { reports.append(($0, $1)) }, found: { _ in }))
    #expect(!isWhole)
    #expect(reports.map(\.0) == [0, 4] && reports.allSatisfy { $0.1 == 15 })
  }

  @Test("what is changed while it looks isn't taken for a mistake")
  func beside() async throws {
    let house = try await warehouse()
    house.faults.afterSnapshot { [unowned house] in
      try house.change { context in
        for maker in try context.fetch(
          FetchRequest<ManagedObject>(entityName: "Item", predicate: .equal("middle", .int(2))))
        {
          context.delete(maker)
        }
      }
    }
    #expect(try check(house, repairs: true).isEmpty)
    #expect(try house.count("Item") == 5)
  }

  @Test("a job of kind check repairs what is safe if it is asked to, and is completed if nothing else is wrong")
  func job() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 20)
    try await DatabaseQueue(path: house.file.path).writeWithoutTransaction { db in
      try db.execute(
        sql: "PRAGMA foreign_keys = OFF; INSERT INTO Pet (id, name, owner_id) VALUES (7, 'Rex', 4711), (8, 'Ina', 4712)"
      )
    }
    #expect(try await queue.run(.upkeep("check")).failureCode == "damaged")
    let repaired = try await queue.run(.upkeep("check", #"{"repair": true}"#))
    #expect(repaired.state == .completed, "\(repaired.reason ?? "")")
    #expect(repaired.note?.hasPrefix("2 problems were found and put right") == true, "\(repaired.note ?? "")")
    #expect(try await queue.run(.upkeep("check", #"{"repair": "true"}"#)).note == "nothing is wrong")
    await queue.drain(timeout: .seconds(10))
  }
}
