import Foundation
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Schedules", .timeLimit(.minutes(20)))
struct ScheduleTests {
  // The clock begins at 2023-11-14 22:13:20.123456.

  static func schedule(
    _ calendar: String..., kind: String = "noop", change: (inout JobSchedule) -> Void = { _ in }
  ) throws -> JobSchedule {
    var schedule = JobSchedule(
      name: "nightly", calendar: try calendar.map { try CalendarExpression($0) }, submission: .of(kind))
    change(&schedule)
    return schedule
  }

  static func date(_ text: String) throws -> Date { try Date(text + "Z", strategy: .iso8601) }

  /// The jobs there are, oldest first.
  static func jobs(_ queue: JobQueue) async throws -> [Job] {
    // Whatever follows from the clock has been put in line by now.
    await queue.ledger.queue.perform { _ in }
    return try await queue.jobs(JobFilter(newestFirst: false))
  }

  /// The same, when all have ended.
  static func ended(_ queue: JobQueue) async throws -> [Job] {
    var ended: [Job] = []
    for job in try await jobs(queue) { ended.append(try await queue.whenEnded(job.id)) }
    return ended
  }

  @Test("make a job at each of their times, with one timer to the next", arguments: StoreKind.allCases)
  func elapses(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(schedules: [try Self.schedule("*:0/10", "22:25")])
    try await queue.start()
    for time in ["22:20", "22:25", "22:30", "22:40"] {
      let next = try Self.date("2023-11-14T\(time):00")
      #expect(house.clock.scheduled == [next])
      #expect(try await queue.schedules().first?.nextAt == next)
      house.clock.set(to: next)
      let job = try #require(try await Self.jobs(queue).last)
      #expect(job.submittedAt == next && job.submittedBy == "schedule nightly" && job.kind == "noop")
      #expect(try await queue.whenEnded(job.id).state == .completed)
      #expect(try await queue.schedules().first?.lastAt == next)
    }
    #expect(try await Self.ended(queue).count == 4)
    #expect(house.clock.scheduled.count == 1)
  }

