import Foundation
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Submitting", .timeLimit(.minutes(20)))
struct SubmitTests {
  @Test("a job is in the store when it was submitted, with all that was said of it", arguments: StoreKind.allCases)
  func submitting(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    var submission = JobSubmission(
      kind: "noop", source: "people.csv", store: "shop", entity: "Person", recipe: "people", mode: .upsert,
      lane: "import", priority: 7, tags: ["nightly", "hr"], maxAttempts: 4, options: ["delimiter": .string(";")],
      submittedBy: "anna")
    submission.activeName = "1-people.csv"
    submission.format = "csv"
    submission.origin = .spool("1:2:3")
    let job = try await queue.submit(submission)
    #expect(job.id > 0 && job.state == .available && job.submittedAt == house.clock.now)
    #expect((job.kind, job.lane, job.priority, job.maxAttempts) == ("noop", "import", 7, 4))
    #expect((job.store, job.entity, job.mode, job.recipe) == ("shop", "Person", .upsert, "people"))
    #expect((job.source, job.activeName, job.format) == ("people.csv", "1-people.csv", "csv"))
    #expect(job.tags == ["nightly", "hr"] && job.origin == .spool("1:2:3") && job.submittedBy == "anna")
    #expect(try job.decodeOptions(as: [String: String].self) == ["delimiter": ";"])
    var read = try await queue.job(job.id, withTransitions: true)
    #expect(read.transitions?.map(\.reason) == ["submitted"] && read.transitions?.first?.by == "anna")
    #expect(read.after == [])
    read.transitions = nil
    read.after = nil
    #expect(read == job)
    // What has no coding key stays in the process.
    var sent = job
    (sent.activeName, sent.format, sent.options, sent.origin) = (nil, nil, "{}", nil)
    #expect(try JSONDecoder().decode(Job.self, from: JSONEncoder().encode(job)) == sent)
  }

  @Test(
    "of many jobs those that can't be made are reported, and the others made, in one save",
    arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let known = try await queue.submit(.of("noop").with { $0.uniqueKey = "one" })
    let saves = Shared<Int>()
    let observation = queue.ledger.queue.observeSaves { _ in saves.append(1) }
    defer { observation.cancel() }
    let answers = try await queue.submit([
      .of("noop", priority: 3), .of("bakup"), .of("noop").with { $0.uniqueKey = "one" },
      .of("noop").with { $0.after = [JobDependency(job: 999)] }, .of("noop").with { $0.uniqueKey = "two" },
      .of("noop").with { $0.uniqueKey = "two" }, .of("noop").with { $0.batch = 7 },
      .of("noop").with { $0.after = [JobDependency(job: known.id)] },
    ])
    #expect(saves.all.count == 1)
    #expect(answers[1] == .refused(.unknownKind("bakup", known: ["noop"])))
    #expect(answers[2] == .known(known.id))
    #expect(answers[3] == .refused(.noSuchJob(999)))
    let second = try answers[4].number
    #expect(answers[5] == .known(second) && answers[4].isNew)
    #expect(answers[6] == .refused(.noSuchBatch(7)))
    let last = try await queue.job(try answers[7].number, withTransitions: true)
    #expect(last.isAwaitingJobs && last.transitions?.count == 1)
    #expect(try await queue.jobs().count == 4)
    #expect(try await queue.job(try answers[0].number).priority == 3)
    try await queue.start()
    for answer in answers where answer.isNew {
      #expect(try await queue.whenEnded(try answer.number).state == .completed)
    }
    #expect(try await queue.counts()[.completed] == 4)
  }

  @Test("of many jobs none is made when the store can't be written", arguments: StoreKind.allCases)
  func manyOnAFullDisk(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    house.faults.isFailing = true
    await #expect(throws: ManagedObjectError.self) { try await queue.submit([.of("noop"), .of("noop")]) }
    house.faults.isFailing = false
    #expect(try await queue.jobs().isEmpty)
    #expect(try await queue.submit([.of("noop"), .of("noop")]).filter(\.isNew).count == 2)
    #expect(try await queue.jobs().count == 2)
  }

  @Test("an unknown kind is refused and the known ones are named", arguments: StoreKind.allCases)
  func unknownKind(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue(["backup": { _ in .completed(JobProgress()) }])
    let error = await #expect(throws: JobQueueError.self) { try await queue.submit(.of("bakup")) }
    #expect(error == .unknownKind("bakup", known: ["backup", "noop"]))
    #expect(error?.description == "no job is of the kind bakup: it must be one of backup, noop")
  }

