import ControlAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 request and response over one connection to a Unix socket (RFC 9112).
struct HTTPExchange: Sendable {
  /// The request.
  struct Request: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer?

    /// A route and its query.
    init(_ method: HTTPMethod, _ endpoint: Endpoint, _ query: QueryString = QueryString(), body: Data? = nil) {
      let text = query.text
      self.init(method, uri: text.isEmpty ? endpoint.path : endpoint.path + "?" + text, body: body)
    }

    /// A path with its query, as sent.
    init(_ method: HTTPMethod, uri: String, body: Data? = nil) {
      self.body = body.map { ByteBuffer(bytes: $0) }
      var head = HTTPRequestHead(version: .http1_1, method: method, uri: uri)
      head.headers = [
        "host": "laded", "user-agent": "ladectl/\(LadeVersion.current)", "connection": "close",
      ]
      if let body {
        head.headers.add(name: "content-type", value: "application/json")
        head.headers.add(name: "content-length", value: String(body.count))
      } else if method != .GET {
        head.headers.add(name: "content-length", value: "0")
      }
      self.head = head
    }
  }

  /// The response body in chunks.
  struct Body {
    fileprivate var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    fileprivate let socketPath: String

    /// The next chunk; nil after the last.
    /// - Throws: ``ControlClientError/hungUp(path:)`` if the connection closes before the body ends.
    mutating func next() async throws -> ByteBuffer? {
      switch try await parts.next() {
      case .body(let bytes): return bytes
      case .end: return nil
      case .head: return try await next()
      case nil:
        try Task.checkCancellation()
        throw ControlClientError.hungUp(path: socketPath)
      }
    }

    /// The whole body.
    mutating func collect() async throws -> Data {
      var data = Data()
      while let bytes = try await next() { data.append(contentsOf: bytes.readableBytesView) }
      return data
    }
  }

  /// One thread is enough for sequential requests; one per core would only cost start-up time.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  let socketPath: String

  /// Sends the request and passes on the response's head and body.
  /// - Throws: ``ControlClientError``, or what `answer` throws.
  func perform<Value: Sendable>(
    _ request: Request, _ answer: (HTTPResponseHead, inout Body) async throws -> Value
  ) async throws -> Value {
    let channel = try await connect()
    do {
      return try await channel.executeThenClose { inbound, outbound in
        try await outbound.write(request)
        var parts = inbound.makeAsyncIterator()
        guard case .head(let head) = try await parts.next() else {
          try Task.checkCancellation()
          throw ControlClientError.hungUp(path: socketPath)
        }
        var body = Body(parts: parts, socketPath: socketPath)
        return try await answer(head, &body)
      }
    } catch let error as ChannelError {
      throw hungUp(error)
    } catch let error as IOError {
      throw hungUp(error)
    } catch HTTPParserError.invalidEOFState {
      // The daemon stopped in the middle of the response.
      throw ControlClientError.hungUp(path: socketPath)
    } catch let error as HTTPParserError {
      throw ControlClientError.versionMismatch(server: nil, detail: "it doesn't answer in HTTP (\(error)).")
    }
  }

  private func hungUp(_ error: any Error) -> any Error {
    Task.isCancelled ? CancellationError() : ControlClientError.hungUp(path: socketPath)
  }

  private func connect() async throws -> NIOAsyncChannel<HTTPClientResponsePart, Request> {
    do {
      return try await ClientBootstrap(group: Self.group).connect(unixDomainSocketPath: socketPath) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(RequestWriter())
          return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        }
      }
    } catch let error as IOError {
      throw ControlClientError(connecting: socketPath, errno: error.errnoCode)
    } catch is SocketAddressError {
      throw ControlClientError(connecting: socketPath, errno: ENAMETOOLONG)
    }
  }
}

/// Serialises a request for the event loop, since its parts aren't `Sendable`.
private final class RequestWriter: ChannelOutboundHandler {
  typealias OutboundIn = HTTPExchange.Request
  typealias OutboundOut = HTTPClientRequestPart

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let request = unwrapOutboundIn(data)
    context.write(wrapOutboundOut(.head(request.head)), promise: nil)
    if let body = request.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }
}
