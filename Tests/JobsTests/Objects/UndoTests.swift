import Foundation
import Importing
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Undoing jobs", .timeLimit(.minutes(20)))
struct UndoTests {
  private static let entities = ["Item", "Book", "Maker", "Label", "Shelf", "Permit", "Trilogy", "Volume"]

  /// Every row of every entity with its number, its values and what it refers to.
  private func everything(_ house: Warehouse) throws -> [String] {
    let context = house.context()
    return try Self.entities.flatMap { entity in
      try context.fetch(FetchRequest<ManagedObject>(entityName: entity, includesSubentities: false)).map { object in
        let values = object.entity.properties.map { property -> String in
          guard let relationship = property as? RelationshipDescription, relationship.isToMany else {
            return object.value(at: property.slot).plainText
          }
          let ids = object.resolved(relationship).relatedIDs.map { String($0.number) }
          return (relationship.isOrdered ? ids : ids.sorted()).joined(separator: "+")
        }
        return "\(entity) \(object.objectID.number): \(values.joined(separator: "|"))"
      }
    }.sorted()
  }

  private func undo(_ job: Job, in house: Warehouse, _ more: String = "") async throws -> Job {
    try await house.run("undo", nil, #"{"job": \#(job.id)\#(more)}"#)
  }

  /// A store with something of everything.
  private func furnished(keepsBefore: Bool = true) async throws -> Warehouse {
    let house = try await Warehouse(keepsBefore: keepsBefore)
    try house.change { context in
      var makers: [ManagedObject] = []
      for name in ["Acme", "Bolt"] {
        let maker = try context.insert("Maker")
        try maker.setValue(.string(name), forKey: "name")
        makers.append(maker)
      }
      var labels: [ManagedObject] = []
      for name in ["red", "blue"] {
        let label = try context.insert("Label")
        try label.setValue(.string(name), forKey: "name")
        labels.append(label)
      }
      for number in 1...6 {
        let item = try context.insert(number == 6 ? "Book" : "Item")
        try item.setValue(.string("i\(number)"), forKey: "code")
        try item.setValue(.int(Int64(number)), forKey: "middle")
        try item.setValue(.double(Double(number) / 7), forKey: "ratio")
        try item.setValue(.decimal(Decimal(number) / 8), forKey: "price")
        try item.setValue(.data(Data([UInt8(number), 0])), forKey: "blob")
        try item.setValue(.date(Date(timeIntervalSince1970: Double(number) + 0.5)), forKey: "moment")
        try item.setValue(.object(makers[number % 2].objectID), forKey: "maker")
        try item.setValue(.objects(Set(labels.prefix(number % 3).map(\.objectID))), forKey: "labels")
      }
    }
    return house
  }

  @Test("what an import inserted is deleted, what it changed has its former values, in every mode")
  func modes() async throws {
    let text = "item_code,middle,text,made_by,labels\ni1,100,new,Bolt,blue\nx1,7,seven,Acme,red|blue\ni6,66,book,,\n"
    for mode in [ImportMode.upsert, .insert, .synchronise, .replace, .update] {
      let house = try await furnished()
      let before = try everything(house)
      let job = try await house.load(text, into: "Item", mode) { $0.batchSize = 1 }
      #expect(job.state == .completed, "\(mode): \(job.reason ?? "")")
      let after = try everything(house)
      #expect(after != before)
      let undo = try await undo(job, in: house)
      #expect(undo.state == .completed && undo.note == nil, "\(mode): \(undo.reason ?? "") \(undo.note ?? "")")
      #expect(try everything(house) == before, "\(mode)")
      #expect(undo.progress.deleted == job.progress.inserted, "\(mode)")
      #expect(undo.progress.inserted == job.progress.deleted, "\(mode)")
      // An undo is a job like any other.
      let redo = try await self.undo(undo, in: house)
      #expect(redo.state == .completed && redo.note == nil, "\(mode): \(redo.reason ?? "") \(redo.note ?? "")")
      #expect(try everything(house) == after, "\(mode)")
      let third = try await self.undo(job, in: house)
      #expect(third.state == .completed, "a job whose undo was undone can be undone again: \(third.reason ?? "")")
      #expect(try everything(house) == before, "\(mode)")
    }
  }

  @Test("a job is undone once")
  func once() async throws {
    let house = try await furnished()
    let job = try await house.load("item_code\nx\n", into: "Item")
    let undo = try await undo(job, in: house)
    let again = try await self.undo(job, in: house)
    #expect(again.state == .discarded && again.failureCode == "already_undone")
    #expect(again.reason?.contains("taken back by job \(undo.id)") == true)
    let forced = try await self.undo(job, in: house, #", "force": true"#)
    #expect(forced.state == .completed && forced.note == "there was nothing left to take back")
  }

  @Test("what was deleted is there again, with its number, its relationships and their order")
  func deletions() async throws {
    let house = try await furnished()
    let books = """
      {"name":"T","volumes":[{"number":3},{"number":1},{"number":2}]}
      {"name":"U","volumes":[{"number":9}]}

      """
    _ = try await house.load(books, as: "t.ndjson", into: "Trilogy")
    let before = try everything(house)
    // Makers take their items along; labels and the order of volumes are lost.
    let makers = try await house.load("name\nCorp\n", into: "Maker", .synchronise)
    #expect(makers.progress.deleted == 2, "\(makers.reason ?? "")")
    let trilogies = try await house.load("name\nU\n", into: "Trilogy", .synchronise)
    let volumes = try await house.load("number\n9\n", into: "Volume", .synchronise)
    let labels = try await house.load("name\nred\n", into: "Label", .synchronise)
    #expect(trilogies.progress.deleted == 1 && volumes.progress.deleted == 3 && labels.progress.deleted == 1)
    for job in [labels, volumes, trilogies, makers] {
      let undo = try await undo(job, in: house)
      #expect(undo.state == .completed && undo.note == nil, "\(undo.reason ?? "") \(undo.note ?? "")")
    }
    let after = try everything(house)
    let (lost, gained) = (Set(before).subtracting(after).sorted(), Set(after).subtracting(before).sorted())
    #expect(lost == [] && gained == [], "\(lost) \(gained)")
  }

  @Test("what was changed since stays and is listed, and is taken back by force")
  func changedSince() async throws {
    let text = "item_code,middle\ni1,100\ni2,100\ni3,100\nx1,1\nx2,2\nx3,3\n"
    let house = try await furnished()
    let before = try everything(house)
    let job = try await house.load(text, into: "Item")
    // By another import, by an update job, and by another program.
    _ = try await house.load("item_code,text\ni1,later\nx1,later\n", as: "b.csv", into: "Item")
    let update = try await house.run("update", "Item", #"{"where": "code == 'i2'", "set": {"flag": true}}"#)
    #expect(update.progress.updated == 1)
    try house.vandalise("UPDATE item SET middle = 77 WHERE code = 'x2'")
    let dry = try await self.undo(job, in: house, #", "dry_run": true"#)
    let undo = try await undo(job, in: house)
    for (result, isDry) in [(dry, true), (undo, false)] {
      #expect(result.progress.deleted == 1 && result.progress.updated == 1 && result.progress.unchanged == 4)
      let note = try #require(result.note)
      #expect(note.hasPrefix(isDry ? "dry run: nothing was changed; 4 rows stay" : "4 rows stay as they are: "))
      for code in ["i1", "i2", "x1", "x2"] { #expect(note.contains("Item “\(code)” was changed since"), "\(note)") }
    }
    #expect(try house.count("Item", "code IN {'i1', 'i2', 'i3', 'x1', 'x2', 'x3'}") == 5)
    #expect(try house.count("Item", "code == 'i3' AND middle == 3") == 1)
    let report = house.folder.file("state/reports/\(undo.id).undo.ndjson")
    #expect(try String(contentsOf: report, encoding: .utf8).split(separator: "\n").count == 4)
    // The forced one has the job's own changes to take back, whatever has become of them.
    let forced = try await self.undo(job, in: house, #", "force": true"#)
    #expect(forced.state == .completed, "\(forced.reason ?? "")")
    #expect(try house.count("Item", "code BEGINSWITH 'x'") == 0)
    #expect(try everything(house).map { $0.replacing("|later|", with: "||").replacing("|true|", with: "||") } == before)
  }

  @Test("what others need stays, and so does what would take others along")
  func needed() async throws {
    let house = try await furnished()
    let shelves = try await house.load("number\n1\n2\n", into: "Shelf")
    let makers = try await house.load("name\nNewOne\nNewTwo\nNewThree\n", as: "m.csv", into: "Maker")
    try house.change { context in
      func object(_ entity: String, _ key: String, _ value: Value) throws -> ManagedObject {
        try #require(
          try context.fetch(FetchRequest<ManagedObject>(entityName: entity, predicate: .equal(key, value))).first)
      }
      let item = try context.insert("Item")
      try item.setValue(.string("later"), forKey: "code")
      try item.setValue(.object(try object("Shelf", "number", .int(1)).objectID), forKey: "shelf")
      try item.setValue(.object(try object("Maker", "name", .string("NewOne")).objectID), forKey: "maker")
      let permit = try context.insert("Permit")
      try permit.setValue(.int(1), forKey: "number")
      try permit.setValue(.object(try object("Maker", "name", .string("NewTwo")).objectID), forKey: "owner")
    }
    let first = try await undo(shelves, in: house)
    #expect(first.progress.deleted == 1 && first.note?.contains("Shelf “1” is needed by others") == true)
    let second = try await undo(makers, in: house)
    #expect(
      second.progress.deleted == 1 && second.progress.unchanged == 2, "\(second.reason ?? "") \(second.note ?? "")")
    #expect(second.note?.contains("Maker “NewOne” is needed by others (a Item that it has") == true)
    #expect(try house.count("Item", "code == 'later'") == 1 && house.count("Permit") == 1)
    #expect(try house.count("Maker", "name == 'NewThree'") == 0)
  }

  @Test("rows whose key has gone to another, or that are there again, stay as they are")
  func taken() async throws {
    let house = try await furnished()
    let job = try await house.load("item_code\ni1\n", into: "Item", .synchronise)
    #expect(job.progress.deleted == 4)
    try house.change { try $0.insert("Item").setValue(.string("i2"), forKey: "code") }
    let undo = try await undo(job, in: house)
    #expect(undo.progress.inserted == 3 && undo.progress.unchanged == 1)
    #expect(undo.note?.contains("can't be as it was (another has its code)") == true, "\(undo.note ?? "")")
  }

  @Test("an update and a prune are undone, where the entity says that its rows are traced")
  func otherJobs() async throws {
    let model = try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Item",
          attributes: [
            AttributeDefinition("code", .string, isOptional: false), AttributeDefinition("middle", .integer32),
          ], uniquenessConstraints: [["code"]], userInfo: ["lineage": "true"])
      ]))
    let house = try await Warehouse(model: model)
    try house.fill(30)
    let before = try house.rows("Item")
    let update = try await house.run("update", "Item", #"{"all": true, "set": {"middle": 0}, "batch_size": 7}"#)
    let prune = try await house.run("prune", "Item", #"{"where": "code > 'i00010'", "batch_size": 7}"#)
    #expect(update.progress.updated == 30 && prune.progress.deleted == 20)
    #expect(try await undo(prune, in: house).progress.inserted == 20)
    #expect(try await undo(update, in: house).progress.updated == 30)
    #expect(try house.rows("Item") == before)
    let context = house.context()
    let item = try #require(
      try context.fetch(
        FetchRequest<ManagedObject>(entityName: "Item", predicate: .equal("code", .string("i00030")))
      ).first)
    let steps = try RowHistory.steps(of: item.objectID, in: context)
    #expect(
      steps.map { "\($0.kind) \($0.event)" } == ["update updated", "prune deleted", "undo inserted", "undo updated"])
    #expect(steps.map(\.undoneBy) == [steps[3].job, steps[2].job, 0, 0])
    #expect(steps.map(\.undoes) == [0, 0, prune.id, update.id])
  }

