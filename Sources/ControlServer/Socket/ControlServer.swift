import ControlAPI
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The daemon's control interface: HTTP and JSON on a Unix socket. A service: `run()` returns after a graceful shutdown
/// of its service group, when the requests in progress are answered; event streams end at once.
///
/// Invariants: only the socket's owner and group get a connection (``ControlSocket``); every error is answered with a
/// problem document (``ProblemMiddleware``); a body has at most ``maximumBodySize``; a client that stops reading or writing
/// neither makes memory grow nor delays a shutdown.
package struct ControlServer<Backend: ControlBackend>: Service {
  /// The most bytes that a request's body may have.
  package static var maximumBodySize: Int { Hummingbird.Request.maximumBodySize }

  private let backend: Backend
  private let meter: RequestMeter
  private let address: SocketAddress
  private let passed: Int32?
  private let logger: Logger
  private let grace: TimeAmount
  private let onListening: @Sendable () async -> Void

  /// A server that isn't started.
  /// - Parameters:
  ///   - meter: what measures its requests.
  ///   - address: where to listen.
  ///   - passed: a listening socket from the parent process, which owns it. `address` isn't touched then.
  ///   - grace: how long a client has to read unsent data after a shutdown, or after it has fallen behind.
  ///   - onListening: called once, when clients can connect.
  package init(
    backend: Backend, meter: RequestMeter = RequestMeter(), address: SocketAddress, passed: Int32? = nil,
    logger: Logger,
    grace: Duration = .seconds(5),
    onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.backend = backend
    self.meter = meter
    self.address = address
    self.passed = passed
    self.logger = logger
    self.grace = TimeAmount(grace)
    self.onListening = onListening
  }

  /// Listens and answers until graceful shutdown or cancellation.
  /// - Throws: ``ControlSocketError`` if the socket can't be created, or another process listens on it.
  package func run() async throws {
    // One thread has all connections: what it does for a request is little, see `responder`.
    let executor = LoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
    let submissions = DirectSubmissions(on: executor.loop, logger: logger.quietened) { [backend] in
      backend.submitAtOnce($0, by: $1, reply: $2)
    }
    let listener = ControlListener(
      on: executor, grace: grace, meter: meter, logger: logger.quietened, submissions: submissions,
      responder: responder(executor))
    if let passed {
      return try await listener.run(on: passed) {
        logger.info("listening", metadata: ["socket": "passed by the service manager"])
        await onListening()
      }
    }
    let socket = try ControlSocket(at: address)
    defer { socket.withdraw() }
    try await withGracefulShutdownHandler {
      try await listener.run(on: try socket.listen()) {
        try socket.publish()
        logger.info("listening", metadata: ["socket": "\(address.path)"])
        await onListening()
      }
    } onGracefulShutdown: {
      socket.withdraw()
    }
  }

  /// Answers one request: short ones on the connection's thread, others wherever there is a thread, so that none of them holds
  /// up another.
  private func responder(_ executor: LoopExecutor) -> HTTPChannelHandler.Responder {
    let routes = ControlRoutes(backend: backend, meter: meter, grace: grace)
    let answering = Answering(routes.router(of: routes.all), logger: logger.quietened)
    return { request, writer, channel in
      if ShortRequest.isShort(request.method.rawValue, request.uri.path, request.uri.query) {
        try await answering.answer(request, writer, channel, on: executor)
      } else {
        try await answering.answerAnywhere(request, writer, channel)
      }
    }
  }
}

extension ControlServer: CustomStringConvertible {
  /// What the log at `debug` calls it: without this, everything that it refers to, the whole configuration included.
  package var description: String { "control server" }
}

extension Logger {
  /// The library announces the staging path of the socket and every signal at `info`; here that is only confusing.
  var quietened: Logger {
    var logger = self
    if logger.logLevel == .info { logger.logLevel = .notice }
    return logger
  }
}
