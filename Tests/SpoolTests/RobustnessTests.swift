import Foundation
import Glibc
import Testing

@testable import Spool

@Suite("The intake", .timeLimit(.minutes(20)))
struct RobustnessTests {
  @Test("logs a failure once, when it changes, and when it is over")
  func failureLog() {
    var log = FailureLog()
    log.beginPass()
    let first = [log.note("full", at: "a"), log.note("full", at: "a"), log.note("gone", at: "a")]
    #expect(first == [.new, .old, .new])
    let ends = [log.succeeded(at: "a"), log.succeeded(at: "a")]
    #expect(ends == [true, false])
    for number in 0..<FailureLog.limit {
      let news = log.note("x", at: "\(number)")
      #expect(news == .new)
    }
    let beyond = [log.note("x", at: "one more"), log.note("x", at: "another")]
    #expect(beyond == [.tooMany, .old])
    log.beginPass()
    let again = log.note("x", at: "7")
    #expect(again == .old)
    log.endPass()
    // Only what failed in the last look is still known.
    let after = [log.note("x", at: "8"), log.note("x", at: "7")]
    #expect(after == [.new, .old])
  }

  @Test("stops asking a queue that takes nothing, and logs it once per entry")
  func deadQueue() async throws {
    let (spool, ledger, log) = (try TemporarySpool(), JobLedger(), LogCollector())
    let intake = try spool.intake(log: log, ledger: ledger)
    try await intake.rescan()
    for number in 0..<500 { try spool.drop("incoming/gtfs/\(number).csv") }
    ledger.beforeAnswering { _, _ in throw SimulatedCrash() }
    for _ in 1...3 { try await intake.rescan() }
    #expect(ledger.asked == 3 * SpoolIntake.groupSize)
    #expect(log.lines.count { $0.hasPrefix("error") } <= SpoolIntake.groupSize)
    ledger.beforeAnswering(nil)
    try await intake.rescan()
    #expect(try spool.names("active").count == 500)
    #expect(ledger.entries.count == 500)
  }

