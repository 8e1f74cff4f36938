import ControlAPI
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves metrics, health and readiness over TCP, and nothing else, for programs that can't reach the control socket.
package struct LoopbackServer<Backend: ControlBackend>: Service {
  private let backend: Backend
  private let meter: RequestMeter
  private let listeners: [LoopbackListener]
  private let token: AccessToken?
  private let logger: Logger
  private let grace: TimeAmount

  /// A server that has yet to run.
  /// - Parameters:
  ///   - meter: the control socket's, which reports requests and listeners.
  ///   - listeners: closed when it ends.
  ///   - token: the bearer token that every request must have; nil for none.
  package init(
    backend: Backend, meter: RequestMeter, listeners: [LoopbackListener], token: AccessToken?, logger: Logger,
    grace: Duration = .seconds(5)
  ) {
    self.backend = backend
    self.meter = meter
    self.listeners = listeners
    self.token = token
    self.logger = logger
    self.grace = TimeAmount(grace)
  }

  /// Answers until graceful shutdown or cancellation. Without listeners it only waits.
  package func run() async throws {
    if listeners.isEmpty { return try await gracefulShutdown() }
    let routes = ControlRoutes(backend: backend, meter: meter, grace: grace)
    let answering = LoopbackAnswering(
      routes.router(of: routes.metricsRoutes, token: token), meter: meter, logger: logger, grace: grace)
    try await answering.run(on: listeners) { place in
      logger.info("listening", metadata: ["metrics": "\(place.address)"])
      guard !place.isLoopback, token == nil else { return }
      logger.warning(
        "metrics: other machines can read them; set metrics.token, or listen on 127.0.0.1",
        metadata: ["address": "\(place.address)"])
    }
  }
}

extension LoopbackServer: CustomStringConvertible {
  /// What the log at `debug` calls it.
  package var description: String { "metrics server" }
}
