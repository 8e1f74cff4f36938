import ControlAPI
import Hummingbird
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Metrics, health and readiness on TCP, and nothing else: what programs ask that can't reach the control socket. A service
/// as ``ControlServer`` is one.
package struct MetricsServer<Backend: ControlBackend>: Service {
  private let backend: Backend
  private let meter: RequestMeter
  private let listeners: [MetricsListener]
  private let token: AccessToken?
  private let logger: Logger
  private let grace: TimeAmount

  /// A server that isn't started.
  /// - Parameters:
  ///   - meter: that of the control socket's server, whose requests and listeners are told.
  ///   - listeners: where it listens. They are closed at the end.
  ///   - token: what every request has to bring; nil for nothing.
  package init(
    backend: Backend, meter: RequestMeter, listeners: [MetricsListener], token: AccessToken?, logger: Logger,
    grace: Duration = .seconds(5)
  ) {
    self.backend = backend
    self.meter = meter
    self.listeners = listeners
    self.token = token
    self.logger = logger
    self.grace = TimeAmount(grace)
  }

  /// Answers until graceful shutdown or cancellation; without a listener it only waits for that.
  package func run() async throws {
    if listeners.isEmpty { return try await gracefulShutdown() }
    let executor = LoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
    let routes = ControlRoutes(backend: backend, meter: meter, grace: grace)
    let answering = Answering(routes.router(of: routes.metricsRoutes, token: token), logger: logger.quietened)
    let listener = ControlListener(on: executor, grace: grace, logger: logger.quietened) { request, writer, channel in
      try await answering.answerAnywhere(request, writer, channel)
    }
    try await withThrowingDiscardingTaskGroup { group in
      for place in listeners {
        group.addTask {
          try await listener.run(on: place.descriptor) {
            logger.info("listening", metadata: ["metrics": "\(place.address)"])
            guard !place.isLoopback, token == nil else { return }
            logger.warning(
              "metrics: other machines can read them; set metrics.token, or listen on 127.0.0.1",
              metadata: ["address": "\(place.address)"])
          }
        }
      }
    }
  }
}
