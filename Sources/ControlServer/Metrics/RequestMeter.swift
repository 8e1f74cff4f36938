import ControlAPI
import Hummingbird
import Synchronization

/// How long requests took to be answered, and how many clients listen.
package final class RequestMeter: Sendable {
  private struct State {
    /// The latest.
    var times = LatestSamples(capacity: 4096)
    /// All.
    var durations = Histogram.ofWaits
    var listeners = 0
    var shortage = Shortage()
  }

  /// Of descriptors to accept connections with.
  private struct Shortage {
    var refused = 0
    var last: (time: ContinuousClock.Instant, reason: String)?
    var logged: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// Nothing measured yet.
  package init() {}

  var spread: Stats.Spread? { state.withLock { $0.times.spread } }
  var durations: Histogram { state.withLock { $0.durations } }
  var listeners: Int { state.withLock { $0.listeners } }

  func note(_ time: Duration) {
    state.withLock { state in
      state.times.add(time / .seconds(1))
      state.durations.observe(time)
    }
  }

  /// Connections that were refused because they couldn't be accepted.
  var refused: Int { state.withLock { $0.shortage.refused } }

  /// How long a shortage is still reported as trouble, and isn't logged again.
  private static let shortageKept = Duration.seconds(60)

  /// Takes note that connections couldn't be accepted.
  /// - Returns: whether to log it: the first time, and once a minute.
  func noteShortage(refused: Int, _ reason: String) -> Bool {
    state.withLock { state in
      let now = ContinuousClock.now
      state.shortage.refused += refused
      state.shortage.last = (now, reason)
      if let logged = state.shortage.logged, logged.duration(to: now) < Self.shortageKept { return false }
      state.shortage.logged = now
      return true
    }
  }

  /// Whether connections can be accepted; a warning for a minute after one couldn't be.
  var connections: Health.Check {
    let last = state.withLock { $0.shortage.last }
    guard let last, last.time.duration(to: .now) < Self.shortageKept else { return .init(.pass) }
    return .init(
      .warn,
      "clients were refused within the last minute, because connections couldn't be accepted: \(last.reason). End "
        + "clients that hold connections, or raise LimitNOFILE= of the service")
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
