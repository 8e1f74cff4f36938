import Jobs
import Logging
import ServiceLifecycle
import Systemd

/// Reports to the service manager: `STATUS=` after each change, at most every second, and `STOPPING=1`.
struct StatusService: Service {
  let queue: JobQueue
  let logger: Logger

  func run() async throws {
    await withGracefulShutdownHandler {
      for await job in queue.events(capacity: 1, isLive: false).cancelOnGracefulShutdown() {
        await tell(job)
        // Changes in the meantime are one event, the newest.
        guard await pause() else { break }
      }
    } onGracefulShutdown: {
      notify(.stopping, .status("stopping: running jobs end at their next batch"))
    }
  }

  /// - Returns: false when the daemon stops.
  private func pause() async -> Bool {
    do {
      try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
      return true
    } catch {
      return false
    }
  }

  /// Says that the daemon is up.
  func ready() async {
    do {
      notify(.ready, .status(try await summary(nil)))
    } catch {
      notify(.ready)
      logger.warning("the queue can't be counted: \(error)")
    }
  }

  /// Says that the configuration is read again; `reloaded(_:)` follows.
  func reloading() { notify(.reloading, .status("reading the configuration again")) }

  /// Says that the daemon is up, by a new configuration or, where there was trouble with that, as before.
  func reloaded(_ trouble: String?) async {
    if let trouble { notify(.ready, .status(trouble)) } else { await ready() }
  }

  /// Says that a lane was paused or resumed, which moves no job.
  func lanesChanged() async { await tell(nil) }

  private func tell(_ job: Job?) async {
    do {
      notify(.status(try await summary(job)))
    } catch {
      logger.warning("the queue can't be counted: \(error)")
    }
  }

  /// `12 available, 2 running: stop_times 41 %; paused: import`
  private func summary(_ job: Job?) async throws -> String {
    let counts = try await queue.counts()
    let lanes = try await queue.laneSnapshots()
    var text = "\(counts[.available]) available, \(counts[.running]) running"
    if let job, job.state == .running, let percent = job.progress.percent {
      text += ": \(job.source ?? job.entity ?? "") \(percent) %"
    }
    let paused = lanes.filter(\.isPaused).map(\.name)
    if !paused.isEmpty { text += "; paused: " + paused.joined(separator: ", ") }
    return text
  }

  private func notify(_ notices: ServiceManager.Notice...) {
    do {
      for notice in notices { try ServiceManager.notify(notice) }
    } catch {
      logger.warning("systemd can't be notified: \(error)")
    }
  }
}