  @Test(
    "that were missed while nothing ran, or the machine slept, are caught up by one job, or skipped",
    arguments: StoreKind.allCases, Schedule.CatchUp.allCases)
  func missed(_ kind: StoreKind, _ catchUp: Schedule.CatchUp) async throws {
    let house = try TestHouse(kind)
    let schedules = [try Self.schedule("02:30") { $0.catchUp = catchUp }]
    let first = try house.queue(schedules: schedules)
    try await first.start()
    await first.drain(timeout: .seconds(10))
    house.clock.advance(by: 5 * 86_400)
    let queue = try house.queue(schedules: schedules)
    try await queue.start()
    var expected = catchUp == .once ? 1 : 0
    #expect(try await Self.ended(queue).count == expected)
    let status = try #require(try await queue.schedules().first)
    #expect(status.lastAt == (try Self.date("2023-11-19T02:30:00")))
    #expect(status.nextAt == (try Self.date("2023-11-20T02:30:00")))
    #expect(
      status.lastOutcome
        == (catchUp == .once ? "a job was made for what was missed" : "left out, for it was missed")
        + ": 5 times, the last late by 19 h 43 min")
    // Asleep over three of them.
    house.clock.advance(by: 3 * 86_400)
    expected += catchUp == .once ? 1 : 0
    #expect(try await Self.ended(queue).count == expected)
    // On time, if not to the second.
    house.clock.set(to: try Self.date("2023-11-23T02:30:20"))
    #expect(try await Self.ended(queue).count == expected + 1)
    #expect(try await queue.schedules().first?.lastOutcome == "a job was made")
  }

  @Test("that were missed more often than is counted say so", arguments: StoreKind.allCases)
  func missedOften(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(schedules: [try Self.schedule("*:*:*")])
    try await queue.start()
    house.clock.set(to: try Self.date("2023-11-14T22:13:50.5"))
    #expect(try await Self.ended(queue).count == 1)
    let words = "a job was made for what was missed: "
    #expect(try await queue.schedules().first?.lastOutcome == words + "30 times, the last late by 0 s")
    house.clock.advance(by: 86_400)
    #expect(try await Self.ended(queue).count == 2)
    #expect(try await queue.schedules().first?.lastOutcome == words + "1000+ times, the last late by 0 s")
  }

  @Test(
    "that are new, changed, back in the configuration or enabled again make nothing for the past",
    arguments: StoreKind.allCases)
  func begins(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let daily = try Self.schedule("02:30")
    let paris = JobSchedule(
      name: "nightly", calendar: [try CalendarExpression("02:30", zone: CalendarZone(named: "Europe/Paris"))],
      submission: daily.submission)
    let off = try Self.schedule("02:30") { $0.isEnabled = false }
    for schedules in [[daily], [try Self.schedule("03:30")], [paris], [], [daily], [off], [daily]] {
      let queue = try house.queue(schedules: schedules)
      try await queue.start()
      #expect(try await Self.jobs(queue).isEmpty)
      let next = try await queue.schedules().first?.nextAt
      #expect((next == nil) == (schedules == [] || schedules == [off]))
      #expect(house.clock.scheduled == (next.map { [$0] } ?? []))
      await queue.drain(timeout: .seconds(10))
      house.clock.advance(by: 2 * 86_400)
    }
    // The same again catches up.
    let queue = try house.queue(schedules: [daily])
    try await queue.start()
    #expect(try await Self.ended(queue).count == 1)
  }

  @Test("are left out while the job before hasn't ended, with the reason", arguments: StoreKind.allCases)
  func overlap(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(
      [
        "work": { _ in
          gate.pass(); return .completed(JobProgress())
        }
      ], schedules: [try Self.schedule("*:0/10", kind: "work")])
    try await queue.start()
    house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
    await gate.arrivals(1)
    for minute in [30, 40] {
      let time = try Self.date("2023-11-14T22:\(minute):00")
      house.clock.set(to: time)
      #expect(try await Self.jobs(queue).count == 1)
      let status = try #require(try await queue.schedules().first)
      #expect(status.lastAt == time && status.lastJob == 1 && status.lastState == .running)
      #expect(status.lastOutcome == "left out: job 1 of the run before is running")
    }
    gate.open(2)
    _ = try await queue.whenEnded(1)
    house.clock.set(to: try Self.date("2023-11-14T22:50:00"))
    #expect(try await Self.ended(queue).map(\.state) == [.completed, .completed])
    let latest = try #require(try await queue.schedules().first)
    #expect(latest.lastJob == 2 && latest.lastState == .completed)
  }

  @Test("are left out while they are paused, also after a restart, and go on from then", arguments: StoreKind.allCases)
  func paused(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let schedules = [try Self.schedule("*:0/10")]
    var queue = try house.queue(schedules: schedules)
    try await queue.start()
    let paused = try await queue.pause(schedule: "nightly", by: "ada")
    #expect(paused.pausedBy == "ada" && paused.pausedAt == house.clock.now)
    #expect(try await queue.pause(schedule: "nightly", by: "bob").pausedBy == "ada", "who was first")
    house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
    #expect(try await Self.jobs(queue).isEmpty)
    #expect(try await queue.schedules().first?.lastOutcome == "left out: paused by ada")
    await queue.drain(timeout: .seconds(10))

    queue = try house.queue(schedules: schedules)
    try await queue.start()
    house.clock.set(to: try Self.date("2023-11-14T22:30:00"))
    #expect(try await Self.jobs(queue).isEmpty)
    let byHand = try await queue.run(schedule: "nightly", by: "ada")
    #expect(try await queue.whenEnded(byHand.id).state == .completed)
    await queue.drain(timeout: .seconds(10))

    // Nothing was there at 22:40 to leave it out.
    house.clock.set(to: try Self.date("2023-11-14T22:45:00"))
    queue = try house.queue(schedules: schedules)
    try await queue.start()
    let resumed = try await queue.resume(schedule: "nightly", by: "ada")
    #expect(resumed.pausedBy == nil && resumed.pausedAt == nil)
    #expect(try await Self.jobs(queue).map(\.id) == [byHand.id])
    let next = try Self.date("2023-11-14T22:50:00")
    #expect(try await queue.schedules().first?.nextAt == next)
    house.clock.set(to: next)
    #expect(try await Self.ended(queue).count == 2)
    await #expect(throws: JobQueueError.noSuchSchedule("never", known: ["nightly"])) {
      try await queue.pause(schedule: "never", by: "ada")
    }
  }

  @Test("show their latest jobs, by the calendar and by hand, the latest first", arguments: StoreKind.allCases)
  func recent(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    var other = try Self.schedule("22:25")
    other.name = "nightly2"
    let queue = try house.queue(schedules: [try Self.schedule("*:0/1"), other])
    try await queue.start()
    let byHand = try await queue.run(schedule: "nightly", by: "ada")
    _ = try await queue.whenEnded(byHand.id)
    for minute in 15..<45 {
      house.clock.set(to: try Self.date("2023-11-14T22:\(minute):00"))
      _ = try await Self.ended(queue)
    }
    let schedules = try await queue.schedules()
    let all = try await Self.jobs(queue)
    let own = all.filter { $0.submittedBy != "schedule nightly2" }.map(\.id)
    #expect(schedules[0].recent.map(\.id) == Array(own.reversed().prefix(Schedule.mostRecent)))
    #expect(schedules[0].recent.allSatisfy { $0.state == .completed && $0.seconds == 0 })
    #expect(schedules[1].recent.map(\.id) == all.filter { $0.submittedBy == "schedule nightly2" }.map(\.id))
    #expect(schedules[1].recent.count == 1)
  }

  @Test("do nothing twice when the clock is set back", arguments: StoreKind.allCases)
  func setBack(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let schedules = [try Self.schedule("*:0/10")]
    let first = try house.queue(schedules: schedules)
    try await first.start()
    house.clock.set(to: try Self.date("2023-11-14T22:40:00"))
    #expect(try await Self.ended(first).count == 1)
    house.clock.set(to: try Self.date("2023-11-14T22:15:00"))
    house.clock.set(to: try Self.date("2023-11-14T22:40:00"))
    #expect(try await Self.ended(first).count == 1)
    await first.drain(timeout: .seconds(10))
    // And while nothing ran.
    house.clock.set(to: try Self.date("2023-11-14T21:55:00"))
    let queue = try house.queue(schedules: schedules)
    try await queue.start()
    #expect(try await queue.schedules().first?.nextAt == (try Self.date("2023-11-14T22:50:00")))
    house.clock.set(to: try Self.date("2023-11-14T22:49:00"))
    #expect(try await Self.ended(queue).count == 1)
    house.clock.set(to: try Self.date("2023-11-14T22:50:00"))
    #expect(try await Self.ended(queue).count == 2)
  }

  @Test(
    "go on after the clock was years ahead, and make nothing again that they made then", arguments: StoreKind.allCases)
  func setBackByYears(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let schedules = [try Self.schedule("*:0/10")]
    let first = try house.queue(schedules: schedules)
    try await first.start()
    house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
    #expect(try await Self.ended(first).count == 1)
    house.clock.set(to: try Self.date("2038-01-19T03:10:00"))
    #expect(try await Self.ended(first).count == 2)
    await first.drain(timeout: .seconds(10))
    house.clock.set(to: try Self.date("2023-11-14T22:19:00"))
    let queue = try house.queue(schedules: schedules)
    try await queue.start()
    #expect(house.clock.scheduled == [try Self.date("2023-11-14T22:20:00")])
    house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
    #expect(try await Self.ended(queue).count == 2)
    #expect(try await queue.schedules().first?.lastOutcome == "its job was made before")
    house.clock.set(to: try Self.date("2023-11-14T22:30:00"))
    #expect(try await Self.ended(queue).count == 3)
  }

  @Test("make one job for each time, whichever write is the last before a kill", arguments: StoreKind.allCases)
  func kills(_ kind: StoreKind) async throws {
    var isThrough = false
    var write = 0
    while !isThrough {
      let house = try TestHouse(kind)
      let schedules = [try Self.schedule("*:0/10")]
      house.faults.writesLeft = write
      let killed = try house.queue(schedules: schedules)
      var isBegun = false
      do {
        try await killed.start()
        isBegun = true
        house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
        while house.faults.refused == 0, try await Self.jobs(killed).contains(where: { !$0.state.isEnded }) {
          await Task.yield()
        }
        house.clock.set(to: try Self.date("2023-11-14T22:30:00"))
        await killed.ledger.queue.perform { _ in }
      } catch is ManagedObjectError {
        #expect(house.faults.refused > 0)
        house.clock.set(to: try Self.date("2023-11-14T22:30:00"))
      }
      isThrough = house.faults.refused == 0
      // The queue is left as by SIGKILL: of what it goes on to do nothing is written.
      house.faults.writesLeft = 0
      await killed.drain(timeout: .zero)
      while killed.state.running.contains(where: { !killed.state.isUnwritten($0.id) }) {
        await Task.yield()
      }
      await killed.ledger.queue.perform { _ in }
      killed.timer.cancel()
      house.faults.writesLeft = nil
      let queue = try house.queue(schedules: schedules)
      try await queue.start()
      _ = try await Self.ended(queue)
      for time in ["22:40", "22:50"] {
        house.clock.set(to: try Self.date("2023-11-14T\(time):00"))
        _ = try await Self.ended(queue)
      }
      let jobs = try await Self.ended(queue)
      let times = jobs.compactMap { $0.origin?.rawValue.suffix(8).prefix(5) }
      #expect(jobs.allSatisfy { $0.state == .completed } && Set(times).count == jobs.count)
      #expect(times.suffix(2) == ["22:40", "22:50"] && Set(times).isSubset(of: ["22:20", "22:30", "22:40", "22:50"]))
      // What was begun before the kill isn't lost: its run was made, or is caught up with.
      #expect(times.count > (isBegun ? 2 : 1), "after \(write) writes")
      write += 1
      await queue.drain(timeout: .seconds(10))
    }
    #expect(write > 4)
  }

  @Test("whose job couldn't be written make it a second later", arguments: StoreKind.allCases)
  func unwritten(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(schedules: [try Self.schedule("*:0/10")])
    try await queue.start()
    house.faults.isFailing = true
    house.clock.set(to: try Self.date("2023-11-14T22:20:00"))
    #expect(try await Self.jobs(queue).isEmpty)
    house.faults.isFailing = false
    house.clock.advance(by: 1)
    #expect(try await Self.jobs(queue).map(\.origin) == [.schedule(name: "nightly", time: "2023-11-14 22:20:00")])
  }

  @Test("that are spread are late by less than that, and the same at every start", arguments: StoreKind.allCases)
  func jitter(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let schedule = try Self.schedule("*:0/10") { $0.jitter = 3600 }
    let first = try house.queue(schedules: [schedule])
    try await first.start()
    let due = try #require(try await first.schedules().first?.nextAt)
    let bounds = (try Self.date("2023-11-14T22:20:00"), try Self.date("2023-11-14T22:30:00"))
    #expect(due > bounds.0 && due < bounds.1)
    await first.drain(timeout: .seconds(10))
    let queue = try house.queue(schedules: [schedule])
    try await queue.start()
    #expect(try await queue.schedules().first?.nextAt == due)
    house.clock.set(to: due.addingTimeInterval(-0.001))
    #expect(try await Self.jobs(queue).isEmpty)
    house.clock.set(to: due)
    #expect(try await Self.ended(queue).count == 1)
    #expect(try await queue.schedules().first?.lastAt == (try Self.date("2023-11-14T22:20:00")))
  }

  @Test("find the latest time that is due among millions, as one after the other would", arguments: [0.0, 7, 100])
  func latest(_ jitter: TimeInterval) throws {
    for text in ["*:*:0/7", "Mon *-*-1..7 *:0/15", "*-01-01 05:*:*", "2023-11-14 22:*:*"] {
      let schedule = try Self.schedule(text) { $0.jitter = jitter }
      var numbers = SeededNumbers(state: 3)
      for _ in 0..<20 {
        let start = Int64.random(in: 1_699_990_000...1_700_010_000, using: &numbers) * 1_000_000
        let now = start + Int64.random(in: 0...3_000, using: &numbers) * 1_000_000
        var expected: ScheduledElapse?
        var time = start
        while let next = schedule.next(after: time, queue: "q"), next.due <= now {
          expected = next
          time = next.time
        }
        #expect(schedule.latest(after: start, dueAt: now, queue: "q") == expected)
      }
      let century = schedule.latest(after: 0, dueAt: 4_000_000_000_000_000, queue: "q")
      #expect((century?.due ?? 0) > 1_600_000_000_000_000)
    }
  }

  @Test("that can't run are refused at the start, by name", arguments: StoreKind.allCases)
  func invalid(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let cases: [([JobSchedule], String)] = [
      (
        [try Self.schedule("daily", kind: "dust")],
        "schedule nightly can't run: no job is of the kind dust: it must be one of noop"
      ),
      ([try Self.schedule("daily"), try Self.schedule("weekly")], "schedule nightly can't run: it is there twice"),
      ([try Self.schedule()], "schedule nightly can't run: it has no calendar"),
    ]
    for (schedules, problem) in cases {
      let error = await #expect(throws: JobQueueError.self) { try await house.queue(schedules: schedules).start() }
      #expect(error?.description == problem)
    }
  }
}
