import ControlAPI
import Foundation
import Jobs
import Testing

@testable import LadeDaemon

@Suite("Control: what has ended")
struct ControlStatsTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func job(_ state: JobState, endedAt: Double, took: Double = 1, records: Int64 = 10) -> Job {
    let end = start.addingTimeInterval(endedAt)
    var job = Job(
      id: 1, kind: "import", lane: "import", state: state, submittedAt: Date(timeIntervalSinceReferenceDate: 0),
      submittedBy: "user 0", maxAttempts: 5)
    (job.startedAt, job.endedAt) = (end.addingTimeInterval(-took), end)
    (job.attempt, job.progress) = (1, JobProgress(records: records))
    return job
  }

  @Test("jobs are counted in the minutes in which they ended, and not those of an earlier daemon")
  func rates() throws {
    let ended = EndedJobs(since: start)
    ended.note(job(.completed, endedAt: -5))
    ended.note(job(.completed, endedAt: 10))
    ended.note(job(.discarded, endedAt: 10.5))
    ended.note(job(.cancelled, endedAt: 200, records: 0))
    ended.note(job(.completed, endedAt: 700, records: 5))
    let rates = ended.rates(at: start.addingTimeInterval(710))
    #expect(rates.map(\.completed) == [1, 1, 2])
    #expect(rates.map(\.discarded) == [0, 0, 1])
    #expect(rates.map(\.cancelled) == [0, 0, 1])
    #expect(rates.map(\.records) == [5, 5, 25])
    #expect(rates.map(\.seconds) == [60, 300, 710])
  }

  @Test("what is older than a quarter of an hour makes room")
  func old() throws {
    let ended = EndedJobs(since: start)
    ended.note(job(.completed, endedAt: 1))
    ended.note(job(.completed, endedAt: 901))
    #expect(ended.rates(at: start.addingTimeInterval(901)).map(\.completed) == [1, 1, 1])
  }

  @Test("durations are those of jobs that completed")
  func durations() throws {
    let ended = EndedJobs(since: start)
    for took in 1...100 { ended.note(job(.completed, endedAt: 500, took: Double(took))) }
    ended.note(job(.discarded, endedAt: 500, took: 900))
    let spread = try #require(ended.durations["import"])
    #expect((spread.count, spread.median, spread.p99, spread.longest) == (100, 51, 100, 100))
  }

  @Test("of measurements the latest count")
  func samples() {
    var samples = LatestSamples(capacity: 3)
    #expect(samples.spread == nil)
    for value in [9, 1, 2, 3] { samples.add(Double(value)) }
    #expect(samples.spread == Stats.Spread(count: 3, median: 2, p99: 3, longest: 3))
  }
}
