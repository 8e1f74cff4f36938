import ControlAPI
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
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
    let listener = ControlListener(grace: grace, logger: logger.quietened, responder: responder())
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

  /// Answers one request.
  private func responder() -> HTTPChannelHandler.Responder {
    let responder = ControlRoutes(backend: backend, meter: RequestMeter(), grace: grace).router().buildResponder()
    let date = AnswerDate()
    let logger = logger.quietened
    return { request, writer, channel in
      let context = ControlContext(source: .init(channel: channel, logger: logger))
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
