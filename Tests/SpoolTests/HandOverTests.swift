import Foundation
import Glibc
import Testing

@testable import Spool

@Suite("A hand-over")
struct HandOverTests {
  @Test("of a file in a hot folder moves it to active/ after its job is durable, and only then")
  func hotFolder() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/stops.txt", "stop_id\nA\n")
    ledger.beforeAnswering { entry, job in
      #expect(spool.exists("incoming/gtfs/stops.txt"))
      #expect(!spool.exists("active/" + entry.activeName(job: job)))
    }
    try await intake.rescan()
    let entry = try #require(ledger.entries.first)
    #expect(entry.kind == .hotFolder(recipe: "gtfs"))
    #expect(entry.originalName == "stops.txt")
    #expect(entry.size == 10)
    #expect(entry.ownerUID == geteuid())
    #expect(entry.hasFile)
    #expect(try spool.text("active/1-stops.txt") == "stop_id\nA\n")
    #expect(try spool.names("incoming/gtfs") == [])
    #expect(intake.status.taken == 1)
    var taken = ledger.taken.makeAsyncIterator()
    #expect(await taken.next() == 1)
  }

  @Test("of a ticket moves it and the file it names")
  func ticket() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("incoming/a b.csv", "data")
    try spool.drop("incoming/other.csv")
    try spool.drop("incoming/x.job", "store: shop\nsource: a b.csv\n")
    try await spool.intake(ledger: ledger).rescan()
    let entry = try #require(ledger.entries.first)
    guard case .ticket(let ticket) = entry.kind else {
      Issue.record("\(entry.kind)")
      return
    }
    #expect(ticket.submission.store == "shop")
    #expect(entry.ticketName == "x.job")
    #expect(entry.originalName == "a b.csv")
    #expect(entry.size == 4)
    #expect(try spool.names("active") == ["1-a_b.csv", "1.job"])
    #expect(try spool.text("active/1-a_b.csv") == "data")
    #expect(try spool.names("incoming") == ["gtfs", "other.csv", "people"])
  }

  @Test("of a ticket without a source moves the ticket, and that is its active name")
  func ticketAlone() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("incoming/tidy.job", "kind: vacuum\nstore: shop\n")
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.first?.hasFile == false)
    #expect(ledger.entries.first?.activeName(job: 1) == "1.job")
    #expect(try spool.names("active") == ["1.job"])
    #expect(try await spool.directories.finish(activeName: "1.job", as: .done) == "1.job")
    #expect(try spool.names("done") == ["1.job"])
  }

  @Test("announces a moved file before the move is durable, and a ticket alone or a copy only then")
  func announcements() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let exports = spool.path + "/exports"
    try #require(mkdir(exports, 0o755) == 0)
    try Data("data".utf8).write(to: URL(fileURLWithPath: exports + "/c.csv"))
    let intake = try spool.intake(allowedFolders: [exports], ledger: ledger)
    try await intake.rescan()
    for (name, text) in [
      ("gtfs/a.csv", "data"), ("b.csv", "data"), ("b.job", "source: b.csv\n"), ("c.job", "source: \(exports)/c.csv\n"),
      ("d.job", "kind: vacuum\n"),
    ] {
      try spool.drop("incoming/" + name, text)
      try await intake.rescan()
    }
    #expect(
      ledger.calls == ["1 arrived", "1 completed", "2 arrived", "2 completed", "3 completed", "4 completed"])
  }

  @Test("leaves a ticket in active/ that has lost its text with the power, for its job has that")
  func lostText() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("active/7.job", "")
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    #expect(intake.status.failures == 0)
    #expect(try spool.names("active") == ["7.job"])
  }

  @Test("from an allowed folder copies, and leaves the submitter's file")
  func allowedFolder() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let exports = spool.path + "/exports"
    try #require(mkdir(exports, 0o755) == 0)
    try #require(mkdir(exports + "/2026", 0o755) == 0)
    try #require(symlink(exports, spool.path + "/configured") == 0)
    try Data("data".utf8).write(to: URL(fileURLWithPath: exports + "/2026/x.csv"))
    try spool.drop("incoming/x.job", "source: \(spool.path)/configured/2026/x.csv\n")
    try await spool.intake(allowedFolders: [spool.path + "/configured/"], ledger: ledger).rescan()
    #expect(try spool.names("active") == ["1-x.csv", "1.job"])
    #expect(try spool.text("active/1-x.csv") == "data")
    #expect(FileManager.default.fileExists(atPath: exports + "/2026/x.csv"))
    let place = try AllowedFolder.placeByComponent("2026/x.csv", beneath: DirectoryHandle(trustedPath: exports))
    let file = try AllowedFolder.open(place, path: "x.csv")
    #expect(try DirectoryHandle.status(of: file, path: "x.csv").size == 4)
  }

  @Test(
    "killed between accept and rename comes again with the same identity, and makes one job",
    arguments: [
      ["gtfs/x.csv"], ["x.csv", "x.job"],
    ])
  func killedAfterAccept(names: [String]) async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try await spool.intake(ledger: ledger).rescan()
    for name in names { try spool.drop("incoming/" + name, "source: x.csv\n") }
    ledger.beforeAnswering { _, _ in throw SimulatedCrash() }
    let killed = try spool.intake(ledger: ledger)
    try await killed.rescan()
    #expect(killed.status.failures == 1)
    for name in names { #expect(spool.exists("incoming/" + name)) }
    ledger.beforeAnswering(nil)
    // The daemon is started again and opens its directories again.
    let restarted = try spool.intake(ledger: ledger)
    try await restarted.rescan()
    try await restarted.rescan()
    #expect(ledger.asked == 2)
    #expect(ledger.entries.count == 1)
    #expect(spool.exists("active/1-x.csv"))
    for name in names { #expect(!spool.exists("incoming/" + name)) }
  }

  @Test("killed between the ticket's move and its file's leaves no scan complete while that file is being written")
  func writtenAgain() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("active/7.job", "source: x.csv\n")
    try spool.drop("incoming/x.csv", "data")
    let writer = open(spool.url("incoming/x.csv"), O_WRONLY | O_CLOEXEC)
    try #require(writer >= 0)
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    #expect(try spool.names("active") == ["7.job"])
    #expect(ledger.completedScans == 0)
    close(writer)
    try await intake.rescan()
    #expect(try spool.names("active") == ["7-x.csv", "7.job"])
    var taken = ledger.taken.makeAsyncIterator()
    #expect(await taken.next() == 7)
  }

  @Test("whose file was put away, and whose ticket wasn't, takes no other file of that name")
  func ticketLeftBehind() async throws {
    let spool = try TemporarySpool()
    try spool.drop("active/7.job", "source: x.csv\n")
    try spool.drop("done/7-x.csv", "data")
    try spool.drop("incoming/x.csv", "other data")
    let ledger = JobLedger()
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.asked == 0 && ledger.calls == [])
    #expect(try spool.text("incoming/x.csv") == "other data")
    #expect(try spool.names("active") == ["7.job"])
  }

  @Test("whose ticket alone came back after a loss of power takes the ticket once more, and no other of its name")
  func ticketCameBack() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("incoming/x.csv", "data")
    try spool.drop("incoming/a:b.job", "source: x.csv\n")
    try await spool.intake(ledger: ledger).rescan()
    let identity = try #require(ledger.entries.first?.identity)
    try #require(rename(spool.url("active/1.job"), spool.url("incoming/a:b.job")) == 0)
    try spool.directories.takeTicket(identity, of: 1)
    #expect(try spool.names("active") == ["1-x.csv", "1.job"])
    try spool.drop("incoming/a:b.job", "source: x.csv\n")
    try spool.directories.takeTicket(identity, of: 1)
    #expect(try spool.names("incoming") == ["a:b.job", "gtfs", "people"])
  }

  @Test("killed between the ticket's move and its file's is finished at the next start")
  func killedBetweenMoves() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    try spool.drop("active/7.job", "source: x.csv\n")
    try spool.drop("active/.8-y.csv.part", "half")
    try spool.drop("incoming/x.csv", "data")
    #expect(try !spool.directories.isActive("7-x.csv"))
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.asked == 0)
    #expect(try spool.text("active/7-x.csv") == "data")
    #expect(try spool.names("active") == ["7-x.csv", "7.job"])
    #expect(try spool.names("incoming") == ["gtfs", "people"])
    var taken = ledger.taken.makeAsyncIterator()
    #expect(await taken.next() == 7)
  }

  @Test("gives the job what it was made for, though the name means another file by then")
  func replacedMeanwhile() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv", "first")
    ledger.beforeAnswering { _, job in
      if job == 1 { try spool.drop("incoming/gtfs/x.csv", "second") }
    }
    try await intake.rescan()
    #expect(try spool.text("active/1-x.csv") == "first")
    try await intake.rescan()
    #expect(try spool.text("active/2-x.csv") == "second")
    #expect(ledger.entries.count == 2)
  }

  @Test("gives the job what it was made for, though the file was withdrawn")
  func withdrawnMeanwhile() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv", "first")
    ledger.beforeAnswering { _, _ in unlink(spool.url("incoming/gtfs/x.csv")) }
    try await intake.rescan()
    #expect(try spool.text("active/1-x.csv") == "first")
  }

  @Test(
    "across file systems copies and removes, and again after a kill only removes",
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
  func acrossFileSystems() throws {
    let spool = try TemporarySpool()
    let elsewhere = try Elsewhere()
    let directory = try DirectoryHandle(trustedPath: elsewhere.path)
    let handOver = HandOver(directories: spool.directories)
    for text in ["data", "seen again"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: elsewhere.path + "/x.csv"))
      let file = try directory.open(FileName("x.csv"))
      try handOver.move(FileName("x.csv"), of: SpoolPlace(directory: directory, recipe: nil), file, to: "1-x.csv")
      #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
      #expect(try spool.names("active") == [".1-x.csv.rest", "1-x.csv"].suffix(text == "data" ? 2 : 1))
      try handOver.synchronise()
      #expect(try spool.text("active/1-x.csv") == "data")
    }
    #expect(try spool.names("active") == ["1-x.csv"])
  }

  @Test("never overwrites a file in active/")
  func occupied() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("active/1-x.csv", "another's")
    try spool.drop("incoming/gtfs/x.csv", "mine")
    try await intake.rescan()
    #expect(try spool.text("active/1-x.csv") == "another's")
    #expect(try spool.text("incoming/gtfs/x.csv") == "mine")
    #expect(intake.status.failures == 1)
    #expect(intake.status.lastFailure?.contains("gtfs/x.csv") == true)
  }

  @Test("of a file dropped again is a new entry, though it is the same file with the same time")
  func droppedAgain() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv")
    try await intake.rescan()
    try #require(rename(spool.url("active/1-x.csv"), spool.url("incoming/gtfs/x.csv")) == 0)
    try await intake.rescan()
    #expect(ledger.entries.count == 2)
    #expect(ledger.entries.first?.modified == ledger.entries.last?.modified)
  }

  @Test("is in order of time, then of name, over all folders")
  func order() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    let times: [(String, Int)] = [
      ("gtfs/z.csv", 100), ("people/a.csv", 100), ("gtfs/b.csv", 300), ("people/c.csv", 200), ("m.job", 150),
    ]
    for (name, time) in times {
      try spool.drop("incoming/" + name, "store: shop\n")
      var stamps = [timespec(tv_sec: time, tv_nsec: 5), timespec(tv_sec: time, tv_nsec: 5)]
      try #require(utimensat(AT_FDCWD, spool.url("incoming/" + name), &stamps, 0) == 0)
    }
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["a.csv", "z.csv", "m.job", "c.csv", "b.csv"])
  }

  @Test(
    "ignores unfinished files, and files that no ticket names",
    arguments: [
      "gtfs/.x.csv", "gtfs/x.csv.part", "gtfs/x.csv.PARTIAL", "gtfs/x.filepart", "gtfs/x.tmp", "gtfs/x.swp",
      "gtfs/x.crdownload", "gtfs/x.csv~", ".x.job", "x.job.part", "x.csv",
    ])
  func leftAlone(name: String) async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/" + name)
    try await intake.rescan()
    #expect(spool.exists("incoming/" + name))
    #expect(ledger.asked == 0)
    #expect(try spool.names("corrupt") == [])
  }

  @Test("waits for a source that isn't there yet, and for a new directory and a second name to settle")
  func waits() async throws {
    let spool = try TemporarySpool()
    let ledger = JobLedger()
    let intake = try spool.intake(settle: .seconds(3600), grace: .seconds(3600), ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/x.job", "source: x.csv\n")
    try #require(mkdir(spool.url("incoming/unknown"), 0o770) == 0)
    try spool.drop("tmp/y.csv")
    try #require(link(spool.url("tmp/y.csv"), spool.url("incoming/gtfs/y.csv")) == 0)
    try await intake.rescan()
    #expect(intake.status.waiting == 3)
    #expect(try spool.names("corrupt") == [])
    try #require(unlink(spool.url("tmp/y.csv")) == 0)
    try spool.drop("incoming/x.csv")
    try await intake.rescan()
    #expect(ledger.entries.count == 2)
    #expect(intake.status.waiting == 1)
  }

  @Test(
    "of a recipe whose name can't be a folder's is refused from the start",
    arguments: ["", "a/b", ".x", "..", "a b", "x.tmp", "x.job"])
  func recipeNames(name: String) throws {
    let spool = try TemporarySpool()
    #expect(throws: SpoolError.unusableRecipeName(name)) { try spool.intake(recipes: [name], ledger: JobLedger()) }
  }

  @Test("from a relative allowed folder is refused from the start", arguments: ["exports", "", "/srv/../etc"])
  func allowedFolderNames(path: String) throws {
    let spool = try TemporarySpool()
    #expect(throws: SpoolError.allowedFolderNotAbsolute(path)) {
      try spool.intake(allowedFolders: [path], ledger: JobLedger())
    }
  }
}
