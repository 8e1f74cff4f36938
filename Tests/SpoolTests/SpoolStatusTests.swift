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
}
