import BenchSupport
import Foundation
import Glibc

// What no peer is held against.

extension QueueBench {
  /// Milliseconds from the rename of a ticket to the beginning of its job, the daemon having nothing else to do.
  func latency() throws -> [BenchResult] {
    var times: [Double] = []
    try inFolder { folder in
      let marks = try MarkSocket(in: folder)
      let daemon = try QueueDaemon(in: folder.appending(path: "d"), model: model, workers: 1, marks: marks)
      try daemon.start()
      defer { daemon.stop() }
      try daemon.whenReady()
      for number in 0..<1000 {
        // Now and then enough for whatever sleeps to have gone to sleep.
        usleep(number.isMultiple(of: 10) ? 50_000 : 3000)
        let start = try ticket("noop", number, in: daemon.spool)
        // The first have what a program does once.
        let seconds = try marks.next() - start
        if number >= 20 { times.append(seconds * 1000) }
      }
    }
    times.sort()
    func percentile(_ part: Double) -> Double { times[min(times.count - 1, Int(Double(times.count) * part))] }
    return [
      BenchResult("rename to running, p50", ours: percentile(0.5), peer: nil, unit: "ms", goal: .oursAtMost(1)),
      BenchResult("rename to running, p99", ours: percentile(0.99), peer: nil, unit: "ms", goal: .oursAtMost(10)),
    ]
  }

  /// Milliseconds from the start of a daemon that was killed to the beginning of the job that it ran.
  func restart() throws -> BenchResult {
    var times: [Double] = []
    for number in 0..<max(runs, 3) {
      try inFolder { folder in
        let marks = try MarkSocket(in: folder)
        let daemon = try QueueDaemon(in: folder.appending(path: "d"), model: model, workers: 1, marks: marks)
        try daemon.start()
        try daemon.whenReady()
        _ = try ticket("stay", number, in: daemon.spool)
        _ = try marks.next()
        daemon.kill()
        let start = try daemon.start()
        defer { daemon.stop() }
        times.append((try marks.next() - start) * 1000)
      }
    }
    return BenchResult(
      "restart to running again", ours: times.median ?? .infinity, peer: nil, unit: "ms", goal: .oursAtMost(100))
  }

  /// Microseconds a job from a queue that is long, against a short one.
  func claim(queued: Int) throws -> BenchResult {
    let taken = 5000
    // Of both, what is queued while it is measured is that and no less; some more end before the lane is paused again.
    func each(_ queued: Int) throws -> Double {
      try inFolder { folder in
        let daemon = try QueueDaemon(in: folder, model: model, workers: 1)
        let load = programBeside("queue-load").path
        // The store is made by a daemon, and that the lane is paused stands in it.
        try daemon.start()
        try daemon.whenReady()
        _ = try MeasuredProgram(load, ["pause", daemon.socket]).run()
        daemon.stop()
        _ = try MeasuredProgram(
          programBeside("lade-queue").path, ["--seed", daemon.queueStore, "\(queued + (runs + 2) * taken)"]
        ).run()
        try daemon.start()
        defer { daemon.stop() }
        try daemon.whenReady()
        var times: [Double] = []
        for run in 0...runs {
          let timings = try Timings(printed: MeasuredProgram(load, ["drain", daemon.socket, "\(taken)"]).run().output)
          // The first has what a daemon does once.
          if run > 0 { times.append((timings.values["completed"] ?? .infinity) / Double(taken) * 1e6) }
        }
        say("  of \(figure(Double(queued))): \(times.map { figure($0) + " µs" }.joined(separator: ", "))")
        return times.median ?? .infinity
      }
    }
    let short = try each(100)
    let long = try each(queued)
    return BenchResult(
      "a job from \(figure(Double(queued))) queued, against 100", ours: long, peer: short, unit: "µs",
      goal: .ratioAtMost(1.2))
  }

  /// How often a second the threads of a daemon that has nothing to do are woken up.
  func idle() throws -> BenchResult {
    try inFolder { folder in
      let daemon = try QueueDaemon(in: folder, model: model, workers: 1)
      try daemon.start()
      defer { daemon.stop() }
      try daemon.whenReady()
      sleep(5)
      let before = try wakeUps(of: daemon.processIdentifier)
      sleep(20)
      let after = try wakeUps(of: daemon.processIdentifier)
      return BenchResult(
        "idle, wake-ups a second", ours: Double(after - before) / 20, peer: nil, unit: "1/s", goal: .oursAtMost(1))
    }
  }

  /// Hands in a ticket as its writers should.
  /// - Returns: when it was renamed.
  private func ticket(_ kind: String, _ number: Int, in spool: String) throws -> Double {
    let temporary = "\(spool)/tmp/\(kind)-\(number).job"
    try "kind: \(kind)\nlane: import\n".write(toFile: temporary, atomically: false, encoding: .utf8)
    let start = MarkSocket.now
    guard rename(temporary, "\(spool)/incoming/\(kind)-\(number).job") == 0 else {
      throw QueueBenchmarkError.system("\(temporary): \(String(cString: strerror(errno)))")
    }
    return start
  }

  /// How often the threads of a process have gone to sleep by themselves.
  private func wakeUps(of process: Int32) throws -> Int {
    let folder = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, thread in
      let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return sum + (line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0)
    }
  }
}
