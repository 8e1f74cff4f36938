import Foundation
import Glibc
import Testing

@testable import Spool

@Suite("The status of an intake")
struct SpoolStatusTests {
  @Test("says that nothing can be taken while incoming/ is missing, until it is back")
  func obstacle() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    // It isn't recreated so soon.
    let intake = try spool.intake(settle: .seconds(3600), ledger: ledger)
    try await intake.rescan()
    #expect(intake.status.obstacle == nil && intake.status.eventTrouble == nil)
    try #require(rename(spool.url("incoming"), spool.url("away")) == 0)
    try await intake.rescan()
    #expect(intake.status.obstacle?.contains("incoming isn't there") == true)
    try #require(rename(spool.url("away"), spool.url("incoming")) == 0)
    try await intake.rescan()
    #expect(intake.status.obstacle == nil)
    let status = intake.status
    #expect(intake.status == status && status.lastRescan != nil)
  }

  @Test("a file that waits in incoming/ itself for a ticket is logged once, and when it comes back once more")
  func withoutTicket() async throws {
    let (spool, log, ledger) = (try TemporarySpool(), LogCollector(), JobLedger())
    let intake = try spool.intake(log: log, ledger: ledger)
    func count() -> Int { log.lines.count { $0.contains("no ticket names it") } }
    try spool.drop("incoming/loose.csv")
    // Its last change is a tick ago.
    while count() == 0 { try await intake.rescan() }
    for _ in 1...3 { try await intake.rescan() }
    #expect(count() == 1)
    #expect(log.lines.contains { $0.contains("the folder of a recipe (gtfs, people)") })
    try spool.drop("incoming/loose.job", "{entity: Person, mode: insert, source: loose.csv}")
    try await intake.rescan()
    #expect(try spool.names("incoming").filter { $0.hasPrefix("loose") } == [])
    try await intake.rescan()
    try spool.drop("incoming/loose.csv")
    while count() == 1 { try await intake.rescan() }
    #expect(count() == 2)
  }

  @Test("a file with its ticket isn't logged, and no file is while a ticket waits")
  func withTicket() async throws {
    let (spool, log, ledger) = (try TemporarySpool(), LogCollector(), JobLedger())
    let intake = try spool.intake(log: log, ledger: ledger)
    for name in ["one", "two"] {
      try spool.drop("incoming/\(name).csv")
      try spool.drop("incoming/\(name).job", "{entity: Person, mode: insert, source: \(name).csv}")
    }
    for _ in 1...3 { try await intake.rescan() }
    #expect(ledger.entries.count == 2)
    // A ticket that waits may name it.
    try spool.drop("incoming/held.csv")
    let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: spool.url("incoming/held.csv")))
    try spool.drop("incoming/held.job", "{entity: Person, mode: insert, source: held.csv}")
    try spool.drop("incoming/loose.csv")
    for _ in 1...3 { try await intake.rescan() }
    #expect(log.lines == [])
    try writer.close()
    while log.lines.isEmpty { try await intake.rescan() }
    #expect(log.lines.count == 1 && log.lines.contains { $0.hasSuffix("(incoming/loose.csv)") }, "\(log.lines)")
    #expect(ledger.entries.count == 3)
  }

  @Test("a file is given time for its ticket")
  func withoutTicketYet() async throws {
    let (spool, log) = (try TemporarySpool(), LogCollector())
    let intake = try spool.intake(grace: .seconds(3600), log: log, ledger: JobLedger())
    try spool.drop("incoming/loose.csv")
    for _ in 1...2 { try await intake.rescan() }
    #expect(log.lines == [])
  }
}
