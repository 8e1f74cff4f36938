import ManagedObjects
import Testing

@testable import Importing

@Suite("Limits of rejected records")
struct RejectLimitsTests {
  private func limits(count: Int?, share: Double?) -> RejectLimits {
    var options = ImportOptions(rejectLimit: count)
    options.rejectShare = share
    return RejectLimits(options)
  }

  private func counts(_ rejected: Int64, of records: Int64) -> ImportCounts {
    var counts = ImportCounts()
    (counts.rejected, counts.records) = (rejected, records)
    return counts
  }

  @Test("a number is exceeded by one more, and not by reaching it")
  func number() throws {
    let limits = limits(count: 2, share: nil)
    try limits.check(counts(2, of: 2), first: "", atEnd: true)
    #expect(throws: MappingError.tooManyRejects(count: 3, limit: 2, first: "line 1: bad")) {
      try limits.check(counts(3, of: 9), first: "line 1: bad", atEnd: false)
    }
  }

  @Test("a share isn't judged by a few records, except at the end")
  func share() throws {
    let limits = limits(count: nil, share: 0.5)
    try limits.check(counts(999, of: 999), first: "", atEnd: false)
    try limits.check(counts(500, of: 1000), first: "", atEnd: false)
    #expect(throws: MappingError.self) { try limits.check(counts(501, of: 1000), first: "", atEnd: false) }
    #expect(throws: MappingError.self) { try limits.check(counts(2, of: 3), first: "", atEnd: true) }
  }

  @Test("without limits every record may be rejected")
  func unlimited() throws {
    try limits(count: nil, share: nil).check(counts(5000, of: 5000), first: "", atEnd: true)
  }
}

@Suite("Rows that wait for a later row of their batch")
struct WaitingRowsTests {
  @Test("are ready once their key is there, in the order in which they came")
  func wake() {
    var rows = WaitingRows(ends: 2)
    rows.wait(3, for: .string("a"), 0)
    rows.wait(5, for: .string("a"), 0)
    rows.wait(4, for: .string("a"), 1)
    #expect(rows.takeReady() == [])
    rows.wake(0, .string("a"))
    #expect(rows.takeReady() == [3, 5])
    #expect(rows.takeReady() == [])
    #expect(rows.remaining == [4])
  }

  @Test("are known as late after they were woken")
  func late() {
    var rows = WaitingRows(ends: 1)
    rows.wait(1, for: .int(1), 0)
    rows.wake(0, .int(1))
    #expect(rows.hasWaited(1) && !rows.hasWaited(0))
    #expect(rows.remaining == [])
  }
}
