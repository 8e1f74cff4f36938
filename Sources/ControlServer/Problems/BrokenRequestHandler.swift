import ControlAPI
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers what isn't a request of HTTP with a problem document, and closes the connection. Where it comes within the body of a
/// request that is being answered, it is left to that answer.
final class BrokenRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Requests whose answers aren't complete.
  private var unanswered = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head = unwrapInboundIn(data) { unanswered += 1 }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
    context.write(data, promise: promise)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let broken = error as? HTTPParserError, unanswered == 0 else { return context.fireErrorCaught(error) }
    let problem = Problem(of: broken)
    var headers: HTTPFields = [.connection: "close", .contentType: Problem.contentType]
    var body = ByteBuffer()
    do {
      body.writeBytes(try WireFormat.encode(problem))
    } catch {
      return context.fireErrorCaught(broken)
    }
    headers[.contentLength] = String(body.readableBytes)
    let head = HTTPResponse(status: .init(code: problem.status), headerFields: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(body)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
  }
}

extension Problem {
  /// What is wrong with a request that can't be read.
  init(of error: HTTPParserError) {
    switch error {
    case .headerOverflow:
      self.init(
        status: 431, code: "request_too_long", title: "The request is too long",
        detail: "The line of a request, with its URL, and its headers can have 80 KiB together.",
        hint: "Ask with a shorter query.")
    default:
      self.init(
        status: 400, code: "malformed_request", title: "The request can't be understood",
        detail: "This isn't a request of HTTP/1.1 (RFC 9112): \(error).",
        hint: "ladectl, curl and libraries for HTTP write requests as they should be.")
    }
  }
}
