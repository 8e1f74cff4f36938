import Dispatch
import Synchronization

/// Where operations of a test stop until the test lets them go on.
final class Gate: Sendable {
  private struct State {
    var arrivals = 0
    var inside = 0
    var most = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)

  /// Blocks the operation's thread until the test opens the gate.
  func pass() {
    let ready = state.withLock { state in
      state.arrivals += 1
      state.inside += 1
      state.most = max(state.most, state.inside)
      let ready = state.waiting.filter { $0.number <= state.arrivals }
      state.waiting.removeAll { $0.number <= state.arrivals }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
    semaphore.wait()
    state.withLock { $0.inside -= 1 }
  }

  /// Lets `number` operations through: those that stand here, and the next.
  func open(_ number: Int = 1) { for _ in 0..<number { semaphore.signal() } }

  /// Waits until `number` operations have arrived in all.
  func arrivals(_ number: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.arrivals < number { state.waiting.append((number, continuation)) }
        return state.arrivals >= number
      }
      if isReady { continuation.resume() }
    }
  }

  /// The most that stood here at one time.
  var most: Int { state.withLock { $0.most } }
}

/// A list that operations and tests share.
final class Shared<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  func append(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }
}