  @Test("nothing is undone of a job that recorded nothing")
  func unrecorded() async throws {
    let house = try await furnished()
    let job = try await house.load("item_code\nx\n", into: "Item") { $0.lineage = nil }
    let undo = try await undo(job, in: house)
    #expect(undo.state == .discarded && undo.failureCode == "nothing_recorded")
    #expect(undo.reason?.contains("lineage: true") == true)
    for options in ["{}", #"{"job": 0}"#, #"{"job": 1, "hard": true}"#] {
      #expect(try await house.run("undo", nil, options).failureCode == "bad_options")
    }
  }

  @Test("without former values an undo is refused, and by force deletes what was inserted")
  func expired() async throws {
    for keepsBefore in [true, false] {
      let house = try await furnished(keepsBefore: keepsBefore)
      let job = try await house.load("item_code,middle\ni1,100\nx,1\n", into: "Item")
      let hour: TimeInterval = 3600
      #expect(try BeforeImageRetention.prune(before: Date(timeIntervalSinceNow: -hour), in: house.data) == 0)
      #expect(
        try BeforeImageRetention.prune(before: Date(timeIntervalSinceNow: hour), in: house.data)
          == (keepsBefore ? 1 : 0))
      let undo = try await undo(job, in: house)
      #expect(undo.failureCode == "expired" && undo.reason?.contains("keep.undo") == true)
      let forced = try await self.undo(job, in: house, #", "force": true"#)
      #expect(forced.progress.deleted == 1 && forced.progress.unchanged == 1)
      #expect(forced.note?.contains("has no former values any more") == true)
      // Where rows come from is still known.
      #expect(try house.count(ImportModel.lineageEntity) > 0)
    }
  }

