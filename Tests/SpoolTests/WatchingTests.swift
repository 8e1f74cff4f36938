import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Spool

@Suite("The running intake", .timeLimit(.minutes(20)))
struct WatchingTests {
  /// Runs an intake, waits until its first look is over, calls `body` with what it announces, and cancels it.
  private func running(
    _ spool: TemporarySpool, _ ledger: JobLedger, settle: Duration = .zero, grace: Duration = .seconds(3600),
    _ body: (SpoolIntake, inout AsyncStream<Int64>.Iterator) async throws -> Void
  ) async throws {
    let intake = try spool.intake(settle: settle, grace: grace, ledger: ledger)
    var taken = ledger.taken.makeAsyncIterator()
    // Makes the hot folders, of which the running intake would otherwise hear, and look at everything once more.
    try await intake.rescan()
    let run = Task { try await intake.run() }
    // The first entry's being taken says that everything is watched.
    try spool.drop("incoming/first.job", "store: shop\n")
    #expect(await taken.next() == 1)
    try await body(intake, &taken)
    run.cancel()
    try await run.value
  }

  @Test("takes files renamed into a hot folder and into incoming/ at once")
  func renamed() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { _, taken in
      try spool.drop("incoming/gtfs/a.csv")
      #expect(await taken.next() == 2)
      try spool.drop("incoming/b.csv")
      try spool.drop("incoming/b.job", "source: b.csv\n")
      #expect(await taken.next() == 3)
      #expect(spool.exists("active/2-a.csv"))
      #expect(spool.exists("active/3-b.csv"))
    }
  }

  @Test("takes a file that is written in place when it is closed, and not before, not even by a rescan")
  func inPlace() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { intake, taken in
      let fd = open(spool.url("incoming/gtfs/slow.csv"), O_WRONLY | O_CREAT, 0o660)
      try #require(write(fd, "id\n1\n", 5) == 5)
      try spool.drop("incoming/gtfs/other.csv")
      #expect(await taken.next() == 2)
      try await intake.rescan()
      #expect(ledger.entries.map(\.originalName) == ["first.job", "other.csv"])
      #expect(intake.status.waiting == 1)
      try #require(write(fd, "2\n", 2) == 2)
      close(fd)
      #expect(await taken.next() == 3)
      #expect(try spool.text("active/3-slow.csv") == "id\n1\n2\n")
    }
  }

  @Test("takes an upload when its partial suffix is taken off")
  func partialSuffix() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { intake, taken in
      try Data("data".utf8).write(to: URL(fileURLWithPath: spool.url("incoming/gtfs/x.csv.filepart")))
      try await intake.rescan()
      #expect(ledger.entries.count == 1)
      try #require(rename(spool.url("incoming/gtfs/x.csv.filepart"), spool.url("incoming/gtfs/x.csv")) == 0)
      #expect(await taken.next() == 2)
      #expect(ledger.entries.last?.originalName == "x.csv")
    }
  }

  @Test("takes a file that is linked into place when its other name is gone")
  func linked() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger, settle: .seconds(3600)) { intake, taken in
      try spool.drop("tmp/x.csv", "data")
      try #require(link(spool.url("tmp/x.csv"), spool.url("incoming/gtfs/x.csv")) == 0)
      try spool.drop("incoming/gtfs/other.csv")
      #expect(await taken.next() == 2)
      #expect(ledger.entries.last?.originalName == "other.csv")
      try #require(unlink(spool.url("tmp/x.csv")) == 0)
      try await intake.rescan()
      #expect(await taken.next() == 3)
    }
  }

  @Test("takes a ticket when the source it waits for arrives")
  func awaitedSource() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { _, taken in
      try spool.drop("incoming/late.job", "source: late.csv\n")
      try spool.drop("incoming/gtfs/other.csv")
      #expect(await taken.next() == 2)
      #expect(ledger.entries.last?.originalName == "other.csv")
      try spool.drop("incoming/late.csv", "data")
      #expect(await taken.next() == 3)
      #expect(try spool.text("active/3-late.csv") == "data")
    }
  }

  @Test("refuses a link, a FIFO and a bad ticket when they appear")
  func refusals() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { intake, taken in
      try #require(symlink("/etc/passwd", spool.url("incoming/gtfs/a.csv")) == 0)
      try #require(mkfifo(spool.url("incoming/gtfs/b.csv"), 0o660) == 0)
      try spool.drop("incoming/gtfs/c.csv")
      #expect(await taken.next() == 2)
      #expect(try spool.names("corrupt") == ["a.csv", "a.csv.reason", "b.csv", "b.csv.reason"])
      #expect(intake.status.refused == 2)
    }
  }

  @Test("sees a hot folder that was removed and made again, and one that was replaced")
  func recreatedFolder() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    // With time to settle, so that the intake doesn't make it first.
    try await running(spool, ledger, settle: .seconds(3600)) { _, taken in
      try #require(rmdir(spool.url("incoming/gtfs")) == 0)
      try #require(mkdir(spool.url("incoming/gtfs"), 0o770) == 0)
      try spool.drop("incoming/gtfs/a.csv")
      #expect(await taken.next() == 2)
      try #require(mkdir(spool.url("tmp/new"), 0o770) == 0)
      try spool.drop("tmp/new/b.csv")
      try #require(rename(spool.url("incoming/gtfs"), spool.url("tmp/old")) == 0)
      try #require(rename(spool.url("tmp/new"), spool.url("incoming/gtfs")) == 0)
      #expect(await taken.next() == 3)
      try spool.drop("incoming/gtfs/c.csv")
      #expect(await taken.next() == 4)
      #expect(ledger.entries.map(\.originalName) == ["first.job", "a.csv", "b.csv", "c.csv"])
    }
  }

  @Test("sees incoming/ itself replaced")
  func replacedIncoming() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger, settle: .seconds(3600)) { _, taken in
      try #require(mkdir(spool.path + "/new", 0o770) == 0)
      try spool.drop("../new/a.job", "store: shop\n")
      try #require(rename(spool.url("incoming"), spool.path + "/old") == 0)
      try #require(rename(spool.path + "/new", spool.url("incoming")) == 0)
      #expect(await taken.next() == 2)
      try spool.drop("incoming/b.job", "store: shop\n")
      #expect(await taken.next() == 3)
    }
  }

  @Test("finds by a scan the entries whose events the kernel lost")
  func overflow() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let limit = try #require(
      Int(String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8).filter(\.isNumber)))
    try await running(spool, ledger) { intake, taken in
      let (gate, blocked) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
      intake.executor.queue.async {
        blocked.continuation.yield()
        gate.wait()
      }
      var reached = blocked.stream.makeAsyncIterator()
      await reached.next()
      // More events than the kernel keeps while none is read. They alternate, because the kernel merges equal ones.
      try spool.drop("incoming/.a")
      for index in 0...limit {
        let names = [spool.url("incoming/.a"), spool.url("incoming/.b")]
        try #require(rename(names[index % 2], names[1 - index % 2]) == 0)
      }
      try spool.drop("incoming/gtfs/lost.csv")
      gate.signal()
      #expect(await taken.next() == 2)
      #expect(ledger.entries.last?.originalName == "lost.csv")
      #expect(intake.status.overflows > 0)
    }
  }

  @Test("takes 2,000 files that come at once, each once")
  func many() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { _, taken in
      for index in 0..<1000 { try spool.drop("incoming/gtfs/f\(index).csv") }
      for index in 0..<1000 {
        try spool.drop("incoming/t\(index).csv")
        try spool.drop("incoming/t\(index).job", "source: t\(index).csv\n")
      }
      var jobs = Set<Int64>()
      while jobs.count < 2000, let job = await taken.next() { jobs.insert(job) }
      #expect(ledger.entries.count == 2001)
      #expect(ledger.asked == 2001)
      #expect(try spool.names("incoming/gtfs") == [])
      #expect(try spool.names("incoming") == ["gtfs", "people"])
      #expect(try spool.names("active").count == 3001)
    }
  }

  @Test("offers an entry again when the queue has recovered")
  func recovers() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try await running(spool, ledger) { _, taken in
      let failures = Failures(3)
      ledger.beforeAnswering { _, _ in if failures.next() { throw SimulatedCrash() } }
      try spool.drop("incoming/gtfs/x.csv")
      #expect(await taken.next() == 2)
      #expect(ledger.entries.count == 2)
      #expect(ledger.asked >= 5)
    }
  }

  @Test("runs once at a time, and again after it was stopped")
  func twice() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    var taken = ledger.taken.makeAsyncIterator()
    for expected in 1...2 {
      let run = Task { try await intake.run() }
      try spool.drop("incoming/gtfs-\(expected).job", "store: shop\n")
      #expect(await taken.next() == Int64(expected))
      await #expect(throws: SpoolError.alreadyRunning) { try await intake.run() }
      run.cancel()
      try await run.value
    }
  }

  @Test("keeps a bounded number of names from events, each once, with the stronger trigger")
  func pendingEntries() {
    var pending = PendingEntries()
    let added = [
      pending.add(FileName("a"), recipe: nil, .created), pending.add(FileName("a"), recipe: nil, .finished),
      pending.add(FileName("a"), recipe: nil, .created), pending.add(FileName("a"), recipe: "gtfs", .created),
    ]
    #expect(added == [true, true, true, true])
    #expect(pending.keys.count == 2)
    guard case .finished = pending.triggers[pending.keys[0]] else {
      Issue.record("the stronger trigger was lost")
      return
    }
    for index in pending.keys.count..<PendingEntries.limit {
      let isAdded = pending.add(FileName("f\(index)"), recipe: nil, .finished)
      #expect(isAdded)
    }
    let isOneTooMany = pending.add(FileName("one more"), recipe: nil, .finished)
    #expect(!isOneTooMany)
  }
}

/// Fails a given number of times.
private final class Failures: Sendable {
  private let left: Mutex<Int>

  init(_ count: Int) { left = Mutex(count) }

  func next() -> Bool {
    left.withLock { left in
      left -= 1
      return left >= 0
    }
  }
}
