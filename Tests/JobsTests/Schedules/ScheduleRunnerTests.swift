import Foundation
import Logging
import ManagedObjects
import Synchronization
import Testing

@testable import Jobs

@Suite("The schedules' runner")
struct ScheduleRunnerTests {
  /// A queue that only notes what its schedules ask of it.
  private final class Asked: ScheduleRunner.Subject {
    private struct Notes {
      var wakes: [Date] = []
      var reports: [String] = []
    }
    private let notes = Mutex(Notes())
    let fetched: AsyncStream<(job: Int64, schedule: String)>
    private let fetching: AsyncStream<(job: Int64, schedule: String)>.Continuation

    init() { (fetched, fetching) = AsyncStream.makeStream() }

    var wakes: [Date] { notes.withLock(\.wakes) }
    var reports: [String] { notes.withLock(\.reports) }

    var isDraining: Bool { false }
    func wake(at time: Date) { notes.withLock { $0.wakes.append(time) } }
    func report(_ error: any Error, _ what: String) { notes.withLock { $0.reports.append(what) } }
    func isAwaitingFile(_ id: Int64) async throws -> Bool { true }
    func fetchFile(of job: Job, for schedule: String) async throws { fetching.yield((job.id, schedule)) }
  }

  private let house: TestHouse
  private let queue: JobQueue
  private let asked = Asked()

  init() throws {
    house = try TestHouse(.inMemory)
    // It isn't started: nothing but the runner of the test makes jobs.
    queue = try house.queue()
  }

