import Foundation
import Testing

@testable import Jobs

@Suite("The current rate of a job")
struct ProgressWindowTests {
  private let start = Date(timeIntervalSince1970: 1_790_000_000)

  private func progress(_ records: Int64, of total: Int64 = 0) -> JobProgress {
    JobProgress(records: records, recordsTotal: total)
  }

  @Test("it is that of the last ten seconds, whatever was before")
  func window() throws {
    var window = ProgressWindow()
    for second in 0..<60 {
      // A hundred a second, then ten.
      let records = second < 30 ? second * 100 : 3_000 + (second - 30) * 10
      window.note(progress(Int64(records), of: 3_990), at: start.addingTimeInterval(Double(second)))
    }
    let rate = try #require(window.rate(of: progress(3_290, of: 3_990), at: start.addingTimeInterval(59)))
    #expect(rate.records == 10 && rate.seconds == 10 && rate.bytes == 0)
    #expect(rate.secondsLeft == 70)
  }

  @Test("nothing is told of less than a second, and where a job goes on isn't taken for speed")
  func beginning() {
    var window = ProgressWindow()
    #expect(window.rate(of: progress(0), at: start) == nil)
    window.note(progress(1_000_000), at: start)
    #expect(window.rate(of: progress(1_000_000), at: start.addingTimeInterval(0.9)) == nil)
    window.note(progress(1_000_100), at: start.addingTimeInterval(2))
    #expect(window.rate(of: progress(1_000_100), at: start.addingTimeInterval(2))?.records == 50)
  }

  @Test("it falls while nothing is reported, and begins anew where less is reported or the clock was set back")
  func stalled() {
    var window = ProgressWindow()
    window.note(progress(0), at: start)
    window.note(progress(100), at: start.addingTimeInterval(1))
    #expect(window.rate(of: progress(100), at: start.addingTimeInterval(5))?.records == 20)
    #expect(window.rate(of: progress(100), at: start.addingTimeInterval(60))?.records == 0)
    window.note(progress(10), at: start.addingTimeInterval(61))
    #expect(window.rate(of: progress(10), at: start.addingTimeInterval(61)) == nil)
    window.note(progress(20), at: start.addingTimeInterval(-100))
    #expect(window.rate(of: progress(20), at: start.addingTimeInterval(-98))?.records == 0)
  }
}
