import Foundation
import Importing
import Logging
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Editing one object", .timeLimit(.minutes(20)))
struct EditTests {
  /// Reads an item on this thread; nothing of it may outlive the call, since a test goes on elsewhere after each wait.
  private func read<Value>(_ code: String, in house: Warehouse, _ body: (ManagedObject) throws -> Value) throws -> Value
  {
    let context = house.context()
    let item = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", predicate: .equal("code", .string(code)))
    ).first
    defer { withExtendedLifetime(context) {} }
    return try body(try #require(item))
  }

  @Test("gives the object new values, leads its relationships elsewhere, and says so")
  func values() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    try house.change { context in
      for name in ["Acme", "Bolt"] { try context.insert("Maker").setValue(.string(name), forKey: "name") }
    }
    let number = try read("i00001", in: house) { $0.objectID.number }
    let job = try await house.run(
      "edit", "Item",
      #"{"object": \#(number), "set": {"price": "1.10", "large": "-9007199254740993", "maker": "Bolt"}, "clear": ["text"]}"#
    )
    #expect(job.state == .completed && job.progress.updated == 1, "\(job.reason ?? "")")
    #expect(job.note == "Item \(number): changed")
    let maker = try read("i00001", in: house) { changed in
      #expect(changed.value(forKey: "price") == .decimal(try #require(Decimal(string: "1.1"))))
      #expect(changed.value(forKey: "large") == .int(-9_007_199_254_740_993))
      let maker: ManagedObject? = changed.object(changed.entity.propertiesByName["maker"]?.slot ?? 0)
      #expect(maker?.value(forKey: "name") == .string("Bolt"))
      return try #require(maker).objectID.number
    }
    let none = try await house.run("edit", "Item", #"{"object": \#(number), "clear": ["maker"]}"#)
    #expect(none.progress.updated == 1)
    #expect(try read("i00001", in: house) { $0.value(forKey: "maker") } == .null)
    let byNumber = try await house.run(
      "edit", "Item", #"{"object": \#(number), "set": {"maker.objectID": "\#(maker)"}}"#)
    #expect(byNumber.progress.updated == 1, "\(byNumber.reason ?? "")")
    let same = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"price": "1.1"}}"#)
    #expect(same.state == .completed && same.progress.unchanged == 1)
  }

  @Test("leaves an object alone that isn't as it was seen")
  func versions() async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let (number, version) = try read("i00001", in: house) { ($0.objectID.number, RowVersion.text(of: $0)) }
    try house.change { context in
      let other = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", fetchLimit: 1)).first)
      try other.setValue(.string("theirs"), forKey: "text")
    }
    let wish = #"{"object": \#(number), "version": "\#(version)", "set": {"middle": 9}}"#
    let late = try await house.run("edit", "Item", wish)
    #expect(late.state == .discarded && late.failureCode == "edit_conflict", "\(late.reason ?? "")")
    // The message names the version to say.
    let current = try read("i00001", in: house) { now in
      #expect(now.value(forKey: "middle") == .int(1) && now.value(forKey: "text") == .string("theirs"))
      return RowVersion.text(of: now)
    }
    #expect(late.reason?.contains(current) == true && current != version && current.count == 16)
    let again = try await house.run("edit", "Item", wish.replacing(version, with: current))
    #expect(again.state == .completed && again.progress.updated == 1, "\(again.reason ?? "")")
  }

  @Test("inserts and deletes, and each can be taken back, though the entity isn't traced")
  func undo() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    let number = try read("i00002", in: house) { $0.objectID.number }
    let new = try await house.run("edit", "Item", #"{"set": {"code": "new", "middle": 5}}"#)
    #expect(new.state == .completed && new.progress.inserted == 1, "\(new.reason ?? "")")
    let change = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"text": "typed"}}"#)
    let removal = try await house.run("edit", "Item", #"{"object": \#(number), "delete": true}"#)
    #expect(removal.state == .completed && removal.progress.deleted >= 1, "\(removal.reason ?? "")")
    #expect(try house.count("Item") == 2)
    for job in [removal, change, new] {
      let undone = try await house.run("undo", nil, #"{"job": \#(job.id)}"#)
      #expect(undone.state == .completed && undone.note == nil, "\(undone.reason ?? undone.note ?? "")")
    }
    #expect(try house.count("Item") == 2 && house.count("Item", "code == 'new'") == 0)
    try read("i00002", in: house) { back in
      #expect(back.objectID.number == number && back.value(forKey: "text") == .null)
      let steps = try RowHistory.steps(of: back.objectID, in: house.context())
      #expect(steps.contains { $0.job == change.id && $0.submitter == "anna" && $0.kind == "edit" })
    }
  }

  @Test(
    "what can't be done is refused, and nothing is written",
    arguments: [
      (#"{"object": 1}"#, "there is nothing to change"), (#"{"delete": true}"#, "delete is of an object"),
      (#"{"object": 1, "delete": true, "set": {"text": "x"}}"#, "gets no values"),
      (#"{"object": 1, "set": {"txt": "x"}}"#, "did you mean text?"),
      (#"{"object": 1, "clear": ["code"]}"#, "Item.code is required"),
      (#"{"object": 1, "set": {"small": 40000}}"#, "is out of range"),
      (#"{"object": 1, "set": {"labels": 1}}"#, "leads to many objects"),
      (#"{"object": 1, "set": {"maker.objectID": "x"}}"#, "isn't the number of an object"),
      (#"{"object": 1, "set": {"text": "x"}, "clear": ["text"]}"#, "in both set and clear"),
      (#"{"object": 0, "set": {"text": "x"}}"#, "whole number from 1"),
      (#"{"version": "x", "set": {"code": "x"}}"#, "a new object has no version"),
      (#"{"object": 1, "sett": {}}"#, "there is no option sett"),
      (#"{"object": 99999, "set": {"text": "x"}}"#, "there is no Item 99999"),
      (#"{"object": 1, "set": {"maker": "Nobody"}}"#, "there is no Maker whose name is 'Nobody'"),
    ])
  func refusals(_ options: String, _ words: String) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let job = try await house.run("edit", "Item", options)
    #expect(job.state == .discarded && job.reason?.contains(words) == true, "\(job.reason ?? "")")
    #expect(try house.count("Item") == 1 && house.count("Item", "text != NIL") == 0)
  }

  @Test("a value that others have already is refused by the store")
  func uniqueness() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    let number = try read("i00002", in: house) { $0.objectID.number }
    let job = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"code": "i00001"}}"#)
    #expect(job.state == .discarded && job.failureCode == "not_unique", "\(job.reason ?? "")")
  }

  // MARK: Killed, or cancelled, after the save

  /// A job as a kill between its save and its end leaves it: `running` in the queue, and perhaps to be cancelled.
  private func interrupted(
    _ house: Warehouse, _ options: String, isCancelRequested: Bool, hasSaved: Bool
  ) async throws -> JobQueue {
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(.inMemory())
    var catalogue = OperationCatalogue()
    catalogue.addObjects()
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var environment = JobEnvironment(
      dataStores: ["main": house.data], activeDirectory: house.active, rejectsDirectory: house.exports,
      queueIdentifier: "other", logger: quiet)
    environment.keepsBeforeImages = { true }
    let lanes = [LaneConfiguration(name: "maintenance", concurrency: 1)]
    let first = try JobQueue(
      coordinator: coordinator, lanes: lanes, operations: catalogue, environment: environment, backoff: Backoff(),
      clock: house.clock.clock, random: { 0.5 }, logger: quiet)
    let job = try await first.submit(
      JobSubmission(kind: "edit", store: "main", entity: "Item", lane: "maintenance", submittedBy: "anna")
        .with { $0.resolvedOptions = options })
    if hasSaved {
      let operation = EditOperation(job: job, environment: environment)
      operation.main()
      guard case .completed = operation.outcome else { throw CocoaError(.featureUnsupported) }
    }
    // The queue that claims it and doesn't run it.
    let ledger = JobLedger(coordinator: coordinator, now: house.clock.clock.now, backoff: Backoff())
    try await ledger.write { turn in
      let record = try turn.job(job.id)
      try turn.claim(record)
      if isCancelRequested { try turn.apply(.cancelRequested, to: record, reason: "cancelled by ben", by: "ben") }
      return {}
    }
    return try JobQueue(
      coordinator: coordinator, lanes: lanes, operations: catalogue, environment: environment, backoff: Backoff(),
      clock: house.clock.clock, random: { 0.5 }, logger: quiet)
  }

  @Test(
    "a job that was killed after its save is completed by the next start, also one that was cancelled",
    arguments: [false, true])
  func killed(isCancelRequested: Bool) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let queue = try await interrupted(
      house, #"{"set": {"code": "new"}}"#, isCancelRequested: isCancelRequested, hasSaved: true)
    try await queue.start()
    let job = try await queue.whenEnded(1)
    #expect(job.state == .completed && job.progress.inserted == 1, "\(job)")
    #expect(job.note?.hasSuffix(": inserted") == true)
    #expect(try house.count("Item", "code == 'new'") == 1)
  }

  @Test("a job that was killed before its save, and cancelled, is cancelled and changes nothing")
  func cancelled() async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let queue = try await interrupted(
      house, #"{"set": {"code": "new"}}"#, isCancelRequested: true, hasSaved: false)
    try await queue.start()
    #expect(try await queue.whenEnded(1).state == .cancelled)
    #expect(try house.count("Item", "code == 'new'") == 0)
  }

  @Test("an operation that is cancelled before its turn says what an earlier one has done", arguments: [true, false])
  func cancelledBefore(hasSaved: Bool) async throws {
    let house = try await Warehouse()
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let environment = JobEnvironment(
      dataStores: ["main": house.data], activeDirectory: house.active, rejectsDirectory: house.exports,
      queueIdentifier: "other", logger: quiet)
    var job = Job(
      id: 5, kind: "edit", lane: "maintenance", state: .running, submittedAt: Date(), submittedBy: "anna",
      maxAttempts: 1)
    (job.store, job.entity, job.options) = ("main", "Item", #"{"set": {"code": "new"}}"#)
    if hasSaved { EditOperation(job: job, environment: environment).main() }
    let operation = EditOperation(job: job, environment: environment)
    operation.cancel()
    operation.start()
    if hasSaved {
      guard case .completed(let progress, _) = operation.outcome else {
        Issue.record("\(operation.outcome)")
        return
      }
      #expect(progress.inserted == 1)
    } else {
      #expect(operation.outcome == .cancelled(job.progress))
    }
    #expect(try house.count("Item") == (hasSaved ? 1 : 0))
  }

  // MARK: What a deletion reaches

  @Test("what a deletion takes along is counted up to a bound, and nothing of it is loaded")
  func reach() async throws {
    let house = try await Warehouse()
    try house.change { context in
      let maker = try context.insert("Maker")
      try maker.setValue(.string("Acme"), forKey: "name")
      for number in 1...40 {
        let item = try context.insert("Item")
        try item.setValue(.string(Warehouse.code(number)), forKey: "code")
        let slot = try #require(item.entity.propertiesByName["maker"] as? RelationshipDescription).slot
        item.setValue(.object(maker.objectID), at: slot)
      }
    }
    let context = house.context()
    let maker = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Maker")).first)
    let before = context.registeredObjects.count
    #expect(try DeletionReach.ofDeletion(maker, exceeds: 40, in: context))
    #expect(try !DeletionReach.ofDeletion(maker, exceeds: 41, in: context))
    #expect(context.registeredObjects.count == before)
    let item = try #require(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", fetchLimit: 1)).first)
    #expect(try !DeletionReach.ofDeletion(item, exceeds: 1, in: context))
  }
}
