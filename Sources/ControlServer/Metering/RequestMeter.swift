import ControlAPI
import Hummingbird
import Synchronization

/// How long the latest requests took to be answered, and how many clients listen.
final class RequestMeter: Sendable {
  private struct State {
    var times = LatestSamples(capacity: 4096)
    var listeners = 0
  }

  private let state = Mutex(State())

  var spread: Stats.Spread? { state.withLock { $0.times.spread } }
  var listeners: Int { state.withLock { $0.listeners } }

  func note(_ time: Duration) { state.withLock { $0.times.add(time / .seconds(1)) } }

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
