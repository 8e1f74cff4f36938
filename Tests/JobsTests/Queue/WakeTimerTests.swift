import Foundation
import Synchronization
import Testing

@testable import Jobs

@Suite("The timer of the queue")
struct WakeTimerTests {
  @Test("holds nothing of the calls that ask for a later time, however many there are")
  func manyCalls() {
    let cancelled = Counter()
    let clock = JobClock(now: { Date(timeIntervalSince1970: 0) }) { _, _ in
      { cancelled.count.add(1, ordering: .relaxed) }
    }
    let timer = WakeTimer(clock: clock)
    timer.arm(Date(timeIntervalSince1970: 100)) {}
    // Each used to leave a closure around the one before, more than a thread's stack has room to free.
    for _ in 0..<300_000 { timer.arm(Date(timeIntervalSince1970: 200)) {} }
    timer.cancel()
    #expect(cancelled.count.load(ordering: .relaxed) == 1)
  }

  @Test("calls for the earliest time that was asked for, once")
  func earliest() {
    let calls = Calls()
    let clock = JobClock(now: { Date(timeIntervalSince1970: 0) }) { time, body in
      calls.scheduled.withLock { $0.append(Call(time: time, body: body)) }
      return { calls.cancelled.add(1, ordering: .relaxed) }
    }
    let timer = WakeTimer(clock: clock)
    let called = Counter()
    for seconds in [100.0, 300, 50, 200] {
      timer.arm(Date(timeIntervalSince1970: seconds)) { called.count.add(1, ordering: .relaxed) }
    }
    let scheduled = calls.scheduled.withLock(\.self)
    #expect(scheduled.map(\.time.timeIntervalSince1970) == [100, 50])
    #expect(calls.cancelled.load(ordering: .relaxed) == 1)
    for call in scheduled { call.body() }
    #expect(called.count.load(ordering: .relaxed) == 1)
  }
}

private final class Counter: Sendable {
  let count = Atomic(0)
}

private struct Call: Sendable {
  let time: Date
  let body: @Sendable () -> Void
}

private final class Calls: Sendable {
  let scheduled = Mutex<[Call]>([])
  let cancelled = Atomic(0)
}
