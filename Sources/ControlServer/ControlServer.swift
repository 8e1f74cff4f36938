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
  private let logger: Logger
  private let grace: TimeAmount
  private let onListening: @Sendable () async -> Void

  /// A server that isn't started.
  /// - Parameters:
  ///   - grace: how long a client has, after the server was told to stop or found it lagging, to take what is unsent.
  ///   - onListening: called once, when clients can connect.
  package init(
    backend: Backend, address: SocketAddress, logger: Logger, grace: Duration = .seconds(5),
    onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.backend = backend
    self.address = address
    self.logger = logger
    self.grace = TimeAmount(grace)
    self.onListening = onListening
  }

  /// Listens and answers until graceful shutdown or cancellation.
  /// - Throws: ``ControlSocketError`` when the socket can't be made or somebody else listens on it.
  package func run() async throws {
    let socket = try ControlSocket(at: address)
    defer { socket.withdraw() }
    let failure = Mutex<(any Error)?>(nil)
    // Hummingbird's `Application` does the same, and wakes up every second for the date.
    let server = try HTTPServerBuilder.http1(
      configuration: .init(additionalChannelHandlers: [ShutdownGrace(grace)], idleTimeout: .seconds(60))
    ).buildServer(
      configuration: .init(address: .unixDomainSocket(path: socket.stagingPath), serverName: LadeVersion.serverHeader),
      eventLoopGroup: EventLoopGroupProvider.singleton.eventLoopGroup, logger: logger.quietened,
      responder: responder()
    ) { channel in
      do {
        try socket.publish()
        logger.info("listening", metadata: ["socket": "\(address.path)"])
        await onListening()
      } catch {
        failure.withLock { $0 = error }
        channel.close(promise: nil)
      }
    }
    let group = ServiceGroup(configuration: .init(services: [server], logger: logger.quietened))
    do {
      try await withGracefulShutdownHandler {
        try await group.run()
      } onGracefulShutdown: {
        socket.withdraw()
      }
    } catch {
      throw failure.withLock { $0 } ?? error
    }
    if let error = failure.withLock({ $0 }) { throw error }
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
