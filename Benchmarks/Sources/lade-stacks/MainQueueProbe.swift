import Dispatch
import Foundation
import Glibc
import Synchronization

/// The processor time of the main queue's thread, read without giving it anything to do.
struct MainQueueClock: Sendable {
  private let clock: clockid_t

  /// To be made on the thread that drains the main queue.
  init() {
    var clock = clockid_t()
    pthread_getcpuclockid(pthread_self(), &clock)
    self.clock = clock
  }

  /// Processor seconds of the thread so far.
  var seconds: Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// How long the main queue keeps others waiting, asked every millisecond.
final class MainQueueProbe: Sendable {
  private struct State {
    var longest = 0.0
    var isStopped = false
  }

  private let state = Mutex(State())

  /// Starts probing, on a thread of its own.
  func start() {
    Thread.detachNewThread {
      while !self.state.withLock({ $0.isStopped }) {
        let clock = ContinuousClock()
        let start = clock.now
        DispatchQueue.main.sync {}
        let seconds = (clock.now - start) / .seconds(1)
        self.state.withLock { $0.longest = max($0.longest, seconds) }
        usleep(1000)
      }
    }
  }

  /// Stops probing. Returns the longest time that the main queue kept a probe waiting.
  func stop() -> Double {
    state.withLock {
      $0.isStopped = true
      return $0.longest
    }
  }
}
