import ControlTestSupport
import Foundation
import LadeTypes
import Testing

@testable import WebPages

@Suite("The page of a job")
struct JobPageTests {
  private static let start = Date(timeIntervalSince1970: 1_790_000_000)

  private static func step(
    _ second: Double, _ from: JobState?, _ to: JobState, _ reason: String = ""
  ) -> JobTransition {
    JobTransition(at: start.addingTimeInterval(second), from: from, to: to, reason: reason)
  }

  @Test("its attempts are told by its states, with how long each took and why it ended")
  func attempts() async throws {
    let steps = [
      Self.step(0, nil, .available), Self.step(1, .available, .running),
      Self.step(31, .running, .retryable, "<b>locked"),
      Self.step(60, .retryable, .available), Self.step(61, .available, .running),
      Self.step(62, .running, .running, "asked to stop"),
    ]
    let attempts = JobAttempts(steps)
    #expect(attempts.list == [.init(start: steps[1].at, end: steps[2]), .init(start: steps[4].at)])
    let table = attempts.table(now: Self.start.addingTimeInterval(71)).text
    #expect(table.contains("30.0 s") && table.contains("10.0 s") && table.contains("&lt;b&gt;locked"))
    #expect(JobAttempts([steps[0]]).table(now: Self.start).text.isEmpty)
  }

  @Test("it says how fast it is now, what is left by that, where it comes from and what is in force")
  func facts() async throws {
    var job = Job.example(7, .running)
    job.startedAt = Date().addingTimeInterval(-100)
    job.progress = JobProgress(bytesDone: 10, bytesTotal: 100, records: 1000)
    job.rate = CurrentRate(seconds: 10, records: 250, bytes: 2, secondsLeft: 45)
    job.originSummary = JobOrigin.Summary(.schedule, name: "<nightly>")
    job.settings = [JobSetting("reader.delimiter", ";"), JobSetting("mapping.key", "<img>")]
    try await Site.with(MemoryBackend(jobs: [job])) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs/7").text
      #expect(page.contains("<dt>Now</dt><dd>250 records/s</dd>") && page.contains("0:45 left"))
      #expect(page.contains("href=\"/schedules\"") && page.contains("&lt;nightly&gt;"))
      #expect(page.contains("reader.delimiter") && page.contains("&lt;img&gt;"))
      job.originSummary = JobOrigin.Summary(.retry, job: 3)
      site.backend.set(job)
      #expect(try await browser.get("/jobs/7").text.contains("rejects of job <a href=\"/jobs/3\">"))
    }
  }

  @Test("the first page shows the last hours and the disks, hostile names and all")
  func history() async throws {
    try await Site.with(MemoryBackend()) { site async throws in
      let page = try await site.signedIn().get("/").text
      #expect(page.contains("role=\"img\"") && page.contains("<polyline") && page.contains("<title id=\"plot-ended\">"))
      #expect(page.contains("completed: 71 at the end, 71 at most."))
      #expect(page.contains("<summary>The figures</summary>") && page.contains("Waiting in import"))
      #expect(!page.contains("<img"))
      #expect(page.contains("store main") && page.contains("enough"))
      #expect(!page.contains(" style=\""))
    }
  }
}
