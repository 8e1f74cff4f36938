import Foundation
import Importing
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Pruning objects", .timeLimit(.minutes(20)))
struct PruneTests {
  @Test("what matches is deleted in batches, with what goes along by the delete rules")
  func deletes() async throws {
    let house = try await Warehouse()
    try house.change { context in
      for name in ["a", "b", "c"] {
        let maker = try context.insert("Maker")
        try maker.setValue(.string(name), forKey: "name")
        for number in 1...4 {
          let item = try context.insert("Item")
          try item.setValue(.string("\(name)\(number)"), forKey: "code")
          try item.setValue(.object(maker.objectID), forKey: "maker")
        }
      }
    }
    let job = try await house.run("prune", "Maker", #"{"where": "name IN {'a', 'c'}", "batch_size": 1}"#)
    #expect(job.state == .completed && job.progress.deleted == 2 && job.note == nil)
    #expect(try house.count("Maker") == 1 && house.count("Item") == 4)
    #expect(try house.count("Item", "maker.name == 'b'") == 4)
  }

  @Test("without a predicate nothing is deleted, unless all is said")
  func all() async throws {
    let house = try await Warehouse()
    try house.fill(30)
    for options in ["{}", #"{"where": "  "}"#, #"{"all": false}"#] {
      let job = try await house.run("prune", "Item", options)
      #expect(job.state == .discarded && job.failureCode == "bad_options")
      #expect(job.reason?.contains("to delete every Item say all: true") == true)
    }
    let both = try await house.run("prune", "Item", #"{"where": "middle > 3", "all": true}"#)
    #expect(both.failureCode == "bad_options")
    #expect(try house.count("Item") == 30)
    let job = try await house.run("prune", "Item", #"{"all": "true", "batch_size": "7"}"#)
    #expect(job.state == .completed && job.progress.deleted == 30)
    #expect(job.progress.bytesTotal == 0 && job.progress.recordsTotal == 30 && job.progress.percent == 100)
    #expect(try house.count("Item") == 0)
  }

  @Test("objects that others need stay, and the note names them")
  func denied() async throws {
    let house = try await Warehouse()
    try house.change { context in
      for number in 1...5 {
        let shelf = try context.insert("Shelf")
        try shelf.setValue(.int(Int64(number)), forKey: "number")
        guard number == 3 else { continue }
        let item = try context.insert("Item")
        try item.setValue(.string("heavy"), forKey: "code")
        try item.setValue(.object(shelf.objectID), forKey: "shelf")
      }
    }
    let job = try await house.run("prune", "Shelf", #"{"all": true}"#)
    #expect(job.state == .completed && job.progress.deleted == 4)
    #expect(job.note == "1 Shelf that match stay, since others need them, such as “3”")
    #expect(try house.count("Shelf") == 1)
  }

  @Test("objects of entities that inherit go too, unless that is said otherwise")
  func subentities() async throws {
    let house = try await Warehouse()
    try house.fill(3)
    try house.change { try $0.insert("Book").setValue(.string("b"), forKey: "code") }
    #expect(try await house.run("prune", "Item", #"{"all": true, "subentities": false}"#).progress.deleted == 3)
    #expect(try house.count("Item") == 1)
    #expect(try await house.run("prune", "Item", #"{"all": true}"#).progress.deleted == 1)
  }

  @Test(
    "killed at any write and run again, it deletes and counts what one run does",
    arguments: DataStoreFaults.Moment.allCases)
  func kills(_ moment: DataStoreFaults.Moment) async throws {
    var write = 1
    while true {
      let house = try await Warehouse()
      try house.fill(25)
      house.faults.fail(write: write, moment)
      let job = try await house.persist("prune", "Item", #"{"where": "middle > 3", "batch_size": 10}"#)
      #expect(job.state == .completed && job.progress.deleted == 22, "write \(write)")
      #expect(try house.count("Item") == 3)
      house.faults.heal()
      try JobCheckpoint.forget(job.id, claim: job.claim, queue: "queue", in: house.data)
      #expect(try house.count("lade_checkpoint") == 0)
      if job.attempt == 1 { break }
      write += 1
    }
    // The fence, three batches, and the end.
    #expect(write == 6)
  }

  @Test("what comes to match after the end of a job that is run again isn't its")
  func afterEnd() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    // The last write, of the end, is done and not heard of.
    house.faults.fail(write: 3, .after)
    let submitted = try await house.submit("prune", "Item", #"{"all": true}"#)
    _ = try await house.queue.job(submitted.id) { $0.state == .retryable }
    house.faults.heal()
    try house.fill(5)
    house.clock.advance(by: 3600)
    let job = try await house.queue.whenEnded(submitted.id)
    #expect(job.state == .completed && job.progress.deleted == 2)
    #expect(try house.count("Item") == 5)
  }

  @Test("a job that is cancelled stops at its next batch, and what is deleted stays so")
  func cancel() async throws {
    let gate = Gate()
    let house = try await Warehouse()
    try house.fill(30)
    house.faults.before(write: 2) { gate.pass() }
    let job = try await house.submit("prune", "Item", #"{"all": true, "batch_size": 10}"#)
    await gate.arrivals(1)
    _ = try await house.queue.cancel(job.id, by: "ben")
    gate.open()
    let end = try await house.queue.whenEnded(job.id)
    #expect(end.state == .cancelled && end.progress.deleted == 10)
    #expect(try house.count("Item") == 20)
  }

  @Test("an import goes on beside it")
  func besideImport() async throws {
    let house = try await Warehouse()
    try house.fill(500)
    let csv = "item_code,middle\n" + (501...1500).map { "\(Warehouse.code($0)),\($0)\n" }.joined()
    try Data(csv.utf8).write(to: house.active.appendingPathComponent("new.csv"))
    let options = String(
      decoding: try JSONEncoder().encode(ImportOptions(mode: .insert, batchSize: 50)), as: UTF8.self)
    let imported = try await house.queue.submit(
      JobSubmission(
        kind: "import", source: "new.csv", store: "main", entity: "Item", lane: "import", submittedBy: "ben"
      )
      .with { ($0.activeName, $0.resolvedOptions) = ("new.csv", options) })
    let job = try await house.run("prune", "Item", #"{"where": "middle <= 500", "batch_size": 20}"#)
    #expect(job.state == .completed && job.progress.deleted == 500)
    #expect(try await house.queue.whenEnded(imported.id).progress.inserted == 1000)
    #expect(try house.count("Item") == 1000 && house.count("Item", "middle <= 500") == 0)
  }
}