  @Test("takes an entry only when it was quiet as long as the configuration wants")
  func quiet() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let patient = try spool.intake(quiet: .seconds(3600), ledger: ledger)
    try await patient.rescan()
    try spool.drop("incoming/gtfs/x.csv")
    try await patient.rescan()
    #expect(ledger.asked == 0)
    #expect(patient.status.waiting == 1)
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.count == 1)
  }

  @Test("leaves alone what ends as the configuration says, in any case of letters, also as a source")
  func partialSuffixes() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    var rules = SpoolRules()
    rules.partialSuffixes = [".Lade-Upload"]
    let intake = try spool.intake(rules: rules, ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv.lade-upload")
    try spool.drop("incoming/y.lade-upload")
    try spool.drop("incoming/y.job", "source: y.lade-upload\n")
    try await intake.rescan()
    #expect(ledger.asked == 0)
    #expect(spool.exists("incoming/gtfs/x.csv.lade-upload"))
    #expect(try spool.text("corrupt/y.job.reason").contains("its name marks it as unfinished"))
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.map(\.originalName) == ["x.csv.lade-upload"])
  }

  @Test("gives a folder that was moved away time to come back, and goes on with it")
  func movedAwayAndBack() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(settle: .seconds(3600), ledger: ledger)
    // Places are remembered by a running intake and by one that only looks.
    try await intake.rescan()
    for folder in ["incoming/gtfs", "incoming"] {
      try #require(rename(spool.url(folder), spool.path + "/away") == 0)
      try await intake.rescan()
      #expect(!spool.exists(folder))
      try #require(rename(spool.path + "/away", spool.url(folder)) == 0)
      try spool.drop("incoming/gtfs/\(ledger.asked).csv")
      try await intake.rescan()
    }
    #expect(ledger.entries.map(\.originalName) == ["0.csv", "1.csv"])
  }

  @Test("recreates a folder that was removed and doesn't come back, while it runs")
  func madeAnew() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    var taken = ledger.taken.makeAsyncIterator()
    try await intake.rescan()
    let run = Task { try await intake.run() }
    try spool.drop("incoming/first.job", "store: shop\n")
    #expect(await taken.next() == 1)
    for (number, folder) in ["incoming/gtfs", "incoming"].enumerated() {
      let watch = try FolderAppearance(spool.url(folder == "incoming" ? "" : "incoming"))
      // With one rename, because a hot folder removed before its parent would be recreated, too.
      try #require(rename(spool.url(folder), spool.path + "/removed-\(number)") == 0)
      await watch.appearance(of: folder == "incoming" ? "incoming" : "gtfs")
      // The folder in it comes after it.
      try await intake.rescan()
      try spool.drop("incoming/gtfs/x\(number).csv")
      #expect(await taken.next() == Int64(number + 2))
    }
    run.cancel()
    try await run.value
  }

  @Test("continues when its whole spool was removed and is back, and logs once that it is gone")
  func removedRoot() async throws {
    let (spool, ledger, log) = (try TemporarySpool(), JobLedger(), LogCollector())
    let intake = try spool.intake(log: log, ledger: ledger)
    await intake.scan()
    try FileManager.default.removeItem(atPath: spool.url(""))
    for _ in 1...3 { await intake.scan() }
    #expect(log.lines.count { $0.hasPrefix("error") } == 1, "\(log.lines)")
    #expect(!FileManager.default.fileExists(atPath: spool.url("")))
    try #require(mkdir(spool.url(""), 0o755) == 0)
    await intake.scan()
    try spool.drop("incoming/gtfs/x.csv")
    await intake.scan()
    #expect(try spool.names("active") == ["1-x.csv"])
  }

  @Test("confirms a hand-over again when the delegate couldn't record it")
  func confirmsAgain() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    ledger.failConfirmations(1)
    try spool.drop("incoming/gtfs/x.csv")
    try await intake.rescan()
    #expect(try spool.names("active") == ["1-x.csv"])
    #expect(ledger.calls == ["1 arrived"] && intake.status.failures == 1)
    try await intake.rescan()
    #expect(ledger.calls == ["1 arrived", "1 completed"] && ledger.asked == 1)
  }

  @Test("reports once that everything in incoming/ was dealt with, and only when nothing waits or fails")
  func scanCompleted() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(settle: .seconds(3600), ledger: ledger)
    try #require(mkdir(spool.url("incoming/unknown"), 0o770) == 0)
    try await intake.rescan()
    #expect(intake.status.waiting == 1 && ledger.completedScans == 0)
    try #require(rmdir(spool.url("incoming/unknown")) == 0)
    for _ in 1...2 { try await intake.rescan() }
    #expect(ledger.completedScans == 1)
  }

  @Test(
    "makes no job of a file twice that changes while it is copied, and ends the job that won't have its file",
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "it takes a second file system"))
  func changedWhileCopied() throws {
    let spool = try TemporarySpool()
    let elsewhere = try Elsewhere()
    let path = elsewhere.path + "/x.csv"
    try Data("first".utf8).write(to: URL(fileURLWithPath: path))
    let directory = try DirectoryHandle(trustedPath: elsewhere.path)
    let file = try directory.open(FileName("x.csv"))
    let writer = try #require(FileHandle(forWritingAtPath: path))
    try writer.seekToEnd()
    try writer.write(contentsOf: Data(" and more".utf8))
    try writer.close()
    #expect(throws: SpoolError.self) {
      try HandOver(directories: spool.directories).move(
        FileName("x.csv"), of: SpoolPlace(directory: directory, recipe: nil), file, to: "1-x.csv")
    }
    #expect(try spool.names("active") == [])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first and more")
  }

  @Test(
    "copies what has holes with its holes",
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "it takes a second file system"))
  func sparse() throws {
    let spool = try TemporarySpool()
    let elsewhere = try Elsewhere()
    let path = elsewhere.path + "/x.csv"
    let number = open(path, O_RDWR | O_CREAT, 0o660)
    defer { close(number) }
    let (start, middle) = (Array("start".utf8), Array("middle".utf8))
    try #require(pwrite(number, start, start.count, 0) == start.count)
    try #require(pwrite(number, middle, middle.count, 1 << 33) == middle.count)
    try #require(ftruncate(number, 1 << 38) == 0)
    let directory = try DirectoryHandle(trustedPath: elsewhere.path)
    let file = try directory.open(FileName("x.csv"))
    try HandOver(directories: spool.directories).move(
      FileName("x.csv"), of: SpoolPlace(directory: directory, recipe: nil), file, to: "1-x.csv")
    let copy = try spool.directories.handle(.active).open(FileName("1-x.csv"))
    #expect(copy.status.size == 1 << 38)
    #expect(copy.status.allocated < 1 << 20)
    var bytes = [UInt8](repeating: 0, count: 6)
    try #require(pread(copy.descriptor.number, &bytes, 6, 1 << 33) == 6)
    #expect(bytes == middle)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
  }

  @Test("recognises the daemon's own files by their place, not by a common prefix")
  func protectedPaths() throws {
    let spool = try TemporarySpool()
    let real = try #require(realpath(spool.path, nil).map { String(cString: $0) })
    let protected = ProtectedPaths(
      [spool.path + "/spool/active", spool.path + "/not-there-yet.sqlite"], companionEndings: ["-wal"])
    for (path, isOwn) in [
      ("/spool/active", true), ("/spool/active/1-x.csv", true), ("/spool/active-more/x", false),
      ("/spool/done/x", false),
      ("/not-there-yet.sqlite", true), ("/not-there-yet.sqlite-wal", true), ("/not-there-yet.sqlite-old", false),
    ] {
      #expect(protected.contain(Array((real + path).utf8)) == isOwn, "\(path)")
    }
  }

  @Test("offers two tickets for one file one after the other: the first has it")
  func oneSource() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/x.csv", "data")
    for name in ["a.job", "b.job"] { try spool.drop("incoming/" + name, "source: x.csv\n") }
    try await intake.rescan()
    #expect(ledger.entries.map(\.ticketName) == ["a.job"])
    #expect(try spool.names("active") == ["1-x.csv", "1.job"])
    #expect(try spool.text("corrupt/b.job.reason").contains("source-missing"))
  }

  @Test("finishes a hand-over that was interrupted before another ticket gets hold of its file")
  func interruptedFirst() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    try spool.drop("active/7.job", "source: x.csv\n")
    try spool.drop("incoming/x.csv", "data")
    try spool.drop("incoming/thief.job", "source: x.csv\n")
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.text("active/7-x.csv") == "data")
    #expect(ledger.asked == 0)
    #expect(try spool.text("corrupt/thief.job.reason").contains("source-missing"))
  }
}

/// Waits for something to appear in a folder, by inotify(7).
private final class FolderAppearance {
  private let path: String
  private let changes: AsyncStream<Void>
  private let source: any DispatchSourceRead

  init(_ path: String) throws {
    self.path = path
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    try #require(
      descriptor >= 0 && inotify_add_watch(descriptor, path, UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE)) >= 0)
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.changes = changes
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(descriptor, &bytes, bytes.count) > 0 {}
      continuation.yield()
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  func appearance(of name: String) async {
    for await _ in changes where FileManager.default.fileExists(atPath: path + "/" + name) { return }
  }
}
