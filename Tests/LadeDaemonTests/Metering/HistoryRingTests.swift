import ControlAPI
import Foundation
import Jobs
import Testing

@testable import LadeDaemon

@Suite("The history of the last hours")
struct HistoryRingTests {
  /// The beginning of an hour.
  private let start = Date(timeIntervalSince1970: 1_790_002_800)

  private func job(_ state: JobState, at second: Double, took: Double = 1) -> Job {
    var job = Job(
      id: 1, kind: "import", lane: "import", state: state, submittedAt: start, submittedBy: "anna", maxAttempts: 1)
    job.endedAt = start.addingTimeInterval(second)
    job.startedAt = start.addingTimeInterval(second - took)
    return job
  }

  @Test("what ended, was read and waited is in its minute, and spans put minutes together")
  func spans() throws {
    let ring = HistoryRing(since: start)
    for took in 1...20 { ring.note(job(.completed, at: 70, took: Double(took))) }
    ring.note(job(.discarded, at: 130))
    ring.note(job(.cancelled, at: 131))
    ring.note(job(.retryable, at: 131))
    ring.note(job(.completed, at: -5))
    ring.sample(waiting: ["import": 3], records: 500, at: start.addingTimeInterval(65))
    ring.sample(waiting: ["import": 7], records: 800, at: start.addingTimeInterval(125))
    let now = start.addingTimeInterval(190)
    let minutes = ring.history(HistorySpanQuery(), at: now).spans
    #expect(minutes.map(\.start) == (0..<4).map { start.addingTimeInterval(Double($0) * 60) })
    #expect(minutes.map(\.completed) == [0, 20, 0, 0])
    #expect(minutes.map(\.records) == [0, 500, 300, 0])
    #expect((minutes[1].median, minutes[1].p95) == (10, 19))
    #expect((minutes[2].discarded, minutes[2].cancelled, minutes[2].waiting) == (1, 1, ["import": 7]))
    #expect(minutes[2].median == nil)
    let together = ring.history(HistorySpanQuery(grain: 5), at: now)
    #expect(together.grain == 5 && together.spans.count == 1)
    let span = try #require(together.spans.first)
    #expect((span.completed, span.records, span.median, span.waiting) == (20, 800, 10, ["import": 7]))
  }

  @Test("six hours are kept, and a new minute takes the place of the oldest")
  func ring() {
    let ring = HistoryRing(since: start)
    ring.note(job(.completed, at: 1))
    ring.note(job(.completed, at: 6 * 3600 + 1))
    let spans = ring.history(HistorySpanQuery(), at: start.addingTimeInterval(6 * 3600 + 2)).spans
    #expect(spans.count == 360 && spans.map(\.completed).reduce(0, +) == 1 && spans.last?.completed == 1)
    // What comes late for its minute isn't counted in another one.
    ring.note(job(.completed, at: 2))
    #expect(ring.history(HistorySpanQuery(), at: start.addingTimeInterval(6 * 3600 + 2)).spans.last?.completed == 1)
  }

  @Test("the file systems of all parts are listed once each, with what is free of them")
  func disks() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    let meter = DiskMeter(parts: [
      .init(name: "spool", path: folder), .init(name: "store main", path: folder), .init(name: "state", path: "/proc"),
    ])
    let disks = try await meter.use(within: .seconds(600)).disks
    #expect(disks.first?.parts == ["spool", "store main"] && disks.map(\.path) == [folder, "/proc"])
    let disk = try #require(disks.first)
    #expect(disk.size > 0 && disk.free <= disk.size)
    // One that is gone hides none of the others.
    let lost = DiskMeter(parts: [.init(name: "spool", path: folder), .init(name: "store main", path: "/nowhere")])
    let known = try await lost.use(within: .seconds(600)).disks
    #expect(known.map(\.parts) == [["store main"], ["spool"]])
    #expect(known.first?.problem?.contains("No such file") == true)
  }

  @Test("a clock that is set back hides nothing that happens afterwards")
  func clock() {
    let ring = HistoryRing(since: start.addingTimeInterval(86_400))
    ring.note(job(.completed, at: 86_400), at: start.addingTimeInterval(86_400))
    ring.note(job(.completed, at: 60), at: start.addingTimeInterval(60))
    ring.sample(waiting: [:], records: 9, at: start.addingTimeInterval(60))
    let spans = ring.history(HistorySpanQuery(), at: start.addingTimeInterval(120)).spans
    #expect(spans.map(\.completed).reduce(0, +) == 1 && spans.map(\.records).reduce(0, +) == 9)
  }

  @Test("a file system is short when less than a twentieth of its space or its files is left")
  func short() {
    func problem(_ free: Int64, _ inodes: Int64, _ freeInodes: Int64) -> String? {
      DiskUse(parts: ["spool"], path: "/", size: 1000, free: free, inodes: inodes, freeInodes: freeInodes).problem
    }
    #expect(problem(50, 100, 5) == nil)
    #expect(problem(49, 100, 5)?.contains("are free") == true)
    #expect(problem(50, 100, 4)?.contains("files can still be made") == true)
    #expect(problem(50, 0, 0) == nil, "it doesn't count files")
  }

  @Test("a job's options are listed by name, without what could give a secret away")
  func settings() {
    var job = job(.running, at: 1)
    job.options = """
      {"batchSize":500,"reader":{"header":true,"quote":null},"mapping":{"key":["id","n"],"nulls":[],
       "properties":{"mail":{"mask":{"method":"hash","key":"s3cret"}},
        "shoeSize":{"column":"shoe Size","trims":true,"values":{"noSize":"0"},"refusesOtherValues":true}}},"from":{"postgres":"host=x password=s3cret"}}
      """
    #expect(
      JobSettings(of: job).list == [
        JobSetting("batch_size", "500"), JobSetting("header", "true"), JobSetting("key", "id, n"),
        JobSetting("properties.mail.mask", "masked"), JobSetting("properties.shoeSize.column", "shoe Size"),
        JobSetting("properties.shoeSize.other_values", "reject"), JobSetting("properties.shoeSize.trim", "true"),
        JobSetting("properties.shoeSize.values.noSize", "0"),
      ])
    job.kind = "update"
    job.options = #"{"set": {"shoeSize": 41}, "where": "isOld == TRUE"}"#
    #expect(JobSettings(of: job).list == [JobSetting("set.shoeSize", "41"), JobSetting("where", "isOld == TRUE")])
    job.options = "not JSON"
    #expect(JobSettings(of: job).list.isEmpty)
  }
}
