import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Logging
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import LadeDaemon
@testable import Spool

@Suite("Metrics of what may not be readable", .timeLimit(.minutes(20)))
struct KeptFilesMeterTests {
  private struct Unreadable: Error, CustomStringConvertible {
    var description: String { "done/ is on a broken disk" }
  }

  private func text(_ families: [MetricFamily]) throws -> PrometheusText {
    let text = MetricsText.of(families)
    return try PrometheusText(text.isEmpty ? "\n" : text)
  }

  @Test("a reader gets the last count without waiting while files are counted, and only one count runs at a time")
  func background() async throws {
    let gate = DispatchSemaphore(value: 0)
    let calls = Mutex(0)
    let meter = KeptFilesMeter(pause: .zero) {
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      gate.wait()
      return ["done": SpoolUse(files: Int64(call), bytes: 10)]
    }
    for _ in 0..<5 { #expect(try text(meter.families().families).families.isEmpty) }
    gate.signal()
    var found = try text(meter.families().families)
    while found.value("lade_spool_kept_files", ["directory": "done"]) == nil {
      await Task.yield()
      found = try text(meter.families().families)
    }
    #expect(found.value("lade_spool_kept_files") == 1 && found.value("lade_spool_kept_bytes") == 10)
    let time = try #require(found.value("lade_spool_kept_measured_timestamp_seconds"))
    #expect(time > 1_700_000_000)
    // The second is under way by now or begins here, and hangs.
    for _ in 0..<5 { #expect(try text(meter.families().families).value("lade_spool_kept_files") == 1) }
    #expect(calls.withLock { $0 } <= 2)
    gate.signal()
    gate.signal()
  }

  @Test("a first count that takes too long is an error until it ends")
  func endless() async throws {
    let gate = DispatchSemaphore(value: 0)
    let meter = KeptFilesMeter(pause: .seconds(1000), patience: .zero) {
      gate.wait()
      return ["done": SpoolUse(files: 7, bytes: 70)]
    }
    // It begins.
    #expect(meter.families().error == nil)
    let latest = meter.families()
    #expect(latest.error is MeasurementOverdue)
    #expect(try text(latest.families).families.isEmpty)
    gate.signal()
    while meter.families().error != nil { await Task.yield() }
    #expect(try text(meter.families().families).value("lade_spool_kept_files") == 7)
  }

  @Test("a count that fails leaves the last one, and says why until one succeeds")
  func failing() async throws {
    let state = Mutex((calls: 0, fails: false))
    let meter = KeptFilesMeter(pause: .zero) {
      try state.withLock { state in
        state.calls += 1
        if state.fails { throw Unreadable() }
        return ["done": SpoolUse(files: 7, bytes: 70)]
      }
    }
    while try text(meter.families().families).value("lade_spool_kept_files") != 7 { await Task.yield() }
    #expect(meter.families().error == nil)
    state.withLock { $0.fails = true }
    var latest = meter.families()
    while latest.error == nil {
      await Task.yield()
      latest = meter.families()
    }
    #expect(latest.error is Unreadable)
    #expect(try text(latest.families).value("lade_spool_kept_files") == 7)
    state.withLock { $0.fails = false }
    while meter.families().error != nil { await Task.yield() }
  }

  @Test("sizes of stores are new for who asks, and old ones, with the reason, while the disk hangs")
  func sizes() async throws {
    let state = Mutex((size: Int64(7), hangs: false))
    let gate = DispatchSemaphore(value: 0)
    let meter = StoreSizesMeter(patience: .zero) {
      if state.withLock({ $0.hangs }) { gate.wait() }
      return [("main", StoreSizes(content: state.withLock { $0.size }, log: 1))]
    }
    func size(within time: Duration = .seconds(600)) async throws -> Double? {
      try text(await meter.families(within: time).families).value("lade_store_size_bytes", ["store": "main"])
    }
    #expect(try await size() == 7)
    state.withLock { $0.size = 8 }
    #expect(try await size() == 8)
    state.withLock { $0 = (9, true) }
    for _ in 0..<3 { #expect(try await size(within: .zero) == 8) }
    #expect(await meter.families(within: .zero).error is MeasurementOverdue)
    state.withLock { $0.hangs = false }
    gate.signal()
    // The one that hung has ended, or a new one has.
    #expect(try await size() == 9)
    while await meter.families(within: .seconds(600)).error != nil { await Task.yield() }
  }

  @Test("what can't be read leaves out its own metrics, is logged once until it can, and is a metric itself")
  func sources() async throws {
    let log = LogRing()
    let sources = MetricSources(logger: Logger(label: "test") { _ in RingLogHandler(log) })
    let family = MetricFamily(.gauge, "lade_jobs", "Jobs.", value: 1)
    #expect(await sources.families(of: .jobs) { return [family] } == [family])
    #expect(log.lines(LogQuery()).isEmpty)
    for _ in 0..<3 {
      #expect(await sources.families(of: .jobs) { throw Unreadable() }.isEmpty)
      #expect(await sources.families(of: .lanes) { return [family] } == [family])
      sources.note(.keptFiles, Unreadable())
    }
    let page = try text([sources.family])
    #expect(page.value("lade_metrics_readable", ["source": "jobs"]) == 0)
    #expect(page.value("lade_metrics_readable", ["source": "lanes"]) == 1)
    #expect(page.value("lade_metrics_readable", ["source": "kept_files"]) == 0)
    let lines = log.lines(LogQuery()).map(\.message)
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("done/ is on a broken disk") }, "\(lines)")
    _ = await sources.families(of: .jobs) { return [family] }
    sources.note(.keptFiles, nil)
    #expect(try text([sources.family]).value("lade_metrics_readable", ["source": "jobs"]) == 1)
    #expect(log.lines(LogQuery()).count == 4)
    // A client that has gone isn't a failure.
    #expect(await sources.families(of: .jobs) { throw CancellationError() }.isEmpty)
    #expect(try text([sources.family]).value("lade_metrics_readable", ["source": "jobs"]) == 1)
  }
}
