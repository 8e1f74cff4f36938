import Dispatch
import Foundation
import Glibc
import Synchronization

/// Watches the main queue: how long it keeps others waiting, asked every millisecond, and how much processor time its
/// thread uses.
final class MainQueueProbe: Sendable {
  private struct State {
    var longest = 0.0
    var count = 0
    var isStopped = false
  }

  private let state = Mutex(State())

  /// Processor seconds of the main queue's thread so far.
  static func processorSeconds() -> Double {
    DispatchQueue.main.sync {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  }

  /// What a probe itself costs the main queue, in seconds.
  static func cost() -> Double {
    let before = processorSeconds()
    for _ in 0..<500 {
      DispatchQueue.main.sync {}
      usleep(1000)
    }
    return max(0, processorSeconds() - before) / 500
  }

  /// Starts probing, on a thread of its own.
  func start() {
    Thread.detachNewThread {
      while !self.state.withLock({ $0.isStopped }) {
        let clock = ContinuousClock()
        let start = clock.now
        DispatchQueue.main.sync {}
        let seconds = (clock.now - start) / .seconds(1)
        self.state.withLock {
          $0.longest = max($0.longest, seconds)
          $0.count += 1
        }
        usleep(1000)
      }
    }
  }

  /// Stops probing. Returns the longest time that the main queue kept a probe waiting, and how many there were.
  func stop() -> (longest: Double, count: Int) {
    state.withLock {
      $0.isStopped = true
      return ($0.longest, $0.count)
    }
  }
}
