package import ControlServer
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves the pages over TCP. A service: `run()` returns after a graceful shutdown.
package struct WebServer<Backend: ControlBackend>: Service {
  private let backend: Backend
  private let sessions: WebSessions
  private let meter: RequestMeter
  private let listeners: [LoopbackListener]
  private let settings: WebSettings
  private let logger: Logger
  private let grace: TimeAmount

  /// A server that has yet to run. Links lead to it from now on: who connects before it accepts waits.
  /// - Parameters:
  ///   - sessions: the backend's, which makes the links.
  ///   - meter: the control socket's.
  ///   - listeners: closed when it ends.
  package init(
    backend: Backend, sessions: WebSessions, meter: RequestMeter, listeners: [LoopbackListener], settings: WebSettings,
    logger: Logger, grace: Duration = .seconds(5)
  ) {
    self.backend = backend
    self.sessions = sessions
    self.meter = meter
    self.listeners = listeners
    self.settings = settings
    self.logger = logger
    self.grace = TimeAmount(grace)
    if let first = listeners.first { sessions.serve(at: settings.url?.description ?? "http://\(first.address)") }
  }

  /// Answers until graceful shutdown or cancellation. Without listeners it only waits.
  package func run() async throws {
    if listeners.isEmpty { return try await gracefulShutdown() }
    let routes = PageRoutes(
      backend: backend, sessions: sessions, check: RequestCheck(settings: settings), meter: meter, grace: grace,
      logger: logger)
    let answering = LoopbackAnswering(routes.router(), meter: meter, logger: logger, grace: grace)
    try await answering.run(on: listeners) { place in
      logger.info("listening", metadata: ["web": "\(place.address)"])
      guard !place.isLoopback else { return }
      logger.warning(
        "web: other machines can connect, and nothing is encrypted; listen on 127.0.0.1 behind a proxy that encrypts",
        metadata: ["address": "\(place.address)"])
    }
  }
}

extension WebServer: CustomStringConvertible {
  /// What the log at `debug` calls it.
  package var description: String { "web server" }
}
