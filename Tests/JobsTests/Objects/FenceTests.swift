import Foundation
import Importing
import ManagedObjects
import TestSupport
import Testing

@testable import Jobs

@Suite("A job that another daemon has taken over", .timeLimit(.minutes(20)))
struct FenceTests {
  /// Everything that writes in batches.
  enum Work: String, CaseIterable, Sendable {
    case insert, synchronise, prune, update, undo, edit

    /// How many writes it makes: the first raises the fence.
    var writes: Int {
      switch self {
      case .insert: 5
      case .synchronise: 5
      case .prune: 4
      case .update: 4
      case .undo: 6
      case .edit: 2
      }
    }

    private static func file(_ numbers: ClosedRange<Int>) -> String {
      "item_code,middle\n" + numbers.map { "\(Warehouse.code($0)),\($0)\n" }.joined()
    }

    /// Fills the store with what the job is to work on, and hands it in.
    func submit(to house: Warehouse) async throws -> Job {
      switch self {
      case .insert: return try await importing(Self.file(1...30), .insert, in: house)
      case .synchronise:
        try house.fill(25)
        return try await importing(Self.file(11...40), .synchronise, in: house)
      case .prune:
        try house.fill(25)
        return try await house.submit("prune", "Item", #"{"where": "middle > 5", "batch_size": 10}"#)
      case .update:
        try house.fill(25)
        return try await house.submit(
          "update", "Item", #"{"all": true, "set": {"text": "seen"}, "batch_size": 10}"#)
      case .undo:
        let loaded = try await house.load(Self.file(1...30), into: "Item") { $0.batchSize = 10 }
        try JobCheckpoint.forget(loaded.id, claim: loaded.claim, queue: "queue", in: house.data)
        return try await house.submit("undo", nil, #"{"job": \#(loaded.id)}"#)
      case .edit: return try await house.submit("edit", "Item", #"{"set": {"code": "x", "middle": "1"}}"#)
      }
    }

    private func importing(_ text: String, _ mode: ImportMode, in house: Warehouse) async throws -> Job {
      try Data(text.utf8).write(to: house.active.appendingPathComponent("b.csv"))
      var options = ImportOptions(mode: mode)
      options.batchSize = 10
      let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
      return try await house.queue.submit(
        JobSubmission(
          kind: ImportOperation.kind, source: "b.csv", store: "main", entity: "Item", lane: "import",
          submittedBy: "anna"
        ).with { ($0.activeName, $0.resolvedOptions) = ("b.csv", json) })
    }
  }

  /// What a job leaves that isn't superseded.
  private func undisturbed(_ work: Work) async throws -> (rows: [String], progress: JobProgress) {
    let house = try await Warehouse()
    let end = try await house.queue.whenEnded(try await work.submit(to: house).id)
    #expect(end.state == .completed, "\(end.reason ?? "")")
    return (try house.rows("Item"), end.progress)
  }

  @Test(
    "is done once, whichever write its former owner was held up before, and nothing comes of that one",
    arguments: WarehousePlace.Kind.present, Work.allCases)
  func takenOver(_ kind: WarehousePlace.Kind, _ work: Work) async throws {
    let expected = try await undisturbed(work)
    for write in 1...work.writes {
      for forgets in [false, true] {
        let place = try WarehousePlace(kind)
        let slow = try await Warehouse(at: place)
        let gate = Gate()
        let job = try await heldUp(work, before: write, at: gate, in: slow)
        let context = "\(work), write \(write), \(forgets ? "forgotten" : "kept")"
        // The next daemon: for it the first is gone.
        let next = try await Warehouse(at: place)
        let end = try await next.queue.whenEnded(job.id)
        #expect(end.state == .completed && end.claim == 3, "\(context): \(end.reason ?? "")")
        #expect(end.progress.records == expected.progress.records, "\(context)")
        if forgets {
          try JobCheckpoint.forget(job.id, claim: end.claim, queue: "queue", in: next.data)
          #expect(try next.count("lade_checkpoint") == 0 && next.count("lade_fence") == 0, "\(context)")
        }
        gate.open()
        #expect(await slow.queue.drain(timeout: .seconds(60)).isEmpty)
        #expect(try next.rows("Item") == expected.rows, "\(context)")
        #expect(try next.count("lade_checkpoint") == (forgets ? 0 : 1), "\(context)")
        let after = try await next.queue.job(job.id)
        #expect(after == end, "\(context)")
        #expect(
          try await next.queue.reasons(job.id).filter { $0 != end.reason } == [
            "submitted", "attempt 1 of \(end.maxAttempts)", "the daemon ended while it ran",
            "attempt 1 of \(end.maxAttempts)",
          ], "\(context)")
      }
    }
  }

  /// A job whose operation stands at a gate before one of its writes.
  private func heldUp(_ work: Work, before write: Int, at gate: Gate, in house: Warehouse) async throws -> Job {
    // Its lane waits until everything is prepared.
    for lane in ["import", "maintenance"] where work != .undo || lane == "maintenance" {
      _ = try await house.queue.pause(lane: lane, by: "anna")
    }
    let job = try await work.submit(to: house)
    house.faults.before(write: write) { gate.pass() }
    for lane in ["import", "maintenance"] where work != .undo || lane == "maintenance" {
      _ = try await house.queue.resume(lane: lane, by: "anna")
    }
    await gate.arrivals(1)
    return job
  }

  @Test(
    "isn't moved by its former owner, however that one ends",
    arguments: [
      JobOutcome.completed(JobProgress(records: 7)), .cancelled(JobProgress()), .interrupted(JobProgress()),
      .failed(JobFailure(code: "x", message: "x", isRetryable: true), JobProgress()),
      .failed(JobFailure(code: "x", message: "x", isRetryable: false), JobProgress()),
    ])
  func ends(_ outcome: JobOutcome) async throws {
    for kind in StoreKind.allCases {
      let house = try TestHouse(kind)
      let (first, second) = (Gate(), Gate())
      let former = try house.queue([
        "work": { _ in
          first.pass()
          return outcome
        }
      ])
      try await former.start()
      let job = try await former.submit(.of("work"))
      await first.arrivals(1)
      let queue = try house.queue([
        "work": { _ in
          second.pass()
          return .completed(JobProgress(records: 1))
        }
      ])
      try await queue.start()
      await second.arrivals(1)
      first.open()
      #expect(await former.drain(timeout: .seconds(60)).isEmpty)
      let running = try await queue.job(job.id)
      #expect(running.state == .running && running.claim == 3)
      second.open()
      let end = try await queue.whenEnded(job.id)
      #expect(end.state == .completed && end.progress.records == 1)
    }
  }

  @Test("has one fence, which only rises", arguments: WarehousePlace.Kind.present)
  func rises(_ kind: WarehousePlace.Kind) async throws {
    let place = try WarehousePlace(kind)
    let houses = [try await Warehouse(at: place), try await Warehouse(at: place)]
    // Each claims under numbers of its own, as fast as it can.
    let raised = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for (index, house) in houses.enumerated() {
        group.addTask {
          var mine: [Int64] = []
          for number in stride(from: Int64(index + 1), to: 41, by: 2) {
            do {
              _ = try JobFence.raise("queue/1", to: number, in: house.data)
              mine.append(number)
            } catch let error as JobFence.Raised {
              #expect(error.claim > number)
            }
          }
          return mine
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(raised.contains(40))
    #expect {
      try JobFence.raise("queue/1", to: 39, in: houses[0].data)
    } throws: { error in
      (error as? JobFence.Raised)?.claim == 40
    }
    #expect(try houses[1].count("lade_fence") == 1)
  }

  @Test("saves nothing more under any merge policy", arguments: WarehousePlace.Kind.present)
  func policies(_ kind: WarehousePlace.Kind) async throws {
    let place = try WarehousePlace(kind)
    let (mine, theirs) = (try await Warehouse(at: place), try await Warehouse(at: place))
    let fence = try JobFence.raise("queue/1", to: 1, in: mine.data)
    for policy in [MergePolicy.error, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback] {
      let context = mine.context()
      context.fence = fence
      context.mergePolicy = policy
      try context.insert("Item").setValue(.string("a \(policy.mergeType)"), forKey: "code")
      if policy.mergeType == .error {
        try context.save()
        _ = try JobFence.raise("queue/1", to: 2, in: theirs.data)
        try context.insert("Item").setValue(.string("b"), forKey: "code")
      }
      #expect(throws: SupersededSave.self) { try context.save() }
      #expect(context.hasChanges)
    }
    #expect(try theirs.count("Item") == 1)
  }

  @Test(
    "waits with its new owner for a batch that is being committed", .enabled(if: WarehousePlace.Kind.present.count > 1))
  func locks() async throws {
    let place = try WarehousePlace(.postgres)
    let (mine, theirs) = (try await Warehouse(at: place), try await Warehouse(at: place))
    let fence = try JobFence.raise("queue/1", to: 1, in: mine.data)
    let steps = Shared<String>()
    let isWaiting = Gate()
    let batch = Task(executorPreference: QueueExecutor()) {
      let store = try #require(mine.data.persistentStores.first)
      try mine.data.inOneTransaction(of: store) {
        let context = mine.context()
        context.fence = fence
        try context.insert("Item").setValue(.string("a"), forKey: "code")
        try context.save()
        isWaiting.pass()
        steps.append("commit")
        return ((), .commit)
      }
    }
    await isWaiting.arrivals(1)
    // Ends when the server has the other wait for the batch's row.
    async let waits = PostgresCluster.shared().sql(
      """
      DO $$ BEGIN
        WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid = ANY(
          SELECT pid FROM pg_stat_activity WHERE query LIKE '%lade_fence%')) LOOP
          PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
        END LOOP;
      END $$
      """)
    let raise = Task(executorPreference: QueueExecutor()) {
      _ = try JobFence.raise("queue/1", to: 2, in: theirs.data)
      steps.append("raised")
      return try theirs.count("Item")
    }
    _ = try await waits
    isWaiting.open()
    try await batch.value
    #expect(try await raise.value == 1)
    #expect(steps.all == ["commit", "raised"])
  }
}
