import Dispatch
import Foundation
import Synchronization

/// A measurement takes so long that its metrics are missing or old.
struct MeasurementOverdue: Error, CustomStringConvertible {
  /// What is measured, in the plural.
  let subject: String
  let time: Duration

  var description: String {
    "\(subject) are being measured, and that takes longer than \(time.components.seconds) s"
  }
}

/// Measures what may block, such as files on a disk that hangs. This is done in the background when somebody asks, once at a
/// time, and who asks gets the latest measurement. Safe from any thread.
final class BackgroundMeasurement<Value: Sendable>: Sendable {
  /// What is known.
  struct Reading: Sendable {
    var latest: (value: Value, time: Date)?
    /// Why there is none, or only an old one.
    var error: (any Error)?
  }

  /// How often it is measured, and how long that may take.
  struct Terms {
    /// The shortest time between two measurements.
    var pause = Duration.zero
    /// The same, in durations of the measurement before.
    var share = 0
    /// How long a measurement may take without being an error.
    var patience: Duration
    /// Whether only the first may be such an error: later ones leave an old value that is good enough.
    var takesTime = false
  }

  private struct State {
    var reading = Reading()
    /// When the measurement under way began.
    var begin: ContinuousClock.Instant?
    /// When the next measurement may begin.
    var next = ContinuousClock.now
    /// Who waits for the end of the measurement under way.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter = 0
  }

  private let subject: String
  private let terms: Terms
  private let measure: @Sendable () throws -> Value
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "laded.measurement", qos: .utility)

  /// - Parameters:
  ///   - subject: what is measured, in the plural.
  ///   - measure: may block.
  init(of subject: String, _ terms: Terms, measure: @escaping @Sendable () throws -> Value) {
    self.subject = subject
    self.terms = terms
    self.measure = measure
  }

  /// The latest measurement. Begins another in the background if it is time for one; never waits.
  func reading() -> Reading {
    let (reading, begins) = state.withLock { state in
      let begins = state.begin == nil && state.next <= .now
      let reading = known(state)
      if begins { state.begin = .now }
      return (reading, begins)
    }
    if begins { queue.async { self.renew() } }
    return reading
  }

  /// The same, but waits for the measurement that begins or is under way, if it ends within a time.
  func reading(within time: Duration) async -> Reading {
    _ = reading()
    await withCheckedContinuation { continuation in
      let waiter = state.withLock { state -> Int? in
        guard state.begin != nil else { return nil }
        state.lastWaiter += 1
        state.waiting[state.lastWaiter] = continuation
        return state.lastWaiter
      }
      guard let waiter else { return continuation.resume() }
      DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1)) { [self] in
        state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume()
      }
    }
    return state.withLock { known($0) }
  }

  private func known(_ state: State) -> Reading {
    var reading = state.reading
    if let begin = state.begin, reading.error == nil, reading.latest == nil || !terms.takesTime,
      begin + terms.patience <= .now
    {
      reading.error = MeasurementOverdue(subject: subject, time: terms.patience)
    }
    return reading
  }

  private func renew() {
    let begin = ContinuousClock.now
    let result = Result { try measure() }
    let end = ContinuousClock.now
    let waiting = state.withLock { state in
      switch result {
      case .success(let value): state.reading = Reading(latest: (value, Date()))
      case .failure(let error): state.reading.error = error
      }
      state.next = end + max(terms.pause, begin.duration(to: end) * terms.share)
      state.begin = nil
      defer { state.waiting = [:] }
      return state.waiting.values.map { $0 }
    }
    for continuation in waiting { continuation.resume() }
  }
}
