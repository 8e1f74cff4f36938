import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

@Suite("Progress")
struct ProgressTests {
  private func running(_ bytes: Int64, of total: Int64 = 1_000_000, records: Int64 = 0) -> Job {
    .example(12, .running, progress: JobProgress(bytesDone: bytes, bytesTotal: total, records: records))
  }

  @Test("a running job has a bar, its share, its speed and the time that is left")
  func bar() {
    var line = ProgressLine(running(630_000))
    line.speed = .init(bytesPerSecond: 12_400_000, recordsPerSecond: 80_000)
    line.remaining = 12
    #expect(
      line.rendered(width: 100, style: .plain)
        == "12 stops.csv  " + String(repeating: "━", count: 25) + String(repeating: "─", count: 15)
        + "  63 %  12.4 MB/s  80,000 records/s  0:12 left")
  }

  @Test("a line never is wider than the terminal", arguments: [10, 20, 30, 45, 60, 80, 200])
  func fits(_ width: Int) {
    var job = running(999_999, records: 123_456_789)
    job.source = "ein sehr langer Name 駅駅駅 mit vielen Wörtern.csv"
    var line = ProgressLine(job)
    line.speed = .init(bytesPerSecond: 1, recordsPerSecond: 1)
    line.remaining = 100_000
    #expect(line.rendered(width: width, style: .plain).displayWidth <= width)
  }

  @Test("a job whose size isn't known has no bar")
  func unknownSize() {
    let line = ProgressLine(running(100, of: 0, records: 7)).rendered(width: 80, style: .plain)
    #expect(line == "12 stops.csv  7 records")
  }

  @Test("a terminal without Unicode gets an ASCII bar")
  func ascii() {
    #expect(ProgressLine.bar(0.5, width: 6, Style(colours: false, unicode: false)) == "###...")
    #expect(ProgressLine.bar(1, width: 3, .plain) == "━━━")
    #expect(ProgressLine.bar(0, width: 3, .plain) == "───")
  }

  @Test("a job that has ended says what came of it")
  func sentences() {
    let done = Job.example(
      3, .completed, progress: JobProgress(records: 1000, inserted: 0, updated: 0, unchanged: 998, rejected: 2))
    #expect(
      ProgressLine(done).sentence(style: .plain)
        == "3 stops.csv completed: 1,000 records, 0 inserted, 0 updated, 998 unchanged, 2 rejected, in 3.00 s")
    #expect(
      ProgressLine.outcome(JobProgress(records: 9, inserted: 3, updated: 1, deleted: 1200, rejected: 1, skipped: 4))
        == "9 records, 3 inserted, 1 updated, 1,200 deleted, 4 skipped, 1 rejected")
    #expect(
      ProgressLine(.example(4, .discarded, reason: "line 3: no such column")).sentence(style: .plain)
        == "4 stops.csv discarded: line 3: no such column")
    #expect(ProgressLine(.example(5, .available)).sentence(style: .plain) == "5 stops.csv available")
  }

  @Test("of a job that has completed it is said that it was a dry run, and no more than fits of a long note")
  func notes() {
    let progress = JobProgress(records: 2, inserted: 2)
    let dry = Job.example(3, .completed, progress: progress, reason: "done", note: "dry run: nothing was committed")
    #expect(
      ProgressLine(dry).sentence(style: .plain)
        == "3 stops.csv completed: 2 records, 2 inserted, 0 updated, in 3.00 s; dry run: nothing was committed")
    let long = Job.example(3, .completed, progress: progress, note: String(repeating: "column ", count: 5000))
    let sentence = ProgressLine(long).sentence(style: .plain)
    #expect(sentence.contains("; column column") && sentence.hasSuffix("…") && sentence.displayWidth < 300)
    let plain = Job.example(3, .completed, progress: progress, reason: "done")
    #expect(!ProgressLine(plain).sentence(style: .plain).contains("done"))
  }

  @Test("a feed's rejects are a folder of files, and its mode is each entity's own")
  func feed() {
    let report = RejectReport(job: 7, file: "/r/7.rejects", isFolder: true, count: 1)
    #expect(
      RejectSheet(report: report).rendered(style: .plain).contains(
        "copy its files, correct them there, and submit each"))
    var job = Job.example(7, .completed)
    (job.entity, job.mode) = ("*", nil)
    let sheet = JobSheet(job: job).rendered(width: nil, style: .plain)
    #expect(sheet.contains("import into the entities of its files of store main\n"), "\(sheet)")
  }

  @Test("the rate follows what was reported, newer reports weighing more")
  func rate() {
    var meter = RateMeter(memory: 2)
    meter.note(JobProgress(bytesDone: 0, records: 0), at: 0)
    #expect(meter.speed == nil)
    meter.note(JobProgress(bytesDone: 1000, records: 10), at: 1)
    #expect(meter.speed == .init(bytesPerSecond: 1000, recordsPerSecond: 10))
    meter.note(JobProgress(bytesDone: 7000, records: 70), at: 3)
    #expect(meter.speed == .init(bytesPerSecond: 2000, recordsPerSecond: 20))
    #expect(meter.remaining(JobProgress(bytesDone: 7000, bytesTotal: 11_000)) == 2)
    #expect(meter.remaining(JobProgress(bytesDone: 7000, bytesTotal: 0)) == nil)
  }

  @Test("a job that goes through objects shows records, and no bytes")
  func records() {
    let progress = JobProgress(records: 1_250, updated: 1_250, recordsTotal: 5_000)
    let job = Job.example(3, .running, progress: progress)
    var meter = RateMeter()
    meter.note(JobProgress(records: 250, recordsTotal: 5_000), at: 0)
    meter.note(progress, at: 1)
    let line = ProgressLine(job, meter).rendered(width: 100, style: .plain)
    #expect(line.contains("25 %  1,000 records/s  0:04 left") && line.contains("━") && !line.contains("B/s"), "\(line)")
    let sheet = JobSheet(job: job).rendered(width: nil, style: .plain)
    #expect(sheet.contains("1,250 of 5,000 records, 25 %"), "\(sheet)")
  }

  @Test("a new attempt, which begins again, begins the measurement again")
  func newAttempt() {
    var meter = RateMeter()
    meter.note(JobProgress(bytesDone: 5000), at: 0)
    meter.note(JobProgress(bytesDone: 9000), at: 1)
    meter.note(JobProgress(bytesDone: 0), at: 2)
    #expect(meter.speed == nil)
  }
}