  @Test(
    "killed at any write and run again, an undo does what one run does", arguments: DataStoreFaults.Moment.allCases)
  func kills(_ moment: DataStoreFaults.Moment) async throws {
    let text = "item_code,middle,labels\ni1,100,\nx1,1,red\ni2,100,blue\nx2,2,\ni3,100,\n"
    var write = 1
    while true {
      let house = try await furnished()
      let before = try everything(house)
      let job = try await house.load(text, into: "Item", .synchronise) { $0.batchSize = 1 }
      try house.vandalise("UPDATE item SET middle = 77 WHERE code = 'x2'")
      house.faults.fail(write: write, moment)
      let undo = try await house.persist("undo", "Item", #"{"job": \#(job.id)}"#)
      #expect(undo.state == .completed, "write \(write): \(undo.reason ?? "")")
      let counts = [undo.progress.deleted, undo.progress.updated, undo.progress.inserted, undo.progress.unchanged]
      // Three items, and the labels and the maker whose items they are.
      #expect(counts == [1, 6, 2, 1], "write \(write)")
      #expect(undo.note?.hasPrefix("1 row stays as it is: Item “x2” was changed since") == true, "write \(write)")
      let rest = try everything(house).filter { !$0.contains("x2") }
      #expect(rest == before, "write \(write)")
      house.faults.heal()
      if undo.attempt == 1 { break }
      write += 1
    }
    #expect(write > 5)
  }

  @Test("the same file may be imported again after an undo, where known files are skipped")
  func knownFile() async throws {
    let house = try await furnished()
    let job = try await house.load("item_code\nx\n", into: "Item") { $0.skipsKnownFiles = true }
    #expect(try await undo(job, in: house).state == .completed)
    let again = try await house.load("item_code\nx\n", into: "Item") { $0.skipsKnownFiles = true }
    #expect(again.progress.inserted == 1)
  }
}
