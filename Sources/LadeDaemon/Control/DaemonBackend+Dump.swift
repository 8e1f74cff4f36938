import ControlAPI
import Foundation
import Jobs
import Logging

extension DaemonBackend {
  /// Writes the daemon's state to the log.
  func dump(to logger: Logger) async {
    do {
      for line in try await stateLines() { logger.notice("\(line)") }
    } catch {
      logger.error("state: it can't be told: \(error)")
    }
  }

  /// The daemon's state for people, as lines: what runs, what waits, the stores, the process itself.
  func stateLines() async throws -> [String] {
    let stats = try await stats()
    var lines = ["state: up for \(Int(stats.uptime)) s; jobs: " + Self.listed(stats.counts)]
    for lane in try await lanes() {
      let paused = lane.isPaused ? ", paused by \(lane.pausedBy ?? "somebody")" : ""
      lines.append(
        "state: lane \(lane.name): \(lane.running.count) of \(lane.concurrency) running\(paused); "
          + Self.listed(lane.counts))
    }
    for job in queue.runningJobs {
      let progress = job.progress
      let share = progress.bytesTotal > 0 ? ", \(progress.bytesDone * 100 / progress.bytesTotal) %" : ""
      let seconds = job.startedAt.map { Int(-$0.timeIntervalSinceNow) } ?? 0
      lines.append(
        "state: job \(job.id): \(job.kind) \(job.source ?? job.entity ?? "") in \(job.lane), attempt \(job.attempt), "
          + "for \(seconds) s\(share), \(progress.records) records")
    }
    for store in try await stores(StoreQuery(counts: false)) {
      lines.append("state: store \(store.name): \(store.path), \(store.size) bytes, log \(store.walSize) bytes")
    }
    if let main = stats.mainQueue {
      lines.append("state: the main queue let others wait \(main.median) s in the median, \(main.longest) s at most")
    }
    for (name, main) in stats.mainContexts.sorted(by: { $0.key < $1.key }) {
      let lag = main.lag.map { ", merge lag \($0.median) s in the median, \($0.p99) s at the 99th percentile" } ?? ""
      lines.append(
        "state: main context of \(name): \(main.savesMerged) saves merged\(lag), \(main.registeredObjects) objects")
    }
    let process = ProcessUse.now()
    lines.append("state: memory \(process.residentBytes >> 20) MiB, \(process.descriptors) open files")
    return lines
  }

  private static func listed(_ counts: [String: Int]) -> String {
    let shown = JobState.allCases.compactMap { state in
      counts[state.rawValue].flatMap { $0 == 0 ? nil : "\($0) \(state.rawValue)" }
    }
    return shown.isEmpty ? "no jobs" : shown.joined(separator: ", ")
  }
}
