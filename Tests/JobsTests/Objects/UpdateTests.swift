import Foundation
import ManagedObjects
import Synchronization
import Testing

@testable import Jobs

@Suite("Updating objects", .timeLimit(.minutes(20)))
struct UpdateTests {
  @Test("values become those of their attributes' types, and null none")
  func values() async throws {
    let house = try await Warehouse()
    try house.fill(3) { try $1.setValue(.string("old"), forKey: "text") }
    let job = try await house.run(
      "update", "Item",
      """
      {"where": "middle < 3", "set": {"small": "12", "large": -9007199254740993, "price": "1.10", "ratio": 0.5,
        "flag": true, "moment": "2024-02-29T12:00:00+01:00", "due": "2024-02-29", "blob": "AAE=", "text": null,
        "key": "11111111-2222-3333-4444-555555555555", "link": "https://example.org/", "size.unit": ""}}
      """)
    #expect(job.state == .completed && job.progress.updated == 2 && job.progress.unchanged == 0, "\(job.reason ?? "")")
    let item = try #require(
      try house.context().fetch(
        FetchRequest<ManagedObject>(entityName: "Item", predicate: .equal("code", .string("i00002")))
      ).first)
    let expected: [String: Value] = [
      "small": .int(12), "large": .int(-9_007_199_254_740_993), "ratio": .double(0.5), "flag": .bool(true),
      "moment": .date(Date(timeIntervalSince1970: 1_709_204_400)),
      "due": .date(Date(timeIntervalSince1970: 1_709_164_800)),
      "blob": .data(Data([0, 1])), "text": .null, "size.unit": .string(""), "middle": .int(2),
      "price": .decimal(try #require(Decimal(string: "1.1"))),
      "key": .uuid(try #require(UUID(uuidString: "11111111-2222-3333-4444-555555555555"))),
    ]
    for (name, value) in expected { #expect(item.value(forKey: name) == value, "\(name)") }
    #expect(try house.count("Item", "text == 'old'") == 1)
  }

  @Test("what is so already is counted as unchanged, and not written")
  func unchanged() async throws {
    let house = try await Warehouse()
    try house.fill(10)
    let job = try await house.run("update", "Item", #"{"all": true, "set": {"middle": 4}}"#)
    #expect(job.progress.updated == 9 && job.progress.unchanged == 1 && job.progress.records == 10)
    // Records aren't bytes.
    #expect(job.progress.bytesDone == 0 && job.progress.bytesTotal == 0 && job.progress.recordsTotal == 10)
    let again = try await house.run("update", "Item", #"{"all": true, "set": {"middle": 4}}"#)
    #expect(again.progress.updated == 0 && again.progress.unchanged == 10)
  }

  @Test(
    "what can't be set is refused before anything is changed",
    arguments: [
      (#"{"set": {"text": "x"}}"#, "to change every Item say all: true"), (#"{"all": true}"#, "set gives no values"),
      (#"{"all": true, "set": {"txt": "x"}}"#, "did you mean text?"),
      (#"{"all": true, "set": {"code": null}}"#, "Item.code is required"),
      (#"{"all": true, "set": {"small": 40000}}"#, "is out of range"),
      (#"{"all": true, "set": {"moment": "yesterday"}}"#, "isn't a date"),
      (#"{"all": true, "set": {"maker": "x"}}"#, "maker is a relationship"),
      (#"{"all": true, "set": {"size": "x"}}"#, "size.width"),
      (#"{"all": true, "set": {"tags": "x"}}"#, "Transformable"),
      (#"{"all": true, "set": {"flag": {"a": 1}}}"#, "flag"),
      (#"{"all": true, "sett": {}}"#, "there is no option sett"),
    ])
  func refusals(_ options: String, _ words: String) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let job = try await house.run("update", "Item", options)
    #expect(job.state == .discarded && job.failureCode == "bad_options")
    #expect(job.reason?.contains(words) == true, "\(job.reason ?? "")")
    // What filled the store, and the fence.
    #expect(house.faults.writes <= 2)
  }

  @Test("validation and uniqueness hold: the job fails with the object, and the batch stays as it was")
  func validation() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    let invalid = try await house.run("update", "Item", #"{"all": true, "set": {"small": 1001, "text": "x"}}"#)
    #expect(invalid.state == .discarded && invalid.failureCode == "validation")
    #expect(invalid.reason?.contains("Item.small is more than 1000 (x-coredata://") == true)
    let twice = try await house.run("update", "Item", #"{"all": true, "set": {"code": "same"}}"#)
    #expect(twice.state == .discarded && twice.failureCode == "not_unique")
    #expect(try house.count("Item", "text == 'x' OR code == 'same'") == 0)
  }

  @Test(
    "killed at any write and run again, it changes and counts what one run does",
    arguments: DataStoreFaults.Moment.allCases)
  func kills(_ moment: DataStoreFaults.Moment) async throws {
    var write = 1
    while true {
      let house = try await Warehouse()
      try house.fill(25)
      house.faults.fail(write: write, moment)
      // The predicate is true of what was changed, too.
      let job = try await house.persist(
        "update", "Item", #"{"where": "middle > 0", "set": {"middle": 7}, "batch_size": 10}"#)
      #expect(job.state == .completed, "write \(write)")
      #expect(job.progress.updated == 24 && job.progress.unchanged == 1 && job.progress.records == 25, "write \(write)")
      #expect(try house.count("Item", "middle == 7") == 25)
      if job.attempt == 1 { break }
      write += 1
    }
    #expect(write == 5)
  }

  @Test("a row that another writer changes between reading and saving is read again")
  func conflict() async throws {
    let house = try await Warehouse()
    try house.fill(5)
    house.faults.before(write: 2) { [unowned house] in
      try house.change { context in
        let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        try items[1].setValue(.string("theirs"), forKey: "text")
        context.delete(items[2])
      }
    }
    let job = try await house.run("update", "Item", #"{"all": true, "set": {"flag": true}}"#)
    #expect(job.state == .completed && job.progress.updated == 4)
    #expect(try house.count("Item", "flag == YES") == 4 && house.count("Item", "text == 'theirs' AND flag == YES") == 1)
  }

  @Test("changes are announced, and come from the job")
  func announced() async throws {
    let house = try await Warehouse()
    try house.fill(4)
    let saves = Shared<Int>()
    let data = house.data
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { notification in
      guard let context = notification.object as? ManagedObjectContext, context.persistentStoreCoordinator === data,
        context.transactionAuthor == "job 1", let save = ContextSave(notification)
      else { return }
      saves.append(save.updatedObjectIDs.count { $0.entity.name == "Item" })
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    _ = try await house.run("update", "Item", #"{"all": true, "set": {"flag": false}, "batch_size": 3}"#)
    // Saves without changes are announced, too.
    #expect(saves.all.filter { $0 > 0 } == [3, 1])
  }
}