@Suite("Waiting")
struct JobWatchTests {
  @Test("named jobs are waited for until each has ended, and others aren't")
  func named() {
    var watch = JobWatch(.jobs([1, 2]))
    #expect(watch.note(.example(3, .running), at: 0) == .none)
    #expect(watch.note(.example(1, .running), at: 0) == .state)
    #expect(watch.note(.example(1, .running, progress: JobProgress(records: 1)), at: 1) == .progress)
    #expect(watch.note(.example(1, .completed), at: 2) == .state)
    #expect(!watch.isDone)
    #expect(watch.note(.example(2, .cancelled), at: 2) == .state)
    #expect(watch.isDone)
    #expect(watch.exitStatus == .jobEndedBadly)
  }

  @Test("an event from before the answer doesn't bring an ended job back")
  func late() {
    var watch = JobWatch(.jobs([1]))
    _ = watch.note(.example(1, .completed), at: 0)
    #expect(watch.note(.example(1, .running), at: 1) == .none)
    #expect(watch.isDone)
    #expect(watch.exitStatus == .success)
  }

  @Test("an event from before the attempt that is known of changes nothing")
  func early() {
    var watch = JobWatch(.jobs([1]))
    var before = Job.example(1, .available)
    before.attempt = 0
    #expect(watch.note(before, at: 0) == .state)
    #expect(watch.note(.example(1, .running), at: 0) == .state)
    #expect(watch.note(before, at: 1) == .none)
    #expect(watch.pending.map(\.state) == [.running])
  }

