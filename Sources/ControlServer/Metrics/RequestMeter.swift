import ControlAPI
import Hummingbird
import Synchronization

/// How long requests took to be answered, how many clients listen, and who has connections.
package final class RequestMeter: Sendable {
  private struct State {
    /// The latest.
    var times = LatestSamples(capacity: 4096)
    /// All.
    var durations = Histogram.ofWaits
    var listeners = 0
  }

  /// The connections that requests come on.
  let connections: ConnectionCounts
  private let state = Mutex(State())

  /// Nothing measured yet.
  /// - Parameter limits: of the connections of all listeners that it is given to.
  package init(limits: ConnectionLimits = .ofProcess) { connections = ConnectionCounts(limits) }

  var spread: Stats.Spread? { state.withLock { $0.times.spread } }
  var durations: Histogram { state.withLock { $0.durations } }
  var listeners: Int { state.withLock { $0.listeners } }

  package func note(_ time: Duration) {
    state.withLock { state in
      state.times.add(time / .seconds(1))
      state.durations.observe(time)
    }
  }

  /// A client listens to a stream from now on, until ``clientLeft()``.
  func clientCame() { state.withLock { $0.listeners += 1 } }
  func clientLeft() { state.withLock { $0.listeners -= 1 } }
}

/// Measures requests that only read: what a submission waits for is the disk.
struct MeterMiddleware: RouterMiddleware {
  let meter: RequestMeter

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    guard request.method == .get else { return try await next(request, context) }
    let start = ContinuousClock.now
    let response = try await next(request, context)
    meter.note(start.duration(to: .now))
    return response
  }
}
