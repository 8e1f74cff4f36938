import Foundation
import Glibc
import LadeTypes
import Testing

@testable import Spool

@Suite("A set of files")
struct SetTests {
  private static func timetable(_ change: (inout FileSet) -> Void = { _ in }) throws -> [String: FileSet] {
    var set = FileSet()
    set.members = try ["stops-*", "trips-*"].map { FileSet.Member(try #require(FilePattern($0))) }
    set.trigger = FilePattern("*.done")
    change(&set)
    return ["gtfs": set]
  }

  @Test(
    "is taken as one folder when it is complete, in whatever order its files come",
    arguments: [["stops-1.csv", "trips-1.csv", "1.done"], ["1.done", "trips-1.csv", "stops-1.csv"]])
  func orders(names: [String]) async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in names.dropLast() { try spool.drop("incoming/gtfs/" + name, name) }
    try await intake.rescan()
    #expect(ledger.entries.isEmpty)
    let waiting = try #require(intake.status.sets.first)
    #expect(waiting.recipe == "gtfs" && waiting.key == "1" && waiting.files == names.dropLast().sorted())
    #expect(waiting.missing == [names.last == "1.done" ? "*.done" : "stops-*"] && !waiting.isOverdue)
    #expect(intake.status.waitingSets == 1 && intake.status.waiting == 0)
    ledger.beforeAnswering { _, _ in
      #expect(spool.exists("incoming/gtfs/.gtfs-1.set/stops-1.csv"))
      #expect(!spool.exists("active/1-gtfs-1"))
    }
    try spool.drop("incoming/gtfs/" + names[2], names[2])
    try await intake.rescan()
    let entry = try #require(ledger.entries.first)
    #expect(entry.kind == .hotFolder(recipe: "gtfs") && entry.originalName == "gtfs-1" && entry.hasFile)
    #expect(entry.files == names.sorted())
    #expect(entry.size == Int64(names.joined().utf8.count) && entry.ownerUID == geteuid())
    #expect(try spool.names("active/1-gtfs-1") == names.sorted())
    #expect(try spool.text("active/1-gtfs-1/trips-1.csv") == "trips-1.csv")
    #expect(try spool.names("incoming/gtfs") == [])
    #expect(intake.status.sets.isEmpty && ledger.completedScans == 1)
    #expect(try await spool.directories.finish(activeName: "1-gtfs-1", as: .done) == "1-gtfs-1")
    #expect(try spool.directories.keptUse()["done"]?.files == 3)
    #expect(try spool.directories.reclaim("1-gtfs-1"))
    #expect(try await spool.directories.finish(activeName: "1-gtfs-1", as: .corrupt(reason: "no")) == "1-gtfs-1")
    try spool.directories.removeKept(job: 1, activeName: "1-gtfs-1")
    #expect(try spool.names("corrupt") == [])
  }

  @Test("is told from others by its names; two at a time are two jobs, the older first")
  func interleaved() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in ["stops-2.csv", "stops-1.csv", "trips-1.csv", "trips-2.csv.gz", "1.done"] {
      try spool.drop("incoming/gtfs/" + name)
    }
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["gtfs-1"])
    #expect(intake.status.sets.map(\.key) == ["2"])
    try spool.drop("incoming/gtfs/2.done")
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["gtfs-1", "gtfs-2"])
    #expect(try spool.names("active/2-gtfs-2") == ["2.done", "stops-2.csv", "trips-2.csv.gz"])
  }

  @Test("whose job was made before a crash is that job's, and no other's")
  func crashed() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let sets = try Self.timetable()
    try await spool.intake(sets: sets, ledger: ledger).rescan()
    for name in ["stops-1.csv", "trips-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name) }
    ledger.beforeAnswering { _, _ in throw SimulatedCrash() }
    try await spool.intake(sets: sets, ledger: ledger).rescan()
    #expect(try spool.names("incoming/gtfs") == [".gtfs-1.set"])
    ledger.beforeAnswering(nil)
    // Even where the recipe takes no sets any more.
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.count == 1 && ledger.calls == ["1 arrived", "1 completed"])
    #expect(try spool.names("active") == ["1-gtfs-1"])
    #expect(try spool.names("incoming/gtfs") == [])
  }

  @Test("that a kill left half gathered goes back, beside a file that came under the name of one")
  func halfGathered() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in ["trips-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name, "new") }
    try #require(mkdir(spool.url("incoming/gtfs/.gtfs-1.gathering"), 0o750) == 0)
    for name in ["stops-1.csv", "trips-1.csv"] { try spool.drop("incoming/gtfs/.gtfs-1.gathering/" + name, "old") }
    try await intake.rescan()
    // As if the new one had come before the kill, but that the old one is there to be seen.
    #expect(try spool.text("active/1-gtfs-1/stops-1.csv") == "old")
    #expect(try spool.text("active/1-gtfs-1/trips-1.csv") == "new")
    #expect(try spool.names("incoming/gtfs") == ["trips-1.csv.2"])
    #expect(try spool.text("incoming/gtfs/trips-1.csv.2") == "old")
    #expect(intake.status.sets.map(\.files) == [["trips-1.csv.2"]])
  }

  @Test("isn't believed to be complete because of a folder of another user", .enabled(if: geteuid() == 0))
  func foreignFolder() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for (name, owner, mode) in [(".a.set", 12345, 0o750), (".b.set", 0, 0o777), (".c.taken", 12345, 0o700)]
      as [(String, uid_t, mode_t)]
    {
      let path = spool.url("incoming/gtfs/" + name)
      try #require(mkdir(path, mode) == 0 && chmod(path, mode) == 0 && chown(path, owner, gid_t.max) == 0)
      try spool.drop("incoming/gtfs/\(name)/stops-1.csv")
    }
    try #require(symlink("/etc", spool.url("incoming/gtfs/.d.set")) == 0)
    try await intake.rescan()
    #expect(ledger.entries.isEmpty)
    #expect(spool.exists("incoming/gtfs/.c.taken/stops-1.csv"))
    // One that is in the way of a set is moved out of it.
    let path = spool.url("incoming/gtfs/.gtfs-1.set")
    try #require(mkdir(path, 0o750) == 0 && chown(path, 12345, gid_t.max) == 0)
    for name in ["stops-1.csv", "trips-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name) }
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["gtfs-1"])
    #expect(try spool.names("active/1-gtfs-1") == ["1.done", "stops-1.csv", "trips-1.csv"])
  }

  @Test("of several users is refused as a whole", .enabled(if: geteuid() == 0))
  func owners() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in ["stops-1.csv", "trips-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name) }
    let group = try spool.directories.handle(.incoming).status().group
    try #require(chown(spool.url("incoming/gtfs/stops-1.csv"), 12345, group) == 0)
    try await intake.rescan()
    #expect(ledger.entries.isEmpty)
    #expect(try spool.names("corrupt") == ["gtfs-1", "gtfs-1.reason"])
    #expect(try spool.names("corrupt/gtfs-1") == ["1.done", "stops-1.csv", "trips-1.csv"])
    #expect(try spool.text("corrupt/gtfs-1.reason").contains("several users (0, 12345)"))
    #expect(try spool.names("incoming/gtfs") == [])
  }

  @Test("has no links, folders or files of other names")
  func others() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in ["trips-1.csv", "1.done", "readme.txt"] { try spool.drop("incoming/gtfs/" + name) }
    try #require(symlink("/etc/passwd", spool.url("incoming/gtfs/stops-1.csv")) == 0)
    try #require(mkdir(spool.url("incoming/gtfs/folder"), 0o755) == 0)
    try await intake.rescan()
    #expect(ledger.entries.isEmpty)
    #expect(
      try spool.names("corrupt").filter { !$0.hasSuffix(".reason") } == ["folder", "readme.txt", "stops-1.csv"])
    #expect(try spool.text("corrupt/readme.txt.reason").contains("code: not-of-set"))
    #expect(intake.status.sets.map(\.missing) == [["stops-*"]])
  }

  @Test("isn't taken while one of its files is being written")
  func writing() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(sets: Self.timetable(), ledger: ledger)
    try await intake.rescan()
    for name in ["trips-1.csv", "stops-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name) }
    let writer = open(spool.url("incoming/gtfs/stops-1.csv"), O_WRONLY)
    try await intake.rescan()
    #expect(ledger.entries.isEmpty && intake.status.waiting == 1)
    #expect(try spool.names("incoming/gtfs") == ["1.done", "stops-1.csv", "trips-1.csv"])
    close(writer)
    try await intake.rescan()
    #expect(ledger.entries.count == 1)
  }

  @Test("that stays incomplete is reported once, and stays")
  func overdue() async throws {
    let spool = try TemporarySpool()
    let log = LogCollector()
    let sets = try Self.timetable { $0.timeout = 0.000_001 }
    let intake = try spool.intake(sets: sets, log: log, ledger: JobLedger())
    try await intake.rescan()
    try spool.drop("incoming/gtfs/stops-1.csv")
    for _ in 1...3 { try await intake.rescan() }
    #expect(intake.status.sets.map(\.isOverdue) == [true] && intake.status.overdueSets == 1)
    #expect(log.lines.count { $0.contains("isn't complete") } == 1)
    #expect(try spool.names("incoming/gtfs") == ["stops-1.csv"])
  }

  @Test("that stays incomplete is refused as a whole, where the recipe says so")
  func refusedLate() async throws {
    let spool = try TemporarySpool()
    let sets = try Self.timetable {
      $0.timeout = 0.000_001
      $0.refusesLate = true
    }
    let intake = try spool.intake(sets: sets, ledger: JobLedger())
    try await intake.rescan()
    for name in ["stops-1.csv", "1.done"] { try spool.drop("incoming/gtfs/" + name) }
    try await intake.rescan()
    #expect(try spool.names("corrupt") == ["gtfs-1", "gtfs-1.reason"])
    #expect(try spool.names("corrupt/gtfs-1") == ["1.done", "stops-1.csv"])
    #expect(try spool.text("corrupt/gtfs-1.reason").contains("it lacks trips-*"))
    #expect(intake.status.sets.isEmpty)
  }

  @Test("that a ticket names is taken with it, and put back with it")
  func ticket() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    for name in ["a b.csv", "b.csv", "c.csv"] { try spool.drop("incoming/" + name, name) }
    try spool.drop("incoming/x.job", "store: shop\nentity: \"*\"\nfiles: [a b.csv, b.csv]\n")
    ledger.beforeAnswering { _, _ in throw SimulatedCrash() }
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.names("incoming") == [".x.job.set", "c.csv", "gtfs", "people"])
    ledger.beforeAnswering(nil)
    try await spool.intake(ledger: ledger).rescan()
    let entry = try #require(ledger.entries.first)
    guard case .ticket(let ticket) = entry.kind else {
      Issue.record("\(entry.kind)")
      return
    }
    #expect(ledger.entries.count == 1 && ticket.submission.store == "shop" && entry.files == ["a b.csv", "b.csv"])
    #expect(entry.originalName == "x" && entry.ticketName == "x.job")
    #expect(try spool.names("active/1-x") == [".ticket", "a b.csv", "b.csv"])
    try #require(mkdir(spool.url("incoming/.y.job.gathering"), 0o750) == 0)
    try spool.drop("incoming/.y.job.gathering/.ticket", "files: [d.csv]\n")
    try spool.drop("incoming/.y.job.gathering/d.csv")
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.names("incoming") == ["c.csv", "d.csv", "gtfs", "people", "y.job"])
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.map(\.originalName) == ["x", "y"])
  }

  @Test(
    "of a ticket is beside it, named once, and not with a source",
    arguments: [
      "files: [/etc/passwd]", "files: [a.csv, a.csv]", "source: a.csv\nfiles: [b.csv]", "files: []", "files: [../x]",
    ])
  func badTickets(text: String) async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    for name in ["a.csv", "b.csv"] { try spool.drop("incoming/" + name, name) }
    try spool.drop("incoming/x.job", text)
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.isEmpty)
    #expect(try spool.names("corrupt") == ["x.job", "x.job.reason"])
  }

  @Test("of a ticket waits for a file that isn't there yet, and is refused without it")
  func missing() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("incoming/a.csv")
    try spool.drop("incoming/x.job", "files: [a.csv, b.csv]")
    let patient = try spool.intake(grace: .seconds(3600), ledger: ledger)
    try await patient.rescan()
    #expect(patient.status.waiting == 1 && ledger.entries.isEmpty)
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.text("corrupt/x.job.reason").contains("code: source-missing"))
    #expect(spool.exists("incoming/a.csv"))
  }
}
