import Foundation
import Importing
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Jobs

/// What an undo must not take along, and when it must not run.
@Suite("What an undo leaves alone", .timeLimit(.minutes(20)))
struct UndoSafetyTests {
  private static let three = "item_code,middle\nx1,1\nx2,2\nx3,3\n"

  private func undo(_ job: Job, in house: Warehouse, _ more: String = "") async throws -> Job {
    try await house.run("undo", nil, #"{"job": \#(job.id)\#(more)}"#)
  }

  private func force(_ job: Job, in house: Warehouse) async throws -> Job {
    try await undo(job, in: house, #", "force": true"#)
  }

  private func object(_ entity: String, _ key: String, _ value: Value, _ context: ManagedObjectContext) throws
    -> ManagedObject
  {
    try #require(
      try context.fetch(FetchRequest<ManagedObject>(entityName: entity, predicate: .equal(key, value))).first)
  }

  private func item(_ code: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try object("Item", "code", .string(code), context)
  }

  private func lineage(of job: Job, in context: ManagedObjectContext) throws -> ManagedObject {
    try object(ImportModel.jobEntity, "number", .int(job.id), context)
  }

  private func undoneBy(_ job: Job, in house: Warehouse) throws -> Int64? {
    try lineage(of: job, in: house.context()).value(forKey: "undoneBy").flatMap(Int64.init(slotValue:))
  }

  // MARK: References

  @Test("a row that others have set a reference to stays, whatever the reference, unless it is forced")
  func references() async throws {
    let house = try await Warehouse()
    try house.fill(3)
    let labels = try await house.load("name\ngreen\ngrey\n", into: "Label")
    let trilogies = try await house.load("name\nT\nU\n", as: "t.csv", into: "Trilogy")
    let items = try await house.load("item_code\nx1\nx2\n", as: "i.csv", into: "Item")
    try house.change { context in
      let first = try item("i00001", context)
      let green = try object("Label", "name", .string("green"), context)
      try first.setValue(.objects([green.objectID]), forKey: "labels")
      try first.setValue(.object(try item("x1", context).objectID), forKey: "twin")
      let volume = try context.insert("Volume")
      try volume.setValue(.int(1), forKey: "number")
      try volume.setValue(.object(try object("Trilogy", "name", .string("T"), context).objectID), forKey: "trilogy")
    }
    for (job, name) in [(labels, "Label “green”"), (trilogies, "Trilogy “T”"), (items, "Item “x1”")] {
      let result = try await undo(job, in: house)
      #expect(result.progress.deleted == 1 && result.progress.unchanged == 1, "\(result.reason ?? "")")
      #expect(result.note?.contains("\(name) is needed by others (") == true, "\(result.note ?? "")")
    }
    #expect(try house.count("Item", "twin.code == 'x1' AND ANY labels.name == 'green'") == 1)
    #expect(try house.count("Volume", "trilogy.name == 'T'") == 1)
    for job in [labels, trilogies, items] {
      #expect(try await force(job, in: house).progress.deleted == 1)
    }
    #expect(try house.count("Item", "twin == nil AND labels.@count == 0") == 3)
    #expect(try house.count("Volume", "trilogy == nil") == 1)
  }

  @Test("a row whose former reference leads nowhere stays as it is, and one that is there again is listed without it")
  func lostReferences() async throws {
    let house = try await Warehouse()
    try house.change { context in
      for (number, name) in ["T", "U", "V"].enumerated() {
        let trilogy = try context.insert("Trilogy")
        try trilogy.setValue(.string(name), forKey: "name")
        let volume = try context.insert("Volume")
        try volume.setValue(.int(Int64(number)), forKey: "number")
        try volume.setValue(.object(trilogy.objectID), forKey: "trilogy")
      }
    }
    let move = try await house.load("number,trilogy\n0,V\n", into: "Volume")
    let removal = try await house.load("number\n0\n2\n", as: "s.csv", into: "Volume", .synchronise)
    #expect(move.progress.updated == 1 && removal.progress.deleted == 1, "\(move.reason ?? "") \(removal.reason ?? "")")
    try house.change { context in
      for name in ["T", "U"] { context.delete(try object("Trilogy", "name", .string(name), context)) }
    }
    let back = try await undo(removal, in: house)
    #expect(back.progress.inserted == 1 && back.progress.unchanged == 0)
    #expect(back.note?.contains("1 reference(s) couldn't be set again") == true)
    let report = house.folder.file("state/reports/\(back.id).undo.ndjson")
    #expect(try String(contentsOf: report, encoding: .utf8).contains("lacks what is gone (trilogy)"))
    let kept = try await undo(move, in: house)
    #expect(kept.note?.contains("Volume “0” can't be as it was (its trilogy is gone)") == true, "\(kept.note ?? "")")
    #expect(try house.count("Volume", "number == 0 AND trilogy.name == 'V'") == 1)
    #expect(try await force(move, in: house).progress.updated == 1)
    #expect(try house.count("Volume", "number == 0 AND trilogy == nil") == 1)
  }

  @Test("references that the store clears with a deletion are there again after its undo")
  func clearedReferences() async throws {
    let house = try await Warehouse()
    try house.fill(4)
    try house.change { context in
      for (from, to) in [(1, 3), (2, 3), (4, 1)] {
        try item(Warehouse.code(from), context).setValue(
          .object(try item(Warehouse.code(to), context).objectID), forKey: "twin")
      }
    }
    let before = try house.rows("Item")
    let job = try await house.load("item_code\ni00001\ni00002\ni00004\n", into: "Item", .synchronise)
    #expect(job.progress.deleted == 1)
    #expect(try house.count("Item", "twin == nil") == 2)
    let undo = try await undo(job, in: house)
    #expect(undo.progress.inserted == 1 && undo.progress.updated == 2 && undo.note == nil, "\(undo.note ?? "")")
    #expect(try house.rows("Item") == before)
  }

  @Test("a set that would be too large or too small keeps its members, and the rest is taken back")
  func limitedSets() async throws {
    let house = try await Warehouse()
    try house.fill(4)
    try house.change { context in
      for number in [1, 2] { try context.insert("Shelf").setValue(.int(Int64(number)), forKey: "number") }
      try item("i00001", context).setValue(
        .object(try object("Shelf", "number", .int(1), context).objectID), forKey: "shelf")
    }
    let job = try await house.load("item_code,shelf,middle\ni00001,2,1\ni00003,,33\n", into: "Item")
    #expect(job.progress.updated == 2, "\(job.reason ?? "")")
    try house.change { context in
      for code in ["i00002", "i00004"] {
        try item(code, context).setValue(
          .object(try object("Shelf", "number", .int(1), context).objectID), forKey: "shelf")
      }
    }
    let undo = try await undo(job, in: house)
    #expect(undo.state == .completed && undo.progress.updated == 1, "\(undo.reason ?? "") \(undo.note ?? "")")
    #expect(undo.note?.contains("Item “i00001” can't be as it was") == true, "\(undo.note ?? "")")
    #expect(try house.count("Item", "shelf.number == 2 AND code == 'i00001'") == 1)
    #expect(try house.count("Item", "middle == 3 AND code == 'i00003'") == 1)
  }

  @Test("a save that is refused because of a row that it doesn't have is taken back in parts")
  func parts() async throws {
    let model = try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Player", attributes: [AttributeDefinition("name", .string, isOptional: false)],
          uniquenessConstraints: [["name"]]),
        EntityDefinition(
          "Team", attributes: [AttributeDefinition("name", .string)],
          relationships: [
            RelationshipDefinition("players", to: "Player", isToMany: true, isOptional: false, minimumCount: 2)
          ]),
      ]))
    let house = try await Warehouse(model: model)
    let text = "name\n" + (1...9).map { "p\($0)\n" }.joined()
    let job = try await house.load(text, into: "Player")
    try house.change { context in
      let team = try context.insert("Team")
      let players = try ["p4", "p6", "p7"].map { try object("Player", "name", .string($0), context).objectID }
      try team.setValue(.objects(Set(players)), forKey: "players")
    }
    let undo = try await force(job, in: house)
    #expect(undo.state == .completed, "\(undo.reason ?? "")")
    #expect(undo.progress.deleted == 7 && undo.progress.unchanged == 2, "\(undo.note ?? "")")
    #expect(try house.count("Player") == 2 && house.count("Team", "players.@count == 2") == 1)
  }

  // MARK: What was changed since

  @Test("a row that was changed there and back stays, and one whose later change was taken back doesn't")
  func thereAndBack() async throws {
    let house = try await Warehouse()
    try house.fill(3)
    let job = try await house.load("item_code,middle\ni00001,100\ni00002,100\ni00003,100\n", into: "Item")
    _ = try await house.load("item_code,middle\ni00001,5\n", as: "b.csv", into: "Item")
    _ = try await house.load("item_code,middle\ni00001,100\n", as: "c.csv", into: "Item")
    let other = try await house.load("item_code,middle\ni00002,7\n", as: "d.csv", into: "Item")
    let inverse = try await undo(other, in: house)
    #expect(inverse.progress.updated == 1)
    let undo = try await undo(job, in: house)
    #expect(undo.progress.updated == 2 && undo.progress.unchanged == 1, "\(undo.note ?? "")")
    #expect(undo.note?.contains("Item “i00001” was changed since") == true)
    #expect(try house.count("Item", "middle == 100") == 1)
  }

  @Test("a row that others have inserted under the number of a deleted one is of unknown origin")
  func reusedNumber() async throws {
    let house = try await Warehouse()
    let job = try await house.load(Self.three, into: "Item")
    let id = try item("x2", house.context()).objectID
    _ = try await house.load("item_code\nx1\nx3\n", as: "b.csv", into: "Item", .synchronise)
    try house.vandalise(
      "INSERT INTO item (id, entity, code, middle) SELECT \(id.number), entity, 'x2', 2 FROM item LIMIT 1")
    #expect(try RowHistory.steps(of: id, in: house.context()).isEmpty)
    let undo = try await undo(job, in: house)
    #expect(
      undo.progress.deleted == 2 && undo.note?.contains("Item “x2” was changed since") == true, "\(undo.note ?? "")")
  }

  // MARK: When it may run

  @Test("a job isn't undone before it has ended, and can't go on while it is being undone")
  func running() async throws {
    let house = try await Warehouse()
    let job = try await house.load("item_code,middle\nx1,1\nx2,2\nx3,bad\n", into: "Item") {
      ($0.batchSize, $0.rejectLimit) = (1, 0)
    }
    #expect(job.state == .discarded)
    // As long as the job's notes are there, it hasn't been given up.
    let early = try await house.submit("undo", nil, #"{"job": \#(job.id)}"#)
    let waiting = try await house.queue.job(early.id) { $0.state == .retryable || $0.state.isEnded }
    #expect(waiting.state == .retryable && waiting.failureCode == "not_ended", "\(waiting.reason ?? "")")
    #expect(try house.count("Item") == 2)
    try JobCheckpoint.forget(job.id, claim: job.claim, queue: "queue", in: house.data)
    house.clock.advance(by: 3600)
    #expect(try await house.queue.whenEnded(early.id).progress.deleted == 2)
    #expect(try undoneBy(job, in: house) == early.id)

    // Another undo has begun.
    try house.change { context in
      try object(ImportModel.jobEntity, "number", .int(job.id), context).setValue(.int(-99), forKey: "undoneBy")
      try ImportCheckpoint().write(to: ImportCheckpoint.object("queue/99", in: context))
    }
    try Data(Self.three.utf8).write(to: house.active.appendingPathComponent("a.csv"))
    _ = try await house.queue.retry(job.id, by: "anna")
    let blocked = try await house.queue.job(job.id) { $0.state == .retryable || $0.state.isEnded }
    #expect(blocked.state == .retryable && blocked.failureCode == "undo_under_way", "\(blocked.reason ?? "")")
    #expect(try house.count("Item") == 0)
    try house.change { context in
      context.delete(try object(ImportModel.checkpointEntity, "job", .string("queue/99"), context))
    }
    house.clock.advance(by: 3600)
    #expect(try await house.queue.whenEnded(job.id).progress.inserted == 3)
    // What it has done since isn't undone.
    #expect(try undoneBy(job, in: house) == 0)
    #expect(try await undo(job, in: house).progress.deleted == 3)
  }

  @Test("an undo that took nothing back doesn't count as one, and of two the one that stands counts")
  func standing() async throws {
    let house = try await Warehouse()
    let job = try await house.load("item_code,middle\nx1,1\n", into: "Item")
    try house.vandalise("UPDATE item SET middle = 77")
    let idle = try await undo(job, in: house)
    #expect(idle.progress.unchanged == 1 && idle.progress.deleted == 0)
    #expect(try undoneBy(job, in: house) == 0)
    try house.vandalise("UPDATE item SET middle = 1")
    #expect(try await undo(job, in: house).progress.deleted == 1)

    let two = try await house.load("item_code,middle\ny1,1\ny2,2\n", as: "b.csv", into: "Item")
    try house.vandalise("UPDATE item SET middle = 77 WHERE code = 'y1'")
    let partial = try await undo(two, in: house)
    let forced = try await force(two, in: house)
    #expect(partial.progress.deleted == 1 && forced.progress.deleted == 1)
    #expect(try await undo(partial, in: house).progress.inserted == 1)
    #expect(try undoneBy(two, in: house) == forced.id)
    #expect(try await undo(two, in: house).failureCode == "already_undone")
  }

  @Test("after an undo and its undo, a known file is known again")
  func knownFileAgain() async throws {
    let house = try await Warehouse()
    func load() async throws -> Job {
      try await house.load("item_code\nx\n", into: "Item") { $0.skipsKnownFiles = true }
    }
    let job = try await load()
    let undo = try await undo(job, in: house)
    let redo = try await self.undo(undo, in: house)
    #expect(redo.progress.inserted == 1)
    let skipped = try await load()
    #expect(skipped.progress.records == 0 && skipped.note?.contains("the same file was imported") == true)
    #expect(try await self.undo(redo, in: house).progress.deleted == 1)
    #expect(try await load().progress.inserted == 1)
  }

  @Test("rows that are as they were since an undo that was given up aren't listed by the next")
  func restoredBefore() async throws {
    let house = try await Warehouse()
    try house.fill(3)
    let job = try await house.load("item_code,middle\ni00001,77\ni00002,78\n", into: "Item") { $0.mode = .synchronise }
    #expect(job.progress.updated == 2 && job.progress.deleted == 1, "\(job.reason ?? "")")
    let first = try await undo(job, in: house)
    #expect(first.progress.updated == 2 && first.progress.inserted == 1, "\(first.note ?? "")")
    try house.change { context in
      try lineage(of: job, in: context).setValue(.int(-first.id), forKey: "undoneBy")
      try item("i00002", context).setValue(.int(5), forKey: "middle")
    }
    let next = try await undo(job, in: house)
    #expect(next.progress.unchanged == 1 && next.note?.contains("i00002") == true, "\(next.note ?? "")")
    #expect(try house.count("Item", "middle == 77 OR middle == 78") == 0)
    #expect(try house.count("Item") == 3)
  }

  @Test("an undo that was given up when all rows were taken back is completed by the next")
  func givenUp() async throws {
    let house = try await Warehouse()
    func load() async throws -> Job {
      try await house.load("item_code\nx\n", into: "Item") { $0.skipsKnownFiles = true }
    }
    let job = try await load()
    let undo = try await undo(job, in: house)
    // As it was before the undo noted its end.
    try house.change { context in
      try lineage(of: job, in: context).setValue(.int(-undo.id), forKey: "undoneBy")
      try object(ImportModel.importedEntity, "target", .string("undone Item"), context).setValue(
        .string("Item"), forKey: "target")
    }
    #expect(try await load().progress.records == 0)
    let next = try await self.undo(job, in: house)
    #expect(next.state == .completed && next.progress.deleted == 0, "\(next.reason ?? "")")
    #expect(try undoneBy(job, in: house) == next.id)
    #expect(try await load().progress.inserted == 1)
  }

  // MARK: What is kept

  @Test("what a mask replaces isn't kept, and the row stays masked")
  func masks() async throws {
    let house = try await Warehouse()
    _ = try await house.load("item_code,text\na,secret-a\nb,\n", into: "Item")
    let job = try await house.load("item_code,text,middle\na,secret-a,1\nb,secret-b,2\n", as: "b.csv", into: "Item") {
      var rule = PropertyRule()
      rule.mask = ValueMask("redact")
      $0.mapping.properties["text"] = rule
    }
    #expect(job.progress.updated == 2, "\(job.reason ?? "")")
    for image in try house.context().fetch(FetchRequest<ManagedObject>(entityName: ImportModel.beforeEntity)) {
      guard case .data(let data)? = image.value(forKey: "images") else { continue }
      #expect(data.range(of: Data("secret".utf8)) == nil)
    }
    let undo = try await undo(job, in: house)
    #expect(undo.progress.updated == 1 && undo.progress.unchanged == 1)
    #expect(undo.note?.contains("(its text was replaced by a mask)") == true, "\(undo.note ?? "")")
    #expect(try house.count("Item", "code == 'a' AND text == '****'") == 1)
    #expect(try house.count("Item", "code == 'b' AND text == nil AND middle == nil") == 1)
  }

  @Test("a dry run writes the report of all rows, too")
  func dryReport() async throws {
    let house = try await Warehouse()
    let job = try await house.load("item_code,middle\n" + (1...30).map { "x\($0),1\n" }.joined(), into: "Item")
    try house.vandalise("UPDATE item SET middle = 2")
    let dry = try await undo(job, in: house, #", "dry_run": true"#)
    let report = house.folder.file("state/reports/\(dry.id).undo.ndjson")
    #expect(try String(contentsOf: report, encoding: .utf8).split(separator: "\n").count == 30)
    #expect(dry.note?.contains(report.path) == true)
  }

  @Test("a report that is read again after an interruption has each row once")
  func report() throws {
    let folder = try ScratchDirectory()
    let model = try WarehouseModel.model.get()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.inMemory())
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "test")
    let kept = try (0..<5).map { number in
      let object = try context.insert("Item")
      try object.setValue(.string("i\(number)"), forKey: "code")
      return object
    }
    try context.save()
    func rows(_ range: Range<Int>) -> [JobReversal.Kept] { kept[range].map { JobReversal.Kept($0, .changed) } }
    var length: Int64 = 0
    let first = try UndoReport(of: 1, in: folder.url, length: 0)
    #expect(try first.write(rows(0..<3), after: &length) == 3)
    var lost = length
    #expect(try first.write(rows(2..<4), after: &lost) == 1)
    // The save that would have counted them has failed.
    #expect(try first.write(rows(2..<5), after: &length) == 2)
    let second = try UndoReport(of: 1, in: folder.url, length: length)
    #expect(try second.write(rows(0..<5), after: &length) == 0)
    #expect(try second.first().count == 5)
  }
}
