import Foundation
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import Jobs

@Suite(
  "A queue that several daemons share",
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"), .timeLimit(.minutes(30)))
struct SharedQueueTests {
  private func settings(_ change: (inout QueueMember.Settings) -> Void) -> QueueMember.Settings {
    var settings = QueueMember.Settings()
    change(&settings)
    return settings
  }

  private func host(_ name: String, _ way: QueueMember.Way = .direct) -> QueueMember.Settings {
    settings {
      $0.host = name
      $0.way = way
    }
  }

  private func stop(_ members: [QueueMember]) async throws {
    for member in members { #expect(try await member.stop().isEmpty) }
  }

  @Test("runs each job once, on whichever daemon it was submitted", arguments: QueueMember.Way.present)
  func once(_ way: QueueMember.Way) async throws {
    let schema = PostgresCluster.newSchema()
    let ran = Shared<Int64>()
    var members: [QueueMember] = []
    for _ in 1...3 {
      members.append(
        try await QueueMember(schema, host("here", way)) { operation in
          ran.append(operation.job.id)
          return .completed(JobProgress(records: 1))
        })
    }
    var ids: [Int64] = []
    for round in 0..<60 { ids.append(try await members[round % 3].queue.submit(.of("work")).id) }
    // Each is waited for by one that may not have run it.
    for (place, id) in ids.enumerated() {
      let end = try await members[(place + 1) % 3].queue.whenEnded(id)
      #expect(end.state == .completed && end.claim == 1)
    }
    #expect(ran.all.sorted() == ids.sorted())
    try await stop(members)
  }

  @Test("claims a job in the transaction that ends the one before", arguments: QueueMember.Way.present)
  func together(_ way: QueueMember.Way) async throws {
    let member = try await QueueMember(
      PostgresCluster.newSchema(),
      settings {
        $0.way = way
        $0.lanes = [.init(name: "import", concurrency: 1)]
      }
    ) { _ in .completed(JobProgress()) }
    _ = try await member.queue.pause(lane: "import", by: "test")
    var ids: [Int64] = []
    for _ in 0..<10 { ids.append(try await member.queue.submit(.of("work")).id) }
    _ = try await member.queue.resume(lane: "import", by: "test")
    for id in ids { _ = try await member.queue.whenEnded(id) }
    var jobs: [Job] = []
    for id in ids { jobs.append(try await member.queue.job(id)) }
    #expect(jobs.dropFirst().map(\.startedAt) == jobs.dropLast().map(\.endedAt))
    try await stop([member])
  }

  @Test("writes an end although the claim that shares its transaction fails")
  func endWithoutClaim() async throws {
    let server = try PostgresCluster.shared()
    let schema = PostgresCluster.newSchema()
    let member = try await QueueMember(schema, settings { $0.lanes = [.init(name: "import", concurrency: 1)] }) { _ in
      .completed(JobProgress())
    }
    _ = try await member.queue.pause(lane: "import", by: "test")
    let first = try await member.queue.submit(.of("work"))
    let second = try await member.queue.submit(.of("work"))
    try await server.sql(
      #"""
      CREATE FUNCTION "\#(schema)".refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
      CREATE TRIGGER refused BEFORE UPDATE ON "\#(schema)"."Job" FOR EACH ROW WHEN (NEW.id = \#(second.id))
      EXECUTE FUNCTION "\#(schema)".refuse()
      """#)
    _ = try await member.queue.resume(lane: "import", by: "test")
    #expect(try await member.queue.whenEnded(first.id).state == .completed)
    #expect(try await member.queue.job(second.id).state == .available)
    try await server.sql(#"DROP TRIGGER refused ON "\#(schema)"."Job""#)
    #expect(try await member.queue.whenEnded(second.id).state == .completed)
    try await stop([member])
  }

  @Test(
    "puts back the jobs of a daemon whose lease is over, and takes nothing from it any more",
    arguments: QueueMember.Way.present)
  func rescue(_ way: QueueMember.Way) async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    let stopped = try await QueueMember(schema, host("one", way)) { _ in
      gate.pass()
      return .failed(JobFailure(code: "x", message: "x", isRetryable: true), JobProgress())
    }
    let job = try await stopped.queue.submit(.of("work"))
    await gate.arrivals(1)
    // As by SIGSTOP: it neither renews its lease nor looks at anything.
    stopped.queue.sharing?.end()
    try await PostgresCluster.shared().sql(#"UPDATE "\#(schema)"."QueueLease" SET until = '2000-01-01'"#)
    let other = try await QueueMember(schema, host("two", way)) { _ in .completed(JobProgress(records: 1)) }
    let end = try await other.queue.whenEnded(job.id)
    #expect(end.state == .completed && end.claim == 3 && end.rescues == 1)
    gate.open()
    await #expect(throws: SupersededSave.self) { try await stopped.queue.submit(.of("work")) }
    #expect(await stopped.queue.drain(timeout: .seconds(60)).isEmpty)
    #expect(try await other.queue.job(job.id) == end)
    #expect(
      try await other.queue.reasons(job.id) == [
        "submitted", "attempt 1 of 5", "the daemon on one that ran it is gone", "attempt 1 of 5", "done",
      ])
    #expect(try await other.queue.daemons().map(\.host) == ["two"])
    try await stop([other])
  }

  @Test("goes on at once with the jobs of a daemon that has stopped, and shows those that are there")
  func leaving() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, host("one")) { operation in
      while !operation.isDraining { usleep(1000) }
      return .interrupted(JobProgress())
    }
    let job = try await one.queue.submit(.of("work"))
    _ = try await one.queue.job(job.id, when: .running)
    let two = try await QueueMember(schema, host("two"))
    let daemons = try await two.queue.daemons()
    #expect(daemons.map(\.host) == ["one", "two"] && daemons.map(\.running) == [1, 0])
    #expect(daemons.map(\.isThis) == [false, true] && daemons.allSatisfy { $0.leaseUntil != nil })
    #expect(try await one.stop().isEmpty)
    let end = try await two.queue.whenEnded(job.id)
    #expect(end.state == .completed && end.claim == 2)
    await two.poll()
    #expect(try await two.queue.daemons().map(\.host) == ["two"])
    try await stop([two])
  }

  @Test("leaves jobs with files to the host that has them, and waits for a host where no daemon works")
  func hosts() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, host("one")) { .completed(JobProgress(), note: "one, \($0.job.claim)") }
    let two = try await QueueMember(schema, host("two")) { .completed(JobProgress(), note: "two, \($0.job.claim)") }
    let withFile = JobSubmission.of("work").with { $0.activeName = "a.csv" }
    for (member, host) in [(one, "one"), (two, "two")] {
      for _ in 1...5 {
        let job = try await member.queue.submit(withFile)
        #expect(try await member.queue.whenEnded(job.id).note == "\(host), 1")
      }
    }
    let held = try await one.queue.submit(withFile.with { $0.isHeld = true })
    #expect(try await one.stop().isEmpty)
    await two.poll()
    await two.poll()
    _ = try await two.queue.release(held.id, by: "ben")
    await two.poll()
    let waiting = try await two.queue.job(held.id)
    #expect(waiting.state == .available && waiting.obstacle == .file)
    #expect(waiting.waitsFor == "host one, which has its files, and where no daemon works")
    // The host is the same, whatever daemon works there.
    let again = try await QueueMember(schema, host("one")) { .completed(JobProgress(), note: "again, \($0.job.claim)") }
    #expect(try await again.queue.whenEnded(held.id).note == "again, 1")
    try await stop([again, two])
  }

  @Test("leaves what is done about files to the host that has them")
  func elsewhere() async throws {
    let schema = PostgresCluster.newSchema()
    let settled = Shared<String>()
    func member(_ name: String) async throws -> QueueMember {
      try await QueueMember(
        schema,
        settings {
          $0.host = name
          $0.delegate = TestDelegate(finished: { job in settled.append("\(name) \(job.id)") })
        })
    }
    let (one, two) = (try await member("one"), try await member("two"))
    let job = try await one.queue.submit(
      .of("work").with {
        $0.activeName = "a.csv"
        $0.isHeld = true
      })
    _ = try await two.queue.cancel(job.id, by: "ben")
    #expect(try await two.queue.whenEnded(job.id).state == .cancelled)
    #expect(settled.all.isEmpty)
    // As the daemon does where it finds the file.
    #expect(try await one.queue.settle([job.id]) == [])
    _ = try await one.queue.whenEnded(job.id)
    #expect(settled.all == ["one \(job.id)"])
    await #expect(
      throws: JobQueueError.refused(
        id: job.id, why: "has its files on host one: retry it through a daemon there")
    ) { try await two.queue.retry(job.id, by: "ben") }
    await two.poll()
    await #expect(
      throws: JobQueueError.refused(
        id: job.id, why: "has its files on host one: remove it through a daemon there")
    ) { try await two.queue.remove(job.id, by: "ben") }
    _ = try await one.queue.remove(job.id, by: "ben")
    try await stop([one, two])
  }

  @Test(
    "stops a job that was cancelled through another daemon, and follows a lane that was paused there",
    arguments: QueueMember.Way.present)
  func others(_ way: QueueMember.Way) async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, host("one", way)) { operation in
      while !operation.isCancelled { usleep(1000) }
      return .cancelled(JobProgress())
    }
    let job = try await one.queue.submit(.of("work").with { $0.activeName = "a.csv" })
    _ = try await one.queue.job(job.id, when: .running)
    let two = try await QueueMember(schema, host("two", way))
    _ = try await two.queue.cancel(job.id, by: "ben")
    #expect(try await two.queue.whenEnded(job.id).state == .cancelled)
    _ = try await two.queue.pause(lane: "import", by: "ben")
    await one.poll()
    #expect(try await one.queue.laneSnapshots().map(\.isPaused) == [true])
    try await stop([one, two])
  }

  @Test("tells a client that follows jobs on one daemon what another does")
  func events() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    let one = try await QueueMember(schema, host("one"), passing(gate))
    let two = try await QueueMember(schema, host("two"))
    await two.poll()
    let job = try await one.queue.submit(.of("work").with { $0.activeName = "a.csv" })
    #expect(try await two.queue.job(job.id, when: .running).state == .running)
    async let end = two.queue.job(job.id, when: .completed)
    gate.open()
    #expect(try await end.state == .completed)
    try await stop([one, two])
  }

  // MARK: What no two daemons may do at the same time

  @Test(
    "takes a job with a unique key in once, whichever daemons are asked at the same time",
    arguments: QueueMember.Way.present)
  func unique(_ way: QueueMember.Way) async throws {
    let schema = PostgresCluster.newSchema()
    var members: [QueueMember] = []
    for _ in 1...3 { members.append(try await QueueMember(schema, host("here", way))) }
    for round in 1...10 {
      let submission = JobSubmission.of("work").with {
        $0.uniqueKey = "key \(round)"
        $0.isHeld = true
      }
      let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
        for member in members {
          for _ in 1...4 { group.addTask { try await member.queue.submit(submission).id } }
        }
        return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
    }
    try await stop(members)
  }

  @Test("lets a job go on that comes to follow another while that ends elsewhere")
  func following() async throws {
    let schema = PostgresCluster.newSchema()
    let (one, two) = (try await QueueMember(schema), try await QueueMember(schema))
    for _ in 1...20 {
      let first = try await one.queue.submit(.of("work"))
      async let one = two.queue.submit(.of("work").with { $0.after = [JobDependency(job: first.id)] })
      async let other = two.queue.submit(.of("work").with { $0.after = [JobDependency(job: first.id)] })
      for follower in [try await one, try await other] {
        #expect(try await two.queue.whenEnded(follower.id).state == .completed)
      }
    }
    try await stop([one, two])
  }

  @Test("lets a job go on whose predecessors end on two daemons at the same time, and a batch's callback once")
  func joining() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    var members: [QueueMember] = []
    for name in ["one", "two"] { members.append(try await QueueMember(schema, host(name), passing(gate))) }
    for round in 1...10 {
      var before: [JobDependency] = []
      for member in members {
        before.append(
          JobDependency(job: try await member.queue.submit(.of("work").with { $0.activeName = "a.csv" }).id))
      }
      let follower = try await members[0].queue.submit(.of("work").with { $0.after = before })
      await gate.arrivals(round * 3 - 1)
      gate.open(3)
      #expect(try await members[1].queue.whenEnded(follower.id).state == .completed)
    }
    let batch = try await members[0].queue.submit(
      batch: BatchSubmission(
        jobs: (1...12).map { _ in BatchSubmission.Member(.of("work")) }, callback: .of("work"), submittedBy: "anna"))
    gate.open(13)
    let callback = try #require(batch.callback)
    #expect(try await members[1].queue.whenEnded(callback).claim == 1)
    let counted = try await members[1].queue.batch(batch.id)
    #expect(counted.pending == 0 && counted.failed == 0 && counted.total == 12)
    try await stop(members)
  }

  @Test("runs no more jobs of a lane than all daemons may together")
  func globalConcurrency() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    var lane = LaneConfiguration(name: "import", concurrency: 4)
    lane.globalConcurrency = 2
    var members: [QueueMember] = []
    for _ in 1...3 {
      members.append(try await QueueMember(schema, settings { $0.lanes = [lane] }, passing(gate)))
    }
    var ids: [Int64] = []
    for round in 0..<12 { ids.append(try await members[round % 3].queue.submit(.of("work")).id) }
    for number in 0..<12 {
      await gate.arrivals(min(number + 2, 12))
      for member in members { await member.poll() }
      gate.open()
    }
    for id in ids { #expect(try await members[0].queue.whenEnded(id).state == .completed) }
    #expect(gate.most == 2)
    try await stop(members)
  }

  @Test("begins no more jobs of a lane in a time than its rate says, on all daemons together")
  func rate() async throws {
    let schema = PostgresCluster.newSchema()
    let ran = Shared<Int64>()
    let (starts, began) = AsyncStream<Void>.makeStream()
    let lane = LaneConfiguration(name: "import", concurrency: 4, rate: RateLimit(jobs: 3, period: 86_400))
    var members: [QueueMember] = []
    for _ in 1...2 {
      members.append(
        try await QueueMember(schema, settings { $0.lanes = [lane] }) { operation in
          ran.append(operation.job.id)
          began.yield()
          return .completed(JobProgress())
        })
    }
    for round in 0..<10 { _ = try await members[round % 2].queue.submit(.of("work")) }
    var count = 0
    for await _ in starts {
      count += 1
      if count == 3 { break }
    }
    for member in members + members { await member.poll() }
    #expect(ran.all.count == 3)
    try await stop(members)
  }

  @Test("lets a job have its store alone, whichever daemons the others run on")
  func exclusive() async throws {
    let schema = PostgresCluster.newSchema()
    let inside = Mutex((shared: 0, alone: 0, met: 0))
    let work: ScriptedOperation.Script = { _ in
      inside.withLock { state in
        state.shared += 1
        if state.alone > 0 { state.met += 1 }
      }
      usleep(2000)
      inside.withLock { $0.shared -= 1 }
      return .completed(JobProgress())
    }
    let alone: ScriptedOperation.Script = { _ in
      inside.withLock { state in
        if state.shared > 0 || state.alone > 0 { state.met += 1 }
        state.alone += 1
      }
      usleep(2000)
      inside.withLock { $0.alone -= 1 }
      return .completed(JobProgress())
    }
    var members: [QueueMember] = []
    for _ in 1...3 { members.append(try await QueueMember(schema, settings { $0.alone = alone }, work)) }
    var ids: [Int64] = []
    for round in 0..<45 {
      let kind = round % 5 == 4 ? "alone" : "work"
      ids.append(try await members[round % 3].queue.submit(.of(kind).with { $0.store = "main" }).id)
    }
    for id in ids { #expect(try await members[0].queue.whenEnded(id).state == .completed) }
    #expect(inside.withLock(\.met) == 0)
    try await stop(members)
  }

  @Test(
    "claims no job of a store whose other jobs another daemon is about to claim, unless they may be there together",
    arguments: [(kind: "alone", isShared: true, isClaimed: false), ("work", false, false), ("work", true, true)])
  func storeLock(_ claim: (kind: String, isShared: Bool, isClaimed: Bool)) async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, looking())
    let two = try await QueueMember(schema, settings { $0.isStarted = false })
    // As between its look at the jobs of the store and its commit.
    let claiming = await HeldTurn.begin(of: two) { turn in
      _ = try turn.daemon?.lock("store main", isShared: claim.isShared, waits: true)
    }
    let job = try await one.queue.submit(.of(claim.kind).with { $0.store = "main" })
    if claim.isClaimed {
      #expect(try await one.queue.whenEnded(job.id).state == .completed)
    } else {
      for _ in 1...5 { await one.poll() }
      #expect(try await one.queue.job(job.id).state == .available)
    }
    try await claiming.end()
    while try await one.queue.job(job.id).state != .completed { await one.poll() }
    try await stop([one, two])
  }

  /// Waits until a daemon waits for what another one's transaction has locked, or something is the case.
  private func waits(on server: PostgresCluster, or isEnough: () async throws -> Bool) async throws {
    while try await server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0", try await !isEnough() {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  @Test("claims no job of a lane with a limit over all daemons while another is about to")
  func laneLock() async throws {
    let server = try PostgresCluster()
    var lane = LaneConfiguration(name: "import", concurrency: 2)
    lane.globalConcurrency = 1
    let limited = settings { $0.lanes = [lane] }
    let one = try await QueueMember("work", limited, on: server)
    let two = try await QueueMember("work", limited, on: server)
    let claiming = await HeldTurn.begin(of: two) { turn in
      _ = try turn.daemon?.lock("lane import", waits: true)
    }
    async let submitted = one.queue.submit(.of("work"))
    try await waits(on: server) { try await one.queue.jobs().contains { $0.state == .completed } }
    #expect(try await one.queue.jobs().map(\.state) == [.available])
    try await claiming.end()
    #expect(try await one.queue.whenEnded(submitted.id).state == .completed)
    try await stop([one, two])
  }

  @Test("claims the next job while another daemon is about to claim the first")
  func skipped() async throws {
    let server = try PostgresCluster()
    let one = try await QueueMember("work", on: server)
    let two = try await QueueMember("work", settings { $0.isStarted = false }, on: server)
    _ = try await one.queue.pause(lane: "import", by: "test")
    let first = try await one.queue.submit(.of("work"))
    let second = try await one.queue.submit(.of("work"))
    let claiming = await HeldTurn.begin(of: two) { turn in
      let locked = try turn.available(in: "import", besides: [], limit: 1).map(\.objectID.number)
      #expect(locked == [first.id])
    }
    _ = try await one.queue.resume(lane: "import", by: "test")
    let ends = Task { try await one.queue.whenEnded(second.id) }
    try await waits(on: server) { try await one.queue.jobs().contains { $0.id == second.id && $0.state == .completed } }
    #expect(try await one.queue.jobs().first { $0.id == second.id }?.state == .completed)
    #expect(try await one.queue.jobs().first { $0.id == first.id }?.state == .available)
    try await claiming.end()
    #expect(try await ends.value.state == .completed)
    #expect(try await one.queue.whenEnded(first.id).state == .completed)
    try await stop([one, two])
  }

  @Test("lets a job run whose dependencies are ended by two daemons at the same time")
  func dependenciesMetTogether() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema)
    let two = try await QueueMember(schema, settings { $0.isStarted = false })
    _ = try await one.queue.pause(lane: "import", by: "test")
    let first = try await one.queue.submit(.of("work"))
    let second = try await one.queue.submit(.of("work"))
    let last = try await one.queue.submit(
      .of("work").with {
        $0.after = [first, second].map { JobDependency(job: $0.id, condition: .ended) }
      })
    let ending = await HeldTurn.begin(of: two) { turn in
      try turn.apply(.cancelRequested, to: turn.job(second.id), reason: "not wanted", by: "test")
    }
    _ = try await one.queue.cancel(first.id, by: "test")
    try await ending.end()
    try #require(try await one.queue.job(last.id).state == .available)
    _ = try await one.queue.resume(lane: "import", by: "test")
    #expect(try await one.queue.whenEnded(last.id).state == .completed)
    try await stop([one, two])
  }

  @Test("makes one job of each elapse of a schedule that all daemons have", arguments: QueueMember.Way.present)
  func schedules(_ way: QueueMember.Way) async throws {
    let schema = PostgresCluster.newSchema()
    let schedule = JobSchedule(
      name: "often", calendar: [try CalendarExpression("*:*:*")], submission: .of("work"))
    let ran = Shared<Int64>()
    var members: [QueueMember] = []
    for _ in 1...3 {
      members.append(
        try await QueueMember(
          schema,
          settings {
            $0.schedules = [schedule]
            $0.way = way
          }
        ) { operation in
          ran.append(operation.job.id)
          return .completed(JobProgress())
        })
    }
    var ended = Set<Int64>()
    for await job in members[0].queue.events() where job.state == .completed {
      ended.insert(job.id)
      if ended.count == 4 { break }
    }
    try await stop(members)
    let reader = try await QueueMember(schema, settings { $0.isStarted = false })
    let jobs = try await reader.queue.jobs(JobFilter(limit: 1000))
    #expect(Set(jobs.map(\.origin)).count == jobs.count && jobs.count >= 4)
    #expect(ran.all.count == Set(ran.all).count)
    try reader.coordinator.close()
  }

  @Test("removes ended jobs once, those of a host only there while a daemon works on it")
  func pruning() async throws {
    let schema = PostgresCluster.newSchema()
    let (removals, removed) = AsyncStream<Int64>.makeStream()
    func member(_ name: String, keeps: Bool = true) async throws -> QueueMember {
      try await QueueMember(
        schema,
        settings {
          $0.host = name
          if !keeps { $0.retention = JobRetention(age: [.completed: 0]) }
          $0.delegate = TestDelegate(removed: { job in removed.yield(job.id) })
        })
    }
    let (one, two) = (try await member("one"), try await member("two"))
    var ids: [Int64] = []
    for round in 0..<6 {
      let name: String? = round % 2 == 0 ? "a.csv" : nil
      let job = try await one.queue.submit(.of("work").with { $0.activeName = name })
      _ = try await one.queue.whenEnded(job.id)
      ids.append(job.id)
    }
    try await stop([two])
    // Three without a file, which no host keeps.
    let third = try await member("two", keeps: false)
    await third.poll()
    #expect(try await third.queue.jobs(JobFilter(limit: 100)).map(\.id).sorted() == [ids[0], ids[2], ids[4]])
    try await stop([one])
    let fourth = try await member("three", keeps: false)
    await fourth.poll()
    #expect(try await fourth.queue.jobs(JobFilter(limit: 100)).isEmpty)
    var gone: [Int64] = []
    for await id in removals {
      gone.append(id)
      if gone.count == 6 { break }
    }
    try await stop([third, fourth])
    #expect(gone.sorted() == ids.sorted())
  }

  // MARK: The lease

  @Test(
    "stops a daemon that has lost its lease, because it was found over, or the server doesn't answer",
    arguments: [true, false])
  func lostLease(_ isFoundOver: Bool) async throws {
    let schema = PostgresCluster.newSchema()
    let (losses, lost) = AsyncStream<Void>.makeStream()
    let member = try await QueueMember(
      schema,
      settings {
        $0.timing = .init(lease: 2)
        $0.delegate = TestDelegate(leaseLost: {
          lost.yield()
          lost.finish()
        })
      }
    ) { operation in
      while !operation.isDraining { usleep(1000) }
      return .interrupted(JobProgress())
    }
    // It may have begun, or not.
    _ = try await member.queue.submit(.of("work"))
    let cluster = try PostgresCluster.shared()
    async let blocked =
      isFoundOver
      ? cluster.sql(#"DELETE FROM "\#(schema)"."QueueLease""#)
      : cluster.sql(#"BEGIN; LOCK TABLE "\#(schema)"."QueueLease"; SELECT pg_sleep(4); COMMIT"#)
    var count = 0
    for await _ in losses { count += 1 }
    #expect(count == 1)
    _ = try await blocked
    #expect(await member.queue.drain(timeout: .seconds(60)).isEmpty)
    await member.queue.leave()
    try member.coordinator.close()
  }

  @Test("runs each job once although the server ends all connections again and again")
  func lostConnections() async throws {
    let server = try PostgresCluster()
    let ran = Shared<Int64>()
    var members: [QueueMember] = []
    for name in ["one", "two"] {
      members.append(
        try await QueueMember("work", host(name), on: server) { operation in
          ran.append(operation.job.id)
          usleep(5000)
          return .completed(JobProgress())
        })
    }
    func endConnections() async throws {
      try await server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
    }
    var ids: [Int64] = []
    for round in 0..<8 {
      let member = members[round % 2]
      async let job = member.queue.submit(.of("work"))
      try await endConnections()
      ids.append(try await job.id)
    }
    let second = members[1]
    for id in ids {
      async let end = second.queue.whenEnded(id)
      try await endConnections()
      let ended = try await end
      #expect(ended.state == .completed && ended.claim == 1)
    }
    #expect(ran.all.sorted() == ids.sorted())
    try await stop(members)
  }

  // MARK: Entries of a folder that several hosts see

  private func entry(_ name: String) -> JobSubmission {
    .of("work").with {
      $0.source = name
      $0.origin = .spool("1:2:3:4:\(name)")
      $0.awaitsFile = true
    }
  }

  @Test("makes one job of an entry that daemons find at the same time")
  func sameEntries() async throws {
    let schema = PostgresCluster.newSchema()
    var members: [QueueMember] = []
    for host in ["one", "two", "three"] {
      members.append(
        try await QueueMember(
          schema,
          settings {
            $0.host = host
            $0.takesSharedEntries = true
          }))
    }
    for round in 1...20 {
      let entries = ["a", "b", "c"].map { entry("\($0)\(round).csv") }
      let jobs = try await withThrowingTaskGroup(of: [Job].self) { group in
        for member in members {
          group.addTask {
            // Each finds them in another order.
            try await member.queue.receive(entries.shuffled()).map { try $0.get().job }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(Set(jobs.map(\.id)).count == 3)
      for (_, same) in Dictionary(grouping: jobs, by: \.id) { #expect(Set(same.map(\.host)).count == 1) }
    }
    try await stop(members)
  }

  @Test("gives an entry to another host when the daemon that was about to take it is gone, and not back to that")
  func takeOver() async throws {
    let schema = PostgresCluster.newSchema()
    func member(_ host: String) async throws -> QueueMember {
      try await QueueMember(
        schema,
        looking {
          $0.host = host
          $0.takesSharedEntries = true
        })
    }
    let one = try await member("one")
    let (left, taken) = (try await one.queue.submit(entry("a.csv")), try await one.queue.submit(entry("b.csv")))
    _ = try await one.queue.fileArrived(taken.id, activeName: "\(taken.id)-b.csv", by: "spool")
    let two = try await member("two")
    #expect(try await two.queue.submit(entry("a.csv")) == left)
    _ = try await one.stop()
    await two.poll()
    let job = try await two.queue.submit(entry("a.csv"))
    #expect(job.id == left.id && job.host == "two" && two.queue.isElsewhere(taken))
    let reasons = try await two.queue.job(left.id, withTransitions: true).transitions?.map(\.reason) ?? []
    #expect(reasons.last == "taken over from host one, where no daemon works")
    // It has its file.
    #expect(try await two.queue.job(taken.id).host == "one")

    let again = try await member("one")
    try await again.queue.endTakeOvers()
    _ = try await again.queue.fileArrived(left.id, activeName: "\(left.id)-a.csv", by: "spool")
    #expect(try await again.queue.job(left.id).isAwaitingFile)
    _ = try await two.queue.fileArrived(left.id, activeName: "\(left.id)-a.csv", by: "spool")
    #expect(try await two.queue.whenEnded(left.id).state == .completed)
    #expect(try await again.queue.submit(entry("b.csv")).id != taken.id, "its entry is gone for good")
    try await stop([two, again])
  }

  @Test("has no entry taken over any more once a daemon of its host has started")
  func endOfTakeOvers() async throws {
    let server = try PostgresCluster()
    func member(_ host: String) async throws -> QueueMember {
      try await QueueMember(
        "work",
        looking {
          $0.host = host
          $0.takesSharedEntries = true
        }, on: server)
    }
    let one = try await member("one")
    let left = try await one.queue.submit(entry("a.csv"))
    let two = try await member("two")
    _ = try await one.stop()
    await two.poll()
    // It has found that no daemon works on the host, and is about to take the entry over.
    let takingOver = await HeldTurn.begin(of: two) { turn in
      let jobs = FetchRequest<JobRecord>(entityName: QueueModel.job)
      try turn.lockEntries()
      for job in try turn.context.fetch(jobs) { try turn.takeOver(job) { true } }
    }
    let again = try await member("one")
    let hasEnded = Shared<Bool>()
    let ending = Task {
      try await again.queue.endTakeOvers()
      hasEnded.append(true)
      return try await again.queue.wasTakenOver(left.id)
    }
    try await waits(on: server) { !hasEnded.all.isEmpty }
    try await takingOver.end()
    #expect(try await ending.value)
    try await stop([two, again])
  }

  // MARK: The names of hosts

  /// A daemon with a state folder that isn't started.
  private func member(
    _ schema: String, _ host: String, _ folder: String, on server: PostgresCluster? = nil
  ) async throws -> QueueMember {
    try await QueueMember(
      schema,
      looking {
        $0.host = host
        $0.folder = folder
        $0.takesSharedEntries = true
        $0.isStarted = false
      }, on: server)
  }

  @Test("refuses a daemon under the name of a host that has jobs, or a daemon at work, and another state folder")
  func sameHost() async throws {
    let schema = PostgresCluster.newSchema()
    let (first, second) = (try await member(schema, "one", "a"), try await member(schema, "one", "b"))
    try await first.queue.takeHost()
    try await first.queue.start()
    let refusal = QueueMembership.HostTaken.byFolder(host: "one", folder: "a")
    await #expect(throws: refusal) { try await second.queue.takeHost() }
    let job = try await first.queue.submit(entry("a.csv"))
    // That it has stopped changes nothing for its jobs.
    _ = try await first.stop()
    await #expect(throws: refusal) { try await second.queue.takeHost() }
    // One with its folder is its successor.
    let again = try await member(schema, "one", "a")
    try await again.queue.takeHost()
    try await again.queue.start()
    _ = try await again.queue.fileArrived(job.id, activeName: "\(job.id)-a.csv", by: "spool")
    #expect(try await again.queue.whenEnded(job.id).state == .completed)
    _ = try await again.queue.remove(job.id, by: "test")
    await #expect(throws: refusal) { try await second.queue.takeHost() }
    try await stop([again])
    try await second.queue.takeHost()
    try await second.queue.start()
    try await stop([second])
  }

  @Test("lets one of the daemons in that start under one name at the same time")
  func namesakes() async throws {
    let schema = PostgresCluster.newSchema()
    var members: [QueueMember] = []
    for folder in ["a", "b", "c"] {
      let member = try await member(schema, "one", folder)
      members.append(member)
    }
    let taken = await withTaskGroup(of: Bool.self) { group in
      for member in members {
        group.addTask {
          do {
            try await member.queue.takeHost()
            try await member.queue.start()
            _ = try await member.queue.submit(.of("work"))
            return true
          } catch is QueueMembership.HostTaken {
            return false
          } catch {
            Issue.record(error)
            return false
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(taken.count { $0 } == 1)
    for member in members { _ = try await member.stop() }
  }

  @Test("gives a host that is renamed its jobs, and no other's")
  func renamedHost() async throws {
    let schema = PostgresCluster.newSchema()
    let (one, two) = (try await member(schema, "one", "a"), try await member(schema, "two", "b"))
    for member in [one, two] {
      try await member.queue.takeHost()
      try await member.queue.start()
    }
    let (mine, theirs) = (try await one.queue.submit(entry("a.csv")), try await two.queue.submit(entry("b.csv")))
    let taken = try await one.queue.submit(entry("c.csv"))
    // A copy of its folder is refused while it works.
    let copy = try await member(schema, "copy", "a")
    await #expect(throws: QueueMembership.HostTaken.byFormerName(host: "one")) { try await copy.queue.takeHost() }
    try copy.coordinator.close()
    _ = try await one.stop()
    await two.poll()
    _ = try await two.queue.submit(entry("c.csv"))

    // Not the name of another that has jobs.
    _ = try await two.stop()
    let wrong = try await member(schema, "two", "a")
    await #expect(throws: QueueMembership.HostTaken.byFolder(host: "two", folder: "b")) {
      try await wrong.queue.takeHost()
    }
    try wrong.coordinator.close()

    let three = try await member(schema, "three", "a")
    try await three.queue.takeHost()
    try await three.queue.takeHost()
    try await three.queue.start()
    try await three.queue.endTakeOvers()
    #expect(try await three.queue.wasTakenOver(taken.id), "it was, under the former name")
    #expect(try await !three.queue.wasTakenOver(theirs.id))
    #expect(try await three.queue.job(mine.id).host == "three")
    #expect(try await three.queue.job(theirs.id).host == "two")
    _ = try await three.queue.fileArrived(mine.id, activeName: "\(mine.id)-a.csv", by: "spool")
    #expect(try await three.queue.whenEnded(mine.id).state == .completed)
    try await stop([three])
  }

  // MARK: How work is found

  @Test("finds what others take in by looking alone")
  func polling() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, settings { $0.isStarted = false })
    let two = try await QueueMember(schema, settings { $0.timing.listens = false })
    let job = try await one.queue.submit(.of("work"))
    #expect(try await two.queue.whenEnded(job.id).state == .completed)
    try await stop([two, one])
  }

  @Test("hears of what others take in without looking")
  func listening() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, settings { $0.isStarted = false })
    let two = try await QueueMember(schema, settings { $0.timing.poll = 100_000 })
    // The listener may not have connected yet.
    for _ in 1...3 {
      let job = try await one.queue.submit(.of("work"))
      #expect(try await two.queue.whenEnded(job.id).state == .completed)
    }
    try await stop([two, one])
  }

  // MARK: What a daemon costs that has nothing to do

  /// A daemon that looks only when it is told to.
  private func looking(_ change: (inout QueueMember.Settings) -> Void = { _ in }) -> QueueMember.Settings {
    settings {
      $0.timing.poll = 100_000
      $0.timing.listens = false
      change(&$0)
    }
  }

  @Test("looks by one statement while no daemon has changed anything, and renews its lease by one")
  func statements() async throws {
    let schema = PostgresCluster.newSchema()
    let record = LogRecord()
    let member = try await QueueMember(
      schema,
      looking {
        $0.statements = record
        // A renewal doesn't come between.
        $0.timing = .init(lease: 100_000)
        $0.timing.poll = 100_000
        $0.timing.listens = false
      })
    let other = try await QueueMember(schema, looking())
    func statements(_ body: () async throws -> Void) async rethrows -> [String] {
      let known = record.lines.count
      try await body()
      return record.lines.dropFirst(known).map(\.message)
    }
    // Through a pooler, BEGIN and COMMIT are around it.
    let one = TransactionPooler.sizeForAll == nil ? 1 : 3
    while await member.poll().isNews {}
    for _ in 1...3 {
      let look = await statements { await member.poll() }
      #expect(look.count == one, "\(look)")
    }
    let lease = try #require(try await member.queue.daemons().first { $0.isThis }?.leaseUntil)
    let renewal = try await statements { try member.queue.membership?.renew() }
    #expect(renewal.count == one, "\(renewal)")
    #expect(try #require(try await member.queue.daemons().first { $0.isThis }?.leaseUntil) > lease)
    // A renewal is nothing to others, and a change is.
    #expect(await member.poll().isNews == false)
    _ = try await other.queue.pause(lane: "import", by: "ben")
    #expect(await member.poll().isNews)
    #expect(await member.poll().isNews == false)
    try await stop([member, other])
  }

  @Test("looks often while it runs a job, waits for one, is followed, or can't claim what there is")
  func watchful() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    let one = try await QueueMember(schema, looking(), passing(gate))
    let two = try await QueueMember(schema, looking())
    while await one.poll().isNews {}
    #expect(!one.queue.isWatchful)
    let job = try await one.queue.submit(.of("work"))
    await gate.arrivals(1)
    #expect(one.queue.isWatchful)
    while await two.poll().isNews {}
    #expect(!two.queue.isWatchful)
    async let end = two.queue.whenEnded(job.id)
    while !two.queue.isWatchful { await Task.yield() }
    gate.open()
    _ = try await one.queue.whenEnded(job.id)
    await two.poll()
    #expect(try await end.state == .completed)
    #expect(!one.queue.isWatchful && !two.queue.isWatchful)
    do {
      let events = two.queue.events()
      #expect(two.queue.isWatchful)
      withExtendedLifetime(events) {}
    }
    #expect(!two.queue.isWatchful)
    _ = try await one.queue.pause(lane: "import", by: "ben")
    _ = try await one.queue.submit(.of("work"))
    await two.poll()
    #expect(two.queue.isWatchful)
    try await stop([one, two])
  }

  @Test("claims a job at the next look that a transaction kept locked which then changed nothing")
  func locked() async throws {
    let schema = PostgresCluster.newSchema()
    let one = try await QueueMember(schema, settings { $0.isStarted = false })
    let cluster = try PostgresCluster.shared()
    let job = try await one.queue.submit(.of("work"))
    let name = "locks \(schema)"
    async let lock = cluster.sql(
      #"SET application_name = '\#(name)'; BEGIN; SELECT id FROM "\#(schema)"."Job" FOR UPDATE; SELECT pg_sleep(600)"#)
    let sleeping = "FROM pg_stat_activity WHERE application_name = '\(name)' AND wait_event = 'PgSleep'"
    while try await cluster.sql("SELECT count(*) \(sleeping)") != "1" {}
    let two = try await QueueMember(schema, looking())
    while await two.poll().isNews {}
    #expect(try await two.queue.job(job.id).state == .available)
    try await cluster.sql("SELECT pg_terminate_backend(pid) \(sleeping)")
    _ = try? await lock
    // The server may still be about to let go.
    while try await two.queue.job(job.id).state == .available { #expect(await !two.poll().isNews) }
    #expect(try await two.queue.whenEnded(job.id).state == .completed)
    try await stop([two, one])
  }

  @Test("keeps a time that another daemon has set, whether it hears of that or looks", arguments: [true, false])
  func dueTime(_ listens: Bool) async throws {
    let schema = PostgresCluster.newSchema()
    // It makes nothing available itself.
    let one = try await QueueMember(schema, settings { $0.isStarted = false })
    let two = try await QueueMember(
      schema,
      settings {
        $0.timing.listens = listens
        if listens { $0.timing.poll = 100_000 }
      })
    let due = two.queue.clock.now().addingTimeInterval(2)
    let job = try await one.queue.submit(.of("work").with { $0.notBefore = due })
    let end = try await two.queue.whenEnded(job.id)
    #expect(end.state == .completed && end.startedAt ?? .distantPast >= due)
    try await stop([two, one])
  }

  @Test("puts back what a daemon has left whose lease ends without a word")
  func leaseEnd() async throws {
    let schema = PostgresCluster.newSchema()
    let gate = Gate()
    let gone = try await QueueMember(schema, settings { $0.timing = .init(lease: 3) }, passing(gate))
    let job = try await gone.queue.submit(.of("work"))
    await gate.arrivals(1)
    let two = try await QueueMember(schema, looking())
    let poll = await two.poll()
    #expect(try #require(poll.latest) <= 3)
    // As by SIGSTOP.
    gone.queue.sharing?.end()
    while await two.poll().latest ?? 0 < 3 {}
    // The other may have the job's row locked for a moment, when it tries to claim what it has lost: the next look finds it.
    while try await two.queue.job(job.id).state != .completed { _ = await two.poll() }
    #expect(try await two.queue.job(job.id).rescues == 1)
    gate.open()
    #expect(await gone.queue.drain(timeout: .seconds(60)).isEmpty)
    try gone.coordinator.close()
    try await stop([two])
  }

  @Test("is refused on a store that only one process writes to")
  func otherStores() throws {
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(.inMemory())
    #expect(throws: QueueMembership.NotShared.self) {
      try QueueMembership(in: coordinator, as: .init(host: "one", version: "1"))
    }
  }
}

/// A transaction of a daemon that isn't committed before it is let go.
private final class HeldTurn: Sendable {
  private let isEnding = Mutex(false)
  private let task = Mutex<Task<Void, any Error>?>(nil)

  /// Begins one, and waits until `body` has done its part. That runs again if the transaction does.
  static func begin(of member: QueueMember, _ body: @escaping @Sendable (LedgerTurn) throws -> Void) async -> HeldTurn {
    let held = HeldTurn()
    let (done, signal) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await member.queue.ledger.write { turn in
        defer { signal.finish() }
        try body(turn)
        signal.finish()
        // The server ends transactions in which nothing is done.
        while !held.isEnding.withLock({ $0 }) {
          _ = try turn.context.count(for: FetchRequest<DaemonRecord>(entityName: QueueModel.daemon))
          usleep(10_000)
        }
        return {}
      }
    }
    held.task.withLock { $0 = task }
    for await _ in done {}
    return held
  }

  func end() async throws {
    isEnding.withLock { $0 = true }
    try await task.withLock(\.self)?.value
  }
}
