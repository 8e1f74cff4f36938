import ControlAPI
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// The daemon's control interface: HTTP and JSON on a Unix socket. A service: `run()` returns after a graceful shutdown
/// of its service group, when the requests in progress are answered; event streams end at once.
///
/// What it keeps: nobody but the socket's owner and group ever gets a connection (``ControlSocket``); every error is
/// answered as a problem document (``ProblemMiddleware``); a body is at most ``maximumBodySize``; a client that doesn't
/// read, or doesn't go on writing, neither uses memory that grows nor holds up a shutdown.
package struct ControlServer<Backend: ControlBackend>: Service {
  /// The most bytes that a request's body may have.
  package static var maximumBodySize: Int { Hummingbird.Request.maximumBodySize }

  private let backend: Backend
  private let address: SocketAddress
  private let passed: Int32?
  private let logger: Logger
  private let grace: TimeAmount
  private let onListening: @Sendable () async -> Void

  /// A server that isn't started.
  /// - Parameters:
  ///   - address: where to listen.
  ///   - passed: a socket that listens already, made and kept by whoever started this process: then `address` is left alone.
  ///   - grace: how long a client has, after the server was told to stop or found it lagging, to take what is unsent.
  ///   - onListening: called once, when clients can connect.
  package init(
    backend: Backend, address: SocketAddress, passed: Int32? = nil, logger: Logger, grace: Duration = .seconds(5),
    onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.backend = backend
    self.address = address
    self.passed = passed
    self.logger = logger
    self.grace = TimeAmount(grace)
    self.onListening = onListening
  }

  /// Listens and answers until graceful shutdown or cancellation.
  /// - Throws: ``ControlSocketError`` when the socket can't be made or somebody else listens on it.
  package func run() async throws {
    // One thread has all connections: what it does for a request is little, see `responder`.
    let executor = LoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
    let listener = ControlListener(
      on: executor, grace: grace, logger: logger.quietened, responder: responder(executor))
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

  /// Answers one request: a single submission on the connection's thread, for it is short and there may be thousands a
  /// second; any other wherever there is a thread, so that none of them holds up another.
  private func responder(_ executor: LoopExecutor) -> HTTPChannelHandler.Responder {
    let responder = ControlRoutes(backend: backend, meter: RequestMeter(), grace: grace).router().buildResponder()
    let date = AnswerDate()
    let peers = PeerBook()
    let logger = logger.quietened
    let answer: @Sendable (Request, consuming ResponseWriter, any Channel, LoopExecutor?) async throws -> Void = {
      request, writer, channel, executor in
      var context = ControlContext(source: .init(channel: channel, logger: logger))
      context.peers = peers
      context.executor = executor
      var response: Response
      do {
        response = try await responder.respond(to: request, context: context)
      } catch let error as HTTPParserError {
        throw error
      } catch {
        response = Response(status: .internalServerError)
      }
      response.headers[.date] = date.text
      response.headers[.server] = LadeVersion.serverHeader
      do {
        try await writer.write(response: response.head, body: response.body)
      } catch is HTTPParserError {
        // As such it would be answered once more.
        throw BrokenRequest()
      }
    }
    return { request, writer, channel in
      if request.method == .post, request.uri.path == Endpoint.jobs.path {
        try await answer(request, writer, channel, executor)
      } else {
        var only = Optional(writer)
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
          if let writer = only.take() { try await answer(request, writer, channel, nil) }
        }
      }
    }
  }
}

/// The rest of a request, which isn't HTTP, came while it was being answered. The connection is closed.
private struct BrokenRequest: Error {}

extension Logger {
  /// The library announces the staging path of the socket and every signal at `info`; here that is only confusing.
  fileprivate var quietened: Logger {
    var logger = self
    if logger.logLevel == .info { logger.logLevel = .notice }
    return logger
  }
}
