package import ControlServer
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves the pages over TCP and Unix sockets. A service: `run()` returns after a graceful shutdown.
package struct WebServer<Backend: ControlBackend>: Service {
  private let backend: Backend
  private let sessions: WebSessions
  private let meter: RequestMeter
  private let listeners: [LoopbackListener]
  private let settings: WebSettings
  private let proxyUsers: ProxyUsers?
  private let logger: Logger
  private let grace: TimeAmount

  /// A server that has yet to run. Links lead to it from now on: who connects before it accepts waits.
  /// - Parameters:
  ///   - sessions: the backend's, which makes the links.
  ///   - meter: the control socket's.
  ///   - listeners: closed when it ends.
  ///   - lookUp: finds users whom a proxy names. It may block, and is called once at a time, on a queue of its own.
  package init(
    backend: Backend, sessions: WebSessions, meter: RequestMeter, listeners: [LoopbackListener], settings: WebSettings,
    lookUp: @escaping @Sendable (String) -> NamedUser = { _ in .unknown }, logger: Logger, grace: Duration = .seconds(5)
  ) {
    self.backend = backend
    self.sessions = sessions
    self.meter = meter
    self.listeners = listeners
    self.settings = settings
    self.logger = logger
    self.grace = TimeAmount(grace)
    proxyUsers = settings.proxy.map { ProxyUsers($0, UserDirectory(lookUp: lookUp)) }
    serve(sessions)
  }

  /// Says where links lead.
  private func serve(_ sessions: WebSessions) {
    if settings.proxy != nil, let url = settings.url, listeners.contains(where: \.isUnix) {
      sessions.serve(behindProxyAt: url.description)
    }
    // A browser can't open a Unix socket.
    let tcp = listeners.first { !$0.isUnix }.map { "http://\($0.address)" }
    let origin = listeners.isEmpty ? nil : settings.linkURL?.description ?? tcp
    if let origin { sessions.serve(at: origin) }
  }

  /// Answers until graceful shutdown or cancellation. Without listeners it only waits.
  package func run() async throws {
    if listeners.isEmpty { return try await gracefulShutdown() }
    let routes = PageRoutes(
      backend: backend, sessions: sessions, check: RequestCheck(settings: settings), proxyUsers: proxyUsers,
      meter: meter, grace: grace, logger: logger)
    if proxyUsers != nil, !listeners.contains(where: \.isUnix) {
      logger.warning(
        "web: no proxy can name users, for there is no Unix socket; set web.socket, or ListenStream= of laded-web.socket"
      )
    }
    if proxyUsers == nil, settings.url == nil, listeners.allSatisfy(\.isUnix) {
      logger.warning("web: links can't lead to a Unix socket; set web.url to where the proxy in front of it is")
    }
    let answering = LoopbackAnswering(
      routes.router(), meter: meter, logger: logger, grace: grace, isForBrowsers: true)
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
