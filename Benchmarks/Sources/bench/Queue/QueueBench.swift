import BenchSupport
import Foundation
import Glibc

/// Where queues are measured: each run has a folder of its own, which is removed after it.
struct QueueBench {
  let benchmarks: URL
  let model: String
  let runs: Int
  private let work: URL

  /// - Parameter place: where the folders are made; by default on the disk of temporary files.
  init(
    benchmarks: URL, model: String, runs: Int, in place: URL = FileManager.default.temporaryDirectory
  ) throws {
    self.benchmarks = benchmarks
    self.model = model
    self.runs = runs
    // Sockets have short paths.
    work = place.appending(path: "lade-bench-\(getpid())")
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
  }

  func tidy() {
    do {
      try FileManager.default.removeItem(at: work)
    } catch {
      say("\(work.path) is left: \(error.localizedDescription)")
    }
  }

  /// Runs `body` in an empty folder.
  func inFolder<T>(_ body: (URL) throws -> T) throws -> T {
    let folder = work.appending(path: "run")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// Milliseconds that a page takes to be written to the end of a file and synced.
  private func syncTime() throws -> Double {
    try inFolder { folder in
      let file = open(folder.appending(path: "sync").path, O_RDWR | O_CREAT, 0o600)
      guard file >= 0 else { throw QueueBenchmarkError.system("\(folder.path): \(String(cString: strerror(errno)))") }
      defer { close(file) }
      let page = [UInt8](repeating: 1, count: 4096)
      let times = try (0..<200).map { number in
        let start = MarkSocket.now
        guard pwrite(file, page, page.count, number * page.count) == page.count, fdatasync(file) == 0 else {
          throw QueueBenchmarkError.system("\(folder.path): \(String(cString: strerror(errno)))")
        }
        return (MarkSocket.now - start) * 1000
      }
      return times.median ?? 0
    }
  }

  /// Jobs a second, enqueue to completed, of every side.
  /// - Parameter place: what the folder is on, for the results' names.
  func throughput(jobs counts: [Int], place: String = "") throws -> [BenchResult] {
    let sync = try syncTime()
    say("  a sync takes \(figure(sync * 1000)) µs")
    // Where a sync costs next to nothing there is little to save by sharing transactions.
    let leastOfFloor = sync >= 0.2 ? 2 : 1.2
    let peers = benchmarks.appending(path: ".peers")
    let one = OursBySocket(model: model)
    let many = OursBySocket(model: model, each: 100)
    let spool = OursBySpool(model: model)
    let beanstalkd = Beanstalkd(peers: peers)
    let huey = Huey(peers: peers, benchmarks: benchmarks)
    let floor = QueueFloor()
    let sides: [any QueueSide] = [one, many, spool, beanstalkd, huey, floor]
    for side in sides { if let missing = side.missing { say("  \(side.name) is left out: \(missing)") } }
    var results: [BenchResult] = []
    for jobs in counts {
      for workers in [1, 2] {
        let rates = try rates(of: sides.filter { $0.missing == nil }, jobs: jobs, workers: workers)
        let title = "\(figure(Double(jobs)).split(separator: ".")[0]) jobs\(place), \(workers) at a time"
        func add(_ what: String, _ ours: any QueueSide, _ peer: any QueueSide, _ least: Double) {
          results.append(
            BenchResult(
              "\(title): \(what) against \(peer.name)", ours: rates[ours.name] ?? 0, peer: rates[peer.name],
              unit: "jobs/s", goal: .ratioAtLeast(least)))
        }
        for (what, ours) in [("the socket", one), ("the socket, \(many.each) a request,", many)] {
          add(what, ours, floor, leastOfFloor)
          add(what, ours, beanstalkd, 1)
          add(what, ours, huey, 1)
        }
        add("the spool", spool, beanstalkd, 0)
      }
    }
    return results
  }

  private func rates(of sides: [any QueueSide], jobs: Int, workers: Int) throws -> [String: Double] {
    var completed: [String: [Double]] = [:]
    for round in 0..<runs {
      for side in round.isMultiple(of: 2) ? sides : sides.reversed() {
        let timings = try inFolder { try side.run(jobs: jobs, workers: workers, in: $0) }
        guard timings.sums["completed"] == Int64(jobs) else {
          throw QueueBenchmarkError.wrongCount(
            who: side.name, expected: jobs, found: timings.sums["completed"] ?? 0)
        }
        let seconds = timings.values["completed"] ?? .infinity
        completed[side.name, default: []].append(seconds)
        say(
          "  \(side.name), \(jobs) jobs, \(workers) at a time: \(figure(Double(jobs) / seconds)) jobs/s, "
            + "handed in at \(figure(Double(jobs) / (timings.values["enqueue"] ?? .infinity)))")
      }
    }
    return completed.compactMapValues { $0.median.map { Double(jobs) / $0 } }
  }
}
