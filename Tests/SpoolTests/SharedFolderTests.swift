import Foundation
import Glibc
import TestSupport
import Testing

@testable import Spool

@Suite("A folder of several hosts in place of incoming/")
struct SharedFolderTests {
  private let spool: TemporarySpool
  private let shared: String
  private let ledger = JobLedger()

  init() throws {
    spool = try TemporarySpool()
    shared = spool.path + "/shared"
    try #require(mkdir(shared, 0o770) == 0)
  }

  private func intake(settle: Duration = .zero) throws -> SpoolIntake {
    try spool.intake(
      SpoolDirectories(path: spool.path + "/spool", sharedIncoming: shared), settle: settle, ledger: ledger)
  }

  private func drop(_ name: String, _ text: String = "id\n1\n") throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: shared + "/." + UUID().uuidString))
    let written = try #require(FileManager.default.contentsOfDirectory(atPath: shared).first { $0.hasPrefix(".") })
    try #require(rename(shared + "/" + written, shared + "/" + name) == 0)
  }

  private func names(_ place: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: shared + "/" + place).sorted()
  }

  @Test("is where files and tickets are taken from")
  func taken() async throws {
    let intake = try intake()
    try await intake.openHotFolders()
    #expect(try names() == ["gtfs", "people"])
    try drop("gtfs/stops.txt")
    try drop("a.csv")
    try drop("a.job", "store: shop\nsource: a.csv\n")
    try spool.drop("incoming/gtfs-x.job", "kind: vacuum\n")
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName).sorted() == ["a.csv", "stops.txt"])
    #expect(try spool.names("active").count == 3)
    #expect(try names("gtfs") == [] && names() == ["gtfs", "people"])
    // What is in the spool's own isn't looked at.
    #expect(try spool.names("incoming") == ["gtfs-x.job"])
  }

  @Test("is waited for where it isn't there, which is logged once, and so is its coming")
  func missing() async throws {
    let log = LogCollector()
    let intake = try spool.intake(
      SpoolDirectories(path: spool.path + "/spool", sharedIncoming: shared), log: log, ledger: ledger)
    try #require(rename(shared, shared + "-aside") == 0)
    for _ in 1...3 { await intake.scan() }
    #expect(log.lines.filter { $0.contains("isn't there. Is it mounted?") }.count == 1, "\(log.lines)")
    #expect(intake.status.obstacle != nil)
    try #require(rename(shared + "-aside", shared) == 0)
    for _ in 1...3 { await intake.scan() }
    #expect(log.lines.filter { $0.contains("recovered") }.count == 1, "\(log.lines)")
    #expect(intake.status.obstacle == nil)
  }

  @Test("keeps what the daemon of another host takes, which is no failure")
  func elsewhere() async throws {
    let intake = try intake()
    try await intake.openHotFolders()
    try drop("gtfs/stops.txt")
    ledger.beforeAnswering { _, _ in throw SpoolEntryElsewhere(host: "two") }
    for _ in 1...20 { try await intake.rescan() }
    #expect(try names("gtfs") == ["stops.txt"])
    #expect(intake.status.failures == 0 && intake.status.waiting == 1 && intake.status.taken == 0)
    ledger.beforeAnswering { _, _ in }
    try await intake.rescan()
    #expect(try names("gtfs") == [] && spool.names("active").count == 1)
  }

  @Test("keeps what has changed a moment ago, for programs of other hosts may be writing it")
  func written() async throws {
    let intake = try intake(settle: .seconds(3600))
    try await intake.openHotFolders()
    try drop("gtfs/stops.txt")
    try await intake.rescan()
    #expect(try names("gtfs") == ["stops.txt"])
    #expect(ledger.entries.isEmpty && intake.status.waiting == 1)
  }

  @Test("has tickets of several files refused")
  func sets() async throws {
    let intake = try intake()
    try drop("a.csv")
    try drop("b.csv")
    try drop("ab.job", "store: shop\nfiles: [a.csv, b.csv]\n")
    try await intake.rescan()
    let reason = try spool.text("corrupt/ab.job.reason")
    #expect(reason.contains("only single files are taken"), "\(reason)")
    #expect(try names().filter { $0.hasSuffix(".csv") } == ["a.csv", "b.csv"])
  }

  @Test("has an entry refused once that another daemon refuses, too")
  func refusedTwice() async throws {
    let intake = try intake()
    try drop("bad.job", "nonsense")
    ledger.beforeAnswering { _, _ in }
    try await intake.rescan()
    try drop("worse.job", "store: shop\n")
    let gone = shared + "/worse.job"
    ledger.beforeAnswering { _, _ in
      unlink(gone)
      throw SpoolRefusal.unacceptable(what: "no", advice: "")
    }
    try await intake.rescan()
    #expect(intake.status.failures == 0)
    #expect(try spool.names("corrupt") == ["bad.job", "bad.job.reason"])
  }

  @Test("loses what a superseded daemon has of an entry, but a file that it may have fetched since")
  func discarded() throws {
    let directories = try SpoolDirectories(path: spool.path + "/spool", sharedIncoming: shared)
    for keepsFile in [true, false] {
      for name in ["7-a.csv", "7.job", ".7-a.csv.rest", ".7.job.rest", "8-b.csv"] {
        try Data().write(to: URL(fileURLWithPath: spool.url("active/" + name)))
      }
      try directories.discardHandOver("7-a.csv", of: 7, keepsFile: keepsFile)
      #expect(try spool.names("active") == (keepsFile ? ["7-a.csv", "8-b.csv"] : ["8-b.csv"]))
    }
  }
}
