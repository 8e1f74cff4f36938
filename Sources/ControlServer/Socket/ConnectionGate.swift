import ControlAPI
import Glibc
import Logging
import NIOCore
import NIOHTTP1

/// Refuses connections beyond the limits, in words: whatever a client asks first is answered with the refusal, and a client that
/// asks nothing is answered after a moment. No request is read.
final class ConnectionGate: ChannelInboundHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel

  /// The refused clients that are waited for, at most. Others are answered and closed at once, which a client may see as a
  /// failure of its sending.
  private let mostWaiting: Int
  private let counts: ConnectionCounts
  private let logger: Logger
  private var waiting = 0

  init(_ counts: ConnectionCounts, logger: Logger) {
    mostWaiting = counts.limits.waitingRefused
    self.counts = counts
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = unwrapInboundIn(data)
    do {
      // It isn't registered yet: its peer can be asked for without waiting.
      let holder = try Self.descriptor(of: channel) { try Self.holder(of: $0) }
      if let refusal = counts.came(holder) {
        guard try refuse(channel, of: holder, refusal, context) else { return channel.close(promise: nil) }
      } else {
        channel.closeFuture.whenComplete { [counts] _ in counts.left(holder) }
      }
      context.fireChannelRead(data)
    } catch {
      logger.debug("a connection ended before it was counted", metadata: ["error": "\(error)"])
      channel.close(promise: nil)
    }
  }

  /// - Returns: whether the connection is to be waited for.
  private func refuse(
    _ channel: any Channel, of holder: ConnectionHolder, _ refusal: ConnectionRefusal, _ context: ChannelHandlerContext
  ) throws -> Bool {
    let trouble = trouble(of: refusal)
    if counts.note(refusal, of: refusal == .user ? holder : nil, trouble: trouble) { log(refusal, of: holder) }
    let answer = answer(refusal, to: holder)
    guard waiting < mostWaiting else {
      try Self.descriptor(of: channel) { answer.send(to: $0) }
      return false
    }
    try channel.pipeline.syncOperations.addHandler(RefusalHandler(answer, patience: counts.limits.patience))
    waiting += 1
    let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
    channel.closeFuture.whenComplete { _ in gate.value.waiting -= 1 }
    return true
  }

  /// What an operator should know.
  private func trouble(of refusal: ConnectionRefusal) -> String? {
    switch refusal {
    case .user: nil
    case .all: "users have all \(counts.limits.ofAll) connections that they can have together"
    case .descriptors: "clients have all \(counts.limits.ofEverybody) connections for which there are descriptors"
    }
  }

  private func answer(_ refusal: ConnectionRefusal, to holder: ConnectionHolder) -> RefusalAnswer {
    switch refusal {
    case .user: .user(holder, counts.limits)
    case .all: .all(counts.limits)
    case .descriptors: .noDescriptor
    }
  }

  private func log(_ refusal: ConnectionRefusal, of holder: ConnectionHolder) {
    let limits = counts.limits
    switch refusal {
    case .user:
      logger.warning(
        "connections are refused: \(holder) has \(limits.ofOne) connections, as many as one user can have",
        metadata: ["connections": "\(counts.mostHeld)"])
    case .all:
      logger.warning(
        "connections are refused: users have \(limits.ofAll) connections, as many as all users can have together",
        metadata: ["connections": "\(counts.mostHeld)"])
    case .descriptors:
      logger.error(
        """
        connections can't be accepted: clients have \(limits.ofEverybody), and the other descriptors are for jobs and stores. \
        Clients are refused until connections are closed; the limit is RLIMIT_NOFILE, LimitNOFILE= of the service
        """, metadata: ["connections": "\(counts.mostHeld)"])
    }
  }

  private static func descriptor<T>(of channel: any Channel, _ body: (NIOBSDSocket.Handle) throws -> T) throws -> T {
    guard let result = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(body) else {
      throw ChannelError.operationUnsupported
    }
    return result
  }

  private static func holder(of descriptor: NIOBSDSocket.Handle) throws -> ConnectionHolder {
    var credentials = PeerCredentials()
    var length = socklen_t(MemoryLayout<PeerCredentials>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      throw IOError(errnoCode: errno, reason: "getsockopt")
    }
    // The kernel's value where the peer has no user, as on a TCP socket.
    return credentials.uid == .max ? .network : .user(credentials.uid)
  }
}

/// The first handler of a connection that is refused: nothing that comes gets beyond it.
private final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer: RefusalAnswer
  /// How long the client may take to ask, and to read the answer.
  private let patience: TimeAmount
  private var isAnswered = false
  private var closing: Scheduled<Void>?

  init(_ answer: RefusalAnswer, patience: Duration) {
    self.answer = answer
    self.patience = TimeAmount(patience)
  }

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    closing = context.eventLoop.scheduleTask(in: patience) {
      let (handler, context) = bound.value
      handler.refuse(context)
      context.close(promise: nil)
    }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { refuse(context) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent, isAnswered { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    context.fireChannelInactive()
  }

  private func refuse(_ context: ChannelHandlerContext) {
    guard !isAnswered else { return }
    isAnswered = true
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer.bytes)), promise: nil)
    context.close(mode: .output, promise: nil)
  }
}

/// The answer to a connection whose requests aren't read.
struct RefusalAnswer: Sendable {
  let bytes: [UInt8]

  init(_ error: ControlError) {
    let problem = error.problem
    var body: [UInt8] = []
    do {
      body = Array(try WireFormat.encode(problem))
    } catch {
      // The status says the same.
    }
    let head = """
      HTTP/1.1 \(problem.status) \(HTTPResponseStatus(statusCode: problem.status).reasonPhrase)\r\n\
      content-type: \(Problem.contentType)\r\ncontent-length: \(body.count)\r\nretry-after: 1\r\nconnection: close\r\n\r\n
      """
    bytes = Array(head.utf8) + body
  }

  static func user(_ holder: ConnectionHolder, _ limits: ConnectionLimits) -> RefusalAnswer {
    let who = if case .network = holder { "Clients over TCP have" } else { "Your user has" }
    return RefusalAnswer(.tooManyConnections("\(who) \(limits.ofOne) connections", isOwn: true))
  }

  static func all(_ limits: ConnectionLimits) -> RefusalAnswer {
    RefusalAnswer(.tooManyConnections("All users together have \(limits.ofAll) connections", isOwn: false))
  }

  static let noDescriptor = RefusalAnswer(
    .unavailable(
      reason: "The daemon has no descriptor left for another connection.",
      hint:
        "Try again in a moment. An operator can raise LimitNOFILE= of the service, or end clients that hold connections."
    ))

  /// Sends it without waiting, and nothing after it.
  func send(to client: Int32) {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    bytes.withUnsafeBytes { bytes in _ = Glibc.send(client, bytes.baseAddress, bytes.count, flags) }
    // What a client has sent and isn't read would reset the connection, and the answer with it.
    withUnsafeTemporaryAllocation(byteCount: 1 << 12, alignment: 1) { buffer in
      for _ in 0..<32 where recv(client, buffer.baseAddress, buffer.count, flags) <= 0 { break }
    }
    shutdown(client, Int32(SHUT_WR))
  }
}
