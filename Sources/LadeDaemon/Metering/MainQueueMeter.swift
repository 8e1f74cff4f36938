import ControlAPI
import ControlServer
import Dispatch
import Jobs
import ServiceLifecycle
import Synchronization

/// Measures how long the main queue lets others wait: after each change of a job, at most twenty times a second, so that
/// an idle daemon isn't woken for it.
struct MainQueueMeter: Service {
  let queue: JobQueue
  private let samples = Samples()

  init(queue: JobQueue) { self.queue = queue }

  private final class Samples: Sendable {
    let latest = Mutex(LatestSamples(capacity: 1200))
    let all = Mutex(Histogram.ofWaits)
  }

  /// The latest minute's, if there was that much to do.
  var spread: Stats.Spread? { samples.latest.withLock(\.spread) }

  /// All of them.
  var waits: Histogram { samples.all.withLock { $0 } }

  func run() async throws {
    for await _ in queue.events(capacity: 1, isLive: false).cancelOnGracefulShutdown() {
      await measure()
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(50)) }
      } catch {
        break
      }
    }
  }

  private func measure() async {
    let start = ContinuousClock.now
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume() }
    }
    let time = start.duration(to: .now)
    samples.latest.withLock { $0.add(time / .seconds(1)) }
    samples.all.withLock { $0.observe(time) }
  }
}
