import ControlAPI
import Foundation
import Glibc
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// Answers what hands in one job, of which there may be thousands a second, without a task: the connection's thread reads it,
/// the queue's thread makes the job, and the connection's thread writes the answer.
///
/// It takes a request only where nothing about it is unusual: the whole of it has come, no other is being answered, and the backend
/// makes its job at once. Anything else, mistakes included, goes on to the routes as if this handler weren't there, so what
/// requests mean is said in one place. While it answers, what comes on the connection waits, so answers keep their order.
final class SubmissionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum State {
    case passing
    /// A request that may be for it.
    case collecting(HTTPRequest, ByteBuffer?)
    case answering
  }

  /// What came during an answer.
  private enum Held {
    case part(HTTPRequestPart)
    case event(Any)
    case error(any Error)
  }

  private let submissions: DirectSubmissions
  private var context: ChannelHandlerContext?
  private var peer: Peer?
  private var state = State.passing
  /// Requests that were passed on, and whose answers aren't complete.
  private var unanswered = 0
  private var held: [Held] = []
  private var isReadHeld = false

  init(_ submissions: DirectSubmissions) { self.submissions = submissions }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    // Without it nothing is taken.
    ControlContext.peer(of: context.channel)?.assumeIsolated().whenSuccess { self.peer = $0 }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    context.fireChannelInactive()
  }

  /// Reading goes on during an answer until something has come: to stop and go on each time takes two system calls.
  func read(context: ChannelHandlerContext) {
    if case .answering = state, !held.isEmpty { isReadHeld = true } else { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .answering = state { return held.append(.event(event)) }
    passOnCollected(context)
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case .answering = state { return held.append(.error(error)) }
    passOnCollected(context)
    context.fireErrorCaught(error)
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if case .answering = state { held.append(.part(part)) } else { take(part, context) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    passOnCollected(context)
    context.fireChannelReadComplete()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
    context.write(data, promise: promise)
  }

  private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
    switch (state, part) {
    case (.passing, .head(let head)):
      if unanswered == 0, peer != nil, DirectSubmissions.isUsual(head) {
        state = .collecting(head, nil)
      } else {
        unanswered += 1
        context.fireChannelRead(wrapInboundOut(part))
      }
    case (.collecting(let head, nil), .body(let body)): state = .collecting(head, body)
    case (.collecting(let head, .some(var body)), .body(var more)):
      body.writeBuffer(&more)
      state = .collecting(head, body)
    case (.collecting(_, .some(let body)), .end(nil)):
      if submit(body, context) { return state = .answering }
      passOnCollected(context)
      context.fireChannelRead(wrapInboundOut(part))
    case (.collecting, _):
      passOnCollected(context)
      context.fireChannelRead(wrapInboundOut(part))
    case (.passing, _), (.answering, _): context.fireChannelRead(wrapInboundOut(part))
    }
  }

  private func passOnCollected(_ context: ChannelHandlerContext) {
    guard case .collecting(let head, let body) = state else { return }
    state = .passing
    unanswered += 1
    context.fireChannelRead(wrapInboundOut(.head(head)))
    if let body { context.fireChannelRead(wrapInboundOut(.body(body))) }
  }

  /// - Returns: whether ``answer(_:)`` is going to be called.
  private func submit(_ body: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
    guard let peer else { return false }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    return submissions.begin(body, by: peer, for: handler)
  }

  // MARK: Answers

  func answer(_ result: Result<Job, any Error>) {
    guard case .answering = state, let context else { return }
    let (head, body) = submissions.response(to: result)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    state = .passing
    if !held.isEmpty { release(context) }
    guard isReadHeld else { return }
    if case .answering = state { return }
    isReadHeld = false
    context.read()
  }

  /// Takes what came in the meantime, up to the next request that is answered here.
  private func release(_ context: ChannelHandlerContext) {
    let waiting = held
    held = []
    for (place, item) in waiting.enumerated() {
      if case .answering = state {
        held = Array(waiting[place...])
        break
      }
      switch item {
      case .part(let part): take(part, context)
      case .event(let event): userInboundEventTriggered(context: context, event: event)
      case .error(let error): errorCaught(context: context, error: error)
      }
    }
    passOnCollected(context)
    context.fireChannelReadComplete()
  }
}

