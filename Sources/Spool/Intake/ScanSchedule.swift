import Dispatch

/// When the intake scans `incoming/` next, and the signal that wakes it.
///
/// Not `Sendable`: it is confined to the intake's queue.
final class ScanSchedule {
  /// Whether the next piece of work is a scan of everything, not only of what events named.
  private(set) var isDue = false
  private var timer: (any DispatchSourceTimer)?
  private var deadline = DispatchTime.distantFuture
  private var isSignalled = false
  private var sleeper: CheckedContinuation<Void, Never>?

  /// Creates the timer. `timerFired` runs on the queue and must call ``timerFired()``.
  func start(on queue: DispatchQueue, timerFired: @escaping @Sendable () -> Void) {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: timerFired)
    timer.activate()
    self.timer = timer
  }

  func stop() {
    timer?.cancel()
    timer = nil
    deadline = .distantFuture
  }

  func timerFired() {
    deadline = .distantFuture
    requestScan()
  }

  /// Asks for a scan as soon as possible.
  func requestScan() {
    isDue = true
    signal()
  }

  /// Begins a scan, and schedules the next.
  func beginScan(next interval: Duration) {
    isDue = false
    scan(after: interval.nanoseconds)
  }

  /// Makes sure that a scan begins no later than in `nanoseconds`. Without a timer this does nothing: an intake that doesn't
  /// run scans when `rescan()` is called.
  func scan(after nanoseconds: Int64) {
    let time = DispatchTime.now() + .nanoseconds(Int(clamping: max(0, nanoseconds)))
    guard let timer, time < deadline else { return }
    deadline = time
    timer.schedule(deadline: time, leeway: .milliseconds(100))
  }

  /// Wakes the task in ``wait()``, or lets its next call return at once.
  func signal() {
    isSignalled = true
    sleeper?.resume()
    sleeper = nil
  }

  /// Whether a task is in ``wait()``.
  var isSleeping: Bool { sleeper != nil }

  /// Waits for ``signal()``.
  nonisolated(nonsending) func wait() async {
    // Other tasks that wait for the intake's queue have their turn between two pieces of work.
    if isSignalled { await Task.yield() } else { await withCheckedContinuation { sleeper = $0 } }
    isSignalled = false
  }
}