  @Test("what can't be taken is refused with what is wrong", arguments: StoreKind.allCases)
  func refusals(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let bad: [JobSubmission] = [
      .of("noop", lane: "fast"), .of("noop").with { $0.maxAttempts = 0 }, .of("noop").with { $0.tags = ["a|b"] },
      .of("noop").with { $0.tags = (1...101).map(String.init) }, .of("noop", priority: 1 << 40),
    ]
    for submission in bad { await #expect(throws: JobQueueError.self) { try await queue.submit(submission) } }
    #expect(try await queue.jobs().isEmpty)
  }

  @Test(
    "one spool entry makes one job until its file has arrived, also when that was cancelled",
    arguments: StoreKind.allCases)
  func spoolEntry(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let entry = JobSubmission.of("noop").with {
      $0.origin = .spool("12:34:56:a.csv")
      $0.awaitsFile = true
    }
    let first = try await queue.submit(entry)
    #expect(try await queue.submit(entry).id == first.id)
    _ = try await queue.cancel(first.id, by: "ben")
    #expect(try await queue.submit(entry).id == first.id)
    _ = try await queue.fileArrived(first.id, activeName: "1-a.csv", by: "spool")
    // It was put there again.
    let again = try await queue.submit(entry)
    #expect(again.id != first.id && again.state == .scheduled)
    _ = try await queue.withdraw(again.id, reason: "its file was withdrawn")
    #expect(try await queue.job(again.id).state == .cancelled)
    #expect(try await queue.submit(entry).id > again.id)
  }

  @Test("a schedule's time makes one job for ever", arguments: StoreKind.allCases)
  func scheduledTime(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let run = JobSubmission.of("noop").with {
      $0.origin = .schedule(name: "nightly", time: "2023-11-14 22:20:00")
      $0.awaitsFile = true
    }
    let first = try await queue.submit(run)
    _ = try await queue.fileArrived(first.id, activeName: nil, by: "schedule nightly")
    try await queue.start()
    _ = try await queue.whenEnded(first.id)
    let again = try await queue.submit(run)
    #expect(again.id == first.id && again.state == .completed)
    #expect(again.origin == run.origin)
  }

  @Test("a unique key is free again when its job has ended", arguments: StoreKind.allCases)
  func uniqueKey(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let nightly = JobSubmission.of("noop").with { $0.uniqueKey = "nightly" }
    let first = try await queue.submit(nightly)
    #expect(try await queue.submit(nightly).id == first.id)
    try await queue.start()
    _ = try await queue.whenEnded(first.id)
    #expect(try await queue.submit(nightly).id != first.id)
  }

  @Test("submissions of one entry at the same time make one job", arguments: StoreKind.allCases)
  func concurrentSubmissions(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await queue.submit(.of("noop").with { $0.origin = .spool("entry \(number % 3)") }).id
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 3)
    #expect(try await queue.jobs().count == 3)
  }

  @Test("a number isn't given again after the last job was deleted", arguments: StoreKind.allCases)
  func numbers(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let last = try await queue.submit(.of("noop"))
    let context = ContextQueue(.privateQueue, coordinator: house.coordinator)
    try await context.perform { context in
      let id = try house.coordinator.managedObjectID(entity: QueueModel.job, number: last.id)
      context.delete(try context.existingObject(with: id))
      try context.save()
      let steps = FetchRequest<TransitionRecord>(entityName: QueueModel.transition)
      #expect(try context.count(for: steps) == 0)
    }
    #expect(try await queue.submit(.of("noop")).id > last.id)
    await #expect(throws: JobQueueError.noSuchJob(last.id)) { try await queue.job(last.id) }
  }

  @Test(
    "a submission that can't be written is reported to the submitter, and nothing is left of it",
    arguments: StoreKind.allCases)
  func failingSave(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    house.faults.isFailing = true
    let error = await #expect(throws: ManagedObjectError.self) { try await queue.submit(.of("noop")) }
    #expect(error?.description.contains("full") == true)
    house.faults.isFailing = false
    #expect(try await queue.jobs().isEmpty)
    let job = try await queue.submit(.of("noop"))
    #expect(try await queue.jobs().map(\.id) == [job.id])
    #expect(try await queue.counts()[.available] == 1)
  }

  @Test("a refused request doesn't take others of its transaction with it", arguments: StoreKind.allCases)
  func sharedTransaction(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let done = try await queue.submit(.of("noop"))
    _ = try await queue.cancel(done.id, by: "ben")
    let taken = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask {
          do {
            _ = number % 2 == 0 ? try await queue.submit(.of("noop")) : try await queue.cancel(done.id, by: "ben")
            return true
          } catch {
            #expect(error is JobQueueError)
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 20)
    #expect(try await queue.counts()[.available] == 20)
    #expect(try await queue.jobs().count == 21)
  }
}
