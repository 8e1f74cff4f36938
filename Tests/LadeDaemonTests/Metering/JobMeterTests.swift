import ControlServer
import Foundation
import Jobs
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("What is counted of jobs")
struct JobMeterTests {
  private func job(
    _ state: JobState, progress: JobProgress = JobProgress(), id: Int64 = 1, kind: String = "import", attempt: Int = 1,
    rescues: Int = 0, took: Double = 2
  ) -> Job {
    var job = Job(
      id: id, kind: kind, lane: "import", state: state, submittedAt: Date(timeIntervalSinceReferenceDate: 0),
      submittedBy: "user 0", maxAttempts: 5)
    job.startedAt = Date(timeIntervalSinceReferenceDate: 100)
    if state.isEnded { job.endedAt = Date(timeIntervalSinceReferenceDate: 100 + took) }
    (job.attempt, job.rescues) = (attempt, rescues)
    job.progress = progress
    return job
  }

  private func text(_ meter: JobMeter) throws -> PrometheusText { try PrometheusText(MetricsText.of(meter.families)) }

  @Test("records are counted as they are read, rows when the attempt is over")
  func progress() throws {
    let meter = JobMeter(kinds: ["import"])
    meter.note(JobProgress(bytesTotal: 9), of: job(.running))
    meter.note(JobProgress(records: 10, inserted: 8, rejected: 2), of: job(.running))
    #expect(try text(meter).value("lade_records_total", ["kind": "import"]) == 10)
    #expect(try text(meter).value("lade_rejects_total", ["kind": "import"]) == 2)
    #expect(try text(meter).value("lade_rows_total", ["kind": "import", "change": "inserted"]) == 0)
    let last = JobProgress(records: 15, inserted: 9, updated: 1, unchanged: 2, deleted: 4, rejected: 2, skipped: 1)
    meter.note(job(.completed, progress: last), from: .running)
    let text = try text(meter)
    #expect(text.value("lade_records_total", ["kind": "import"]) == 15)
    #expect(text.value("lade_records_skipped_total", ["kind": "import"]) == 1)
    let rows = ["inserted", "updated", "unchanged", "deleted"].map {
      text.value("lade_rows_total", ["kind": "import", "change": $0])
    }
    #expect(rows == [9, 1, 2, 4])
    #expect(text.value("lade_jobs_ended_total", ["kind": "import", "state": "completed"]) == 1)
    #expect(text.value("lade_job_duration_seconds_sum", ["kind": "import"]) == 2)
  }

  @Test("what was done before this daemon, or by an earlier attempt, isn't counted again")
  func resumed() throws {
    for (attempt, rescues) in [(1, 1), (2, 0)] {
      let meter = JobMeter(kinds: [])
      meter.note(JobProgress(records: 100, inserted: 100), of: job(.running, attempt: attempt, rescues: rescues))
      meter.note(JobProgress(records: 120, inserted: 118), of: job(.running, attempt: attempt, rescues: rescues))
      let ended = job(
        .completed, progress: JobProgress(records: 130, inserted: 128), attempt: attempt, rescues: rescues)
      meter.note(ended, from: .running)
      #expect(try text(meter).value("lade_records_total") == 30)
      #expect(try text(meter).value("lade_rows_total", ["change": "inserted"]) == 28)
    }
    // It had finished when it was killed, and says so without a report.
    let meter = JobMeter(kinds: [])
    meter.note(job(.completed, progress: JobProgress(records: 130, inserted: 128), rescues: 1), from: .running)
    #expect(try text(meter).value("lade_records_total") == 0)
  }

  @Test("a failure that may pass is a retry, and what is taken back isn't rows")
  func failed() throws {
    let meter = JobMeter(kinds: [])
    meter.note(JobProgress(records: 50, inserted: 50), of: job(.running))
    meter.note(job(.retryable, progress: JobProgress(records: 50)), from: .running)
    let text = try text(meter)
    #expect(text.value("lade_job_retries_total") == 1)
    #expect(text.value("lade_records_total") == 50)
    #expect(text.value("lade_rows_total", ["change": "inserted"]) == 0)
    #expect(text.value("lade_jobs_ended_total", ["state": "completed"]) == 0)
    #expect(text.families["lade_job_duration_seconds"] == nil)
  }

  @Test("a short job's claim and end may be one change; what never ran counts as ended alone")
  func short() throws {
    let meter = JobMeter(kinds: [])
    meter.note(job(.completed, progress: JobProgress(records: 3, inserted: 3), id: 1), from: .available)
    meter.note(job(.cancelled, progress: JobProgress(records: 7, inserted: 7), id: 2), from: .available)
    meter.note(job(.running, id: 3), from: .available)
    meter.note(job(.available, id: 3), from: nil)
    let text = try text(meter)
    #expect(text.value("lade_records_total") == 3)
    #expect(text.value("lade_rows_total", ["change": "inserted"]) == 3)
    #expect(text.value("lade_jobs_ended_total", ["state": "completed"]) == 1)
    #expect(text.value("lade_jobs_ended_total", ["state": "cancelled"]) == 1)
    #expect(text.value("lade_job_duration_seconds_count") == 1)
  }

  @Test("kinds are listed from the beginning, and their number is limited")
  func kinds() throws {
    let meter = JobMeter(kinds: ["import", "check"])
    #expect(try text(meter).value("lade_jobs_ended_total", ["kind": "check", "state": "discarded"]) == 0)
    for number in 0..<200 { meter.note(job(.completed, id: Int64(number), kind: "kind\(number)"), from: .running) }
    let families = try text(meter).families
    let retries = try #require(families["lade_job_retries_total"])
    #expect(retries.samples.count == 65)
    #expect(try text(meter).value("lade_jobs_ended_total", ["kind": "other", "state": "completed"]) == 138)
  }
}