/// What the handlers of all connections share: how a body becomes a job, and a job an answer.
final class DirectSubmissions: Sendable {
  typealias Submit = @Sendable (JobSubmission, Peer, @escaping @Sendable (Result<Job, any Error>) -> Void) -> Bool

  private let submit: Submit
  private let logger: Logger
  private let date = AnswerDate()
  private let loop: any EventLoop
  /// Answers on their way to the connections' thread, which is woken up for the first of them.
  private let answers = Mutex<[(handler: NIOLoopBound<SubmissionHandler>, result: Result<Job, any Error>)]>([])

  /// - Parameters:
  ///   - loop: that of all connections.
  ///   - submit: see ``ControlBackend/submitAtOnce(_:by:reply:)``.
  init(on loop: any EventLoop, logger: Logger, submit: @escaping Submit) {
    self.loop = loop
    self.logger = logger
    self.submit = submit
  }

  /// Whether a request hands in one job and says nothing that matters to anybody but its route.
  static func isUsual(_ head: HTTPRequest) -> Bool {
    guard head.method == .post, head.path == path else { return false }
    for field in head.headerFields {
      switch field.name {
      case .expect: return false
      case .connection: if field.value.lowercased() != "keep-alive" { return false }
      case .userAgent: if field.value.hasPrefix("ladectl/") { return false }
      default: if field.name == HTTPFields.ladeVersion { return false }
      }
    }
    return true
  }

  private static let path = Endpoint.jobs.path

  /// Begins to make the job of a body.
  /// - Returns: false for one that is to take its way through the routes.
  func begin(_ body: ByteBuffer, by peer: Peer, for handler: NIOLoopBound<SubmissionHandler>) -> Bool {
    let bytes = [UInt8](body.readableBytesView)
    // The route says what is wrong with it.
    guard JSONSyntaxError.first(in: bytes) == nil,
      let submission = try? WireFormat.decode(JobSubmission.self, from: Data(bytes)), submission.source == nil
    else { return false }
    return submit(submission, peer) { [self] result in
      let isFirst = answers.withLock { answers in
        answers.append((handler, result))
        return answers.count == 1
      }
      if isFirst { loop.execute { self.answer() } }
    }
  }

  private func answer() {
    let ready = answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
    for (handler, result) in ready { handler.value.answer(result) }
  }

  /// The answer, as the routes would give it.
  func response(to result: Result<Job, any Error>) -> (HTTPResponse, [UInt8]) {
    do {
      let job = try result.get()
      let body = try WireFormat.bytes(of: job)
      var head = HTTPResponse(status: .created)
      head.headerFields = fields("application/json", body.count)
      head.headerFields[.location] = Endpoint.job(job.id).path
      return (head, body)
    } catch {
      let problem = Problem(describing: error, method: HTTPRequest.Method.post.rawValue, path: Self.path)
      logger.report(problem, of: error, path: Self.path)
      // A problem is texts and numbers, which can all be written.
      let body = (try? WireFormat.bytes(of: problem)) ?? []
      var head = HTTPResponse(status: .init(code: problem.status))
      head.headerFields = fields(Problem.contentType, body.count)
      return (head, body)
    }
  }

  private func fields(_ contentType: String, _ length: Int) -> HTTPFields {
    var fields: HTTPFields = [
      .contentType: contentType, .contentLength: String(length), .date: date.text, .server: LadeVersion.serverHeader,
    ]
    if let name = HTTPFields.ladeVersion { fields[name] = LadeVersion.current }
    return fields
  }
}