  @Test("waiting for all takes in what comes, and not what is put off or had ended before")
  func all() {
    var watch = JobWatch(.all)
    #expect(watch.isDone)
    #expect(watch.note(.example(1, .discarded), at: 0) == .none)
    #expect(watch.note(.example(2, .scheduled), at: 0) == .none)
    #expect(watch.note(.example(3, .available), at: 0) == .state)
    #expect(!watch.isDone)
    _ = watch.note(.example(3, .completed), at: 1)
    #expect(watch.isDone)
    #expect(watch.exitStatus == .success)
    #expect(watch.jobs.map(\.id) == [3])
  }

  @Test("in a pipe there is a line for a change of state and for each tenth, and no more")
  func pipe() {
    var watch = JobWatch(.jobs([1]))
    var display = WaitDisplay(isInteractive: false, width: 80, style: .plain)
    var text = ""
    func at(_ done: Int64) -> Job {
      .example(1, .running, progress: JobProgress(bytesDone: done, bytesTotal: 100, records: done))
    }
    for (time, job) in [at(0), at(4), at(12), at(13), at(29), .example(1, .completed)].enumerated() {
      let change = watch.note(job, at: Double(time))
      text += display.text(for: job, change, in: watch, at: Double(time))
    }
    #expect(
      text == """
        1 stops.csv running
        1 stops.csv running: 12 %, 12 records
        1 stops.csv running: 29 %, 29 records
        1 stops.csv completed: 0 records, 0 inserted, 0 updated, in 3.00 s

        """)
  }

  @Test("in a pipe what the job is at is said, nothing twice, and what it waits for")
  func phases() {
    var watch = JobWatch(.jobs([1]))
    var display = WaitDisplay(isInteractive: false, width: 80, style: .plain)
    var text = ""
    func at(_ done: Int64, _ phase: String?) -> Job {
      .example(1, .running, progress: JobProgress(bytesDone: done, bytesTotal: 100, phase: phase))
    }
    var waiting = Job.example(1, .available)
    waiting.waitsFor = "lane import, which anna paused"
    for (time, job) in [waiting, at(0, nil), at(20, nil), at(45, "copying"), at(70, "copying")].enumerated() {
      let change = watch.note(job, at: Double(time))
      text += display.text(for: job, change, in: watch, at: Double(time))
    }
    #expect(
      text == """
        1 stops.csv available, waits for lane import, which anna paused
        1 stops.csv running
        1 stops.csv running: copying, 45 %
        1 stops.csv running: copying, 70 %

        """)
  }

  @Test("on a terminal what jobs to come wait for is said where it is the same")
  func obstacle() {
    var watch = JobWatch(.jobs([1, 2]))
    var display = WaitDisplay(isInteractive: true, width: 80, style: .plain)
    var job = Job.example(1, .available)
    job.waitsFor = "lane import, which anna paused"
    let change = watch.note(job, at: 0)
    let text = display.text(for: job, change, in: watch, at: 0)
    #expect(text == "1 job to come, waits for lane import, which anna paused\n")
  }

  @Test("on a terminal the bars are redrawn, not too often, and what has ended stays")
  func terminal() {
    var watch = JobWatch(.jobs([1, 2]))
    var display = WaitDisplay(isInteractive: true, width: 80, style: .plain)
    func show(_ job: Job, at time: Double) -> String {
      let change = watch.note(job, at: time)
      return display.text(for: job, change, in: watch, at: time)
    }
    #expect(show(.example(2, .available), at: 0) == "1 job to come\n")
    #expect(show(.example(1, .running), at: 0) == "\u{1B}[1A\r\u{1B}[J1 stops.csv  0 records\n1 more job to come\n")
    #expect(show(.example(1, .running, progress: JobProgress(records: 1)), at: 0.01) == "")
    #expect(show(.example(1, .running, progress: JobProgress(records: 2)), at: 1).contains("records"))
    #expect(
      show(.example(1, .completed), at: 1)
        == "\u{1B}[2A\r\u{1B}[J1 stops.csv completed: 0 records, 0 inserted, 0 updated, in 3.00 s\n1 job to come\n")
  }
}