  private func runner(_ schedules: [JobSchedule]) -> ScheduleRunner {
    ScheduleRunner(
      schedules, ledger: queue.ledger, clock: house.clock.clock, queue: "",
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Lets it do what is due, as the queue does when it wakes up.
  private func wakeUp(_ runner: ScheduleRunner) async throws {
    await queue.ledger.queue.perform { _ in runner.runDue(for: asked) }
  }

  @Test("makes the jobs that are due, and asks to be woken up for the next")
  func due() async throws {
    let runner = runner([try ScheduleTests.schedule("*:0/10")])
    try await queue.ledger.queue.perform { _ in try runner.begin(for: asked) }
    let times = [
      try ScheduleTests.date("2023-11-14T22:20:00"), try ScheduleTests.date("2023-11-14T22:30:00"),
    ]
    try await wakeUp(runner)
    #expect(asked.wakes == [times[0]])
    #expect(try await queue.jobs().isEmpty)
    house.clock.set(to: times[0])
    try await wakeUp(runner)
    #expect(asked.wakes == times)
    #expect(try await queue.jobs().map(\.submittedBy) == ["schedule nightly"])
    #expect(asked.reports.isEmpty)
  }

  @Test("has the file fetched of a job that waits for one, also after a restart")
  func files() async throws {
    let schedule = try ScheduleTests.schedule("*:0/10") { $0.submission.awaitsFile = true }
    let first = runner([schedule])
    try await queue.ledger.queue.perform { _ in try first.begin(for: asked) }
    let job = try await first.run("nightly", by: "anna", for: asked)
    var fetched = asked.fetched.makeAsyncIterator()
    #expect(await fetched.next().map { $0 == (job.id, "nightly") } == true)
    let second = runner([schedule])
    try await queue.ledger.queue.perform { _ in try second.begin(for: asked) }
    #expect(await fetched.next().map { $0 == (job.id, "nightly") } == true)
  }

  @Test("cancels at a start a job that waits for a file which no schedule fetches any more")
  func unfetchable() async throws {
    let nightly = try ScheduleTests.schedule("*:0/10") { $0.submission.awaitsFile = true }
    let weekly = try ScheduleTests.schedule("*:0/20") {
      $0.name = "weekly"
      $0.submission.awaitsFile = true
    }
    let first = runner([nightly, weekly])
    try await queue.ledger.queue.perform { _ in try first.begin(for: asked) }
    let kept = try await first.run("nightly", by: "anna", for: asked)
    let left = try await first.run("weekly", by: "anna", for: asked)
    let second = runner([nightly])
    try await queue.ledger.queue.perform { _ in try second.begin(for: asked) }
    #expect(try await queue.job(kept.id).state == .scheduled)
    let ended = try await queue.job(left.id)
    #expect(ended.state == .cancelled)
    #expect(ended.reason?.contains("schedule weekly, whose file it waited for") == true, "\(ended.reason ?? "")")
  }

  @Test(
    "goes on after a restart although a job that waits for its file can't be read, and fetches it as soon as it can")
  func unreadableAtStart() async throws {
    let schedule = try ScheduleTests.schedule("*:0/10") { $0.submission.awaitsFile = true }
    let first = runner([schedule])
    try await queue.ledger.queue.perform { _ in try first.begin(for: asked) }
    let job = try await first.run("nightly", by: "anna", for: asked)
    var fetched = asked.fetched.makeAsyncIterator()
    _ = await fetched.next()
    // The other one is new, so that the start writes, and reads fail from there on.
    let other = try ScheduleTests.schedule("*:0/20") { $0.name = "other" }
    let second = runner([schedule, other])
    house.faults.failsReadingAfterWrite = true
    try await queue.ledger.queue.perform { _ in try second.begin(for: asked) }
    #expect(asked.reports == ["the latest job of schedule nightly couldn't be read to fetch its file"])
    house.faults.failsReadingAfterWrite = false
    try await wakeUp(second)
    #expect(await fetched.next().map { $0 == (job.id, "nightly") } == true)
    // The other schedule runs as if nothing had happened.
    house.clock.set(to: try ScheduleTests.date("2023-11-14T22:20:00"))
    try await wakeUp(second)
    #expect(try await queue.jobs().map(\.submittedBy).contains("schedule other"))
    #expect(asked.reports.count == 1)
  }

  @Test("names the schedules there are when it is asked for another")
  func unknown() async throws {
    let runner = runner([try ScheduleTests.schedule("daily")])
    await #expect(throws: JobQueueError.noSuchSchedule("hourly", known: ["nightly"])) {
      try await runner.run("hourly", by: "anna", for: asked)
    }
  }

  @Test("reports a job that couldn't be made, and makes it the next time")
  func fullDisk() async throws {
    let runner = runner([try ScheduleTests.schedule("*:0/10")])
    try await queue.ledger.queue.perform { _ in try runner.begin(for: asked) }
    try await wakeUp(runner)
    house.clock.set(to: try ScheduleTests.date("2023-11-14T22:20:00"))
    house.faults.isFailing = true
    try await wakeUp(runner)
    #expect(asked.reports == ["the job of a schedule couldn't be made"])
    house.faults.isFailing = false
    try await wakeUp(runner)
    #expect(try await queue.jobs().count == 1)
  }

  @Test("fetches the file of a job that it has made but couldn't read, as soon as it can")
  func unreadable() async throws {
    let runner = runner([try ScheduleTests.schedule("*:0/10") { $0.submission.awaitsFile = true }])
    try await queue.ledger.queue.perform { _ in try runner.begin(for: asked) }
    try await wakeUp(runner)
    house.clock.set(to: try ScheduleTests.date("2023-11-14T22:20:00"))
    let next = try ScheduleTests.date("2023-11-14T22:30:00")
    house.faults.failsReadingAfterWrite = true
    for _ in 0..<2 { try await wakeUp(runner) }
    let report = "the latest job of schedule nightly couldn't be read to fetch its file"
    #expect(asked.reports == [report, report])
    // It is made, and the next is waited for.
    #expect(asked.wakes.last == next)
    house.faults.failsReadingAfterWrite = false
    for _ in 0..<2 { try await wakeUp(runner) }
    #expect(asked.reports.count == 2)
    let job = try #require(try await queue.jobs().first)
    // Once: the second is of a run by hand.
    var fetched = asked.fetched.makeAsyncIterator()
    #expect(await fetched.next().map { $0 == (job.id, "nightly") } == true)
    _ = try await queue.cancel(job.id, by: "anna")
    let second = try await runner.run("nightly", by: "anna", for: asked)
    #expect(await fetched.next().map { $0 == (second.id, "nightly") } == true)
  }
}
