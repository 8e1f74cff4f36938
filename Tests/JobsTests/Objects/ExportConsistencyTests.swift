import Foundation
import Importing
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Exports while the store changes", .timeLimit(.minutes(20)))
struct ExportConsistencyTests {
  @Test("an export is of one moment, whatever is saved in the meantime", arguments: [WrittenFormat.csv, .json])
  func oneMoment(_ format: WrittenFormat) async throws {
    let house = try await Warehouse()
    try house.fill(1200)
    house.faults.afterSnapshot { [unowned house] in
      try house.change { context in
        let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        for (number, item) in items.enumerated() {
          if number.isMultiple(of: 2) { context.delete(item) } else { try item.setValue(.int(0), forKey: "middle") }
        }
        let item = try context.insert("Item")
        try item.setValue(.string("new"), forKey: "code")
      }
    }
    // With a to-many relationship, which is read a batch at a time.
    let columns = format.nests ? #"["middle", "labels"]"# : #"["middle"]"#
    let job = try await house.run(
      "export", "Item", #"{"columns": \#(columns), "format": "\#(format.rawValue)", "file": "items"}"#)
    #expect(job.state == .completed && job.progress.records == 1200)
    let numbers = try house.contents("items").matches(of: /(?:"middle":|^)([0-9]+)/.anchorsMatchLineEndings())
      .compactMap { Int($0.1) }
    #expect(numbers == Array(1...1200))
    #expect(try house.count("Item") == 601)
  }

  @Test("an export and an import go on beside each other")
  func besideImport() async throws {
    let house = try await Warehouse()
    try house.fill(3000)
    let csv = "item_code,middle\n" + (1...3000).map { "\(Warehouse.code($0)),\(-$0)\n" }.joined()
    try Data(csv.utf8).write(to: house.active.appendingPathComponent("update.csv"))
    let options = String(
      decoding: try JSONEncoder().encode(ImportOptions(mode: .update, batchSize: 100)), as: UTF8.self)
    async let imported = house.queue.submit(
      JobSubmission(
        kind: "import", source: "update.csv", store: "main", entity: "Item", lane: "import", submittedBy: "ben"
      )
      .with { ($0.activeName, $0.resolvedOptions) = ("update.csv", options) })
    for number in 1...5 {
      let job = try await house.run(
        "export", "Item", #"{"columns": ["middle"], "file": "\#(number).csv", "sort": "code"}"#)
      #expect(job.state == .completed)
      let values = try house.contents("\(number).csv").split(separator: "\n").dropFirst().compactMap { Int($0) }
      #expect(values.map(abs) == Array(1...3000))
      // The import's batches are there whole or not at all, and the earlier ones before the later.
      let changed = values.prefix { $0 < 0 }.count
      #expect(changed.isMultiple(of: 100) && values.dropFirst(changed).allSatisfy { $0 > 0 })
    }
    let job = try await imported
    #expect(try await house.queue.whenEnded(job.id).progress.updated == 3000)
  }

  @Test("an export that is cancelled or killed leaves nothing, and one that runs again removes what a killed one left")
  func rests() async throws {
    let gate = Gate()
    let house = try await Warehouse()
    try house.fill(2000)
    house.faults.afterSnapshot { gate.pass() }
    let job = try await house.submit("export", "Item", #"{"file": "items.csv"}"#)
    await gate.arrivals(1)
    #expect(try house.files == [".job-\(job.id).tmp"])
    _ = try await house.queue.cancel(job.id, by: "ben")
    gate.open()
    #expect(try await house.queue.whenEnded(job.id).state == .cancelled)
    #expect(try house.files.isEmpty)

    try Data("half of".utf8).write(to: house.exports.appendingPathComponent(".job-2.tmp"))
    let second = try await house.run("export", "Item", #"{"columns": ["middle"], "file": "items.csv"}"#)
    #expect(second.id == 2 && second.state == .completed)
    #expect(try house.files == ["items.csv"])
    #expect(try house.contents("items.csv") == "middle\n" + (1...2000).map { "\($0)\n" }.joined())
  }

  @Test("an export that fails is tried again, and its file is whole then")
  func retry() async throws {
    let house = try await Warehouse()
    try house.fill(10)
    house.faults.afterSnapshot { throw DataStoreFaults.Injected() }
    let job = try await house.persist("export", "Item", #"{"columns": ["middle"], "file": "items.csv"}"#)
    #expect(job.state == .completed && job.attempt == 2 && job.progress.records == 10)
    #expect(try house.contents("items.csv").split(separator: "\n").count == 11)
  }
}
