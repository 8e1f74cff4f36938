import Glibc
import Logging
import NIOCore

/// Takes care of a listening socket that can't accept, because the process or the system has no descriptor or memory left.
///
/// The library would ask again at once and without end, for the connection that waits keeps the socket readable. Here nothing is
/// accepted for a moment; and with a descriptor that is kept for this, those who wait are asked to come back instead of waiting
/// without an answer.
final class DescriptorShortage: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private static let errors: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]
  private static let pause = TimeAmount.milliseconds(250)
  /// Clients that are refused at once, at most: the thread is that of all connections.
  private static let refusedAtOnce = 64

  private let listening: Int32
  private let counts: ConnectionCounts
  private let logger: Logger
  /// Given up for each client that is refused. -1 while it couldn't be had again.
  private var reserve: Int32
  private var resuming: Scheduled<Void>?

  /// - Parameter listening: the socket's descriptor.
  init(of listening: Int32, _ counts: ConnectionCounts, logger: Logger) {
    self.listening = listening
    self.counts = counts
    self.logger = logger
    reserve = Self.makeReserve()
  }

  deinit { if reserve >= 0 { close(reserve) } }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A client that left before it was accepted is nothing to end the server for.
    if let failure = error as? IOError, failure.errnoCode == ECONNABORTED { return }
    guard let failure = error as? IOError, Self.errors.contains(failure.errnoCode) else {
      return context.fireErrorCaught(error)
    }
    guard resuming == nil else { return }
    do {
      try set(isAccepting: false, context)
    } catch {
      return context.fireErrorCaught(error)
    }
    let refused = refuseWaiting()
    let reason = "connections couldn't be accepted: " + String(cString: strerror(failure.errnoCode))
    if counts.note(.descriptors, count: refused, trouble: reason) {
      logger.error(
        """
        connections can't be accepted: \(String(cString: strerror(failure.errnoCode))). Clients are refused until descriptors \
        are closed; the limit is RLIMIT_NOFILE, LimitNOFILE= of the service
        """, metadata: ["refused": "\(refused)"])
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    resuming = context.eventLoop.scheduleTask(in: Self.pause) {
      let (shortage, context) = bound.value
      shortage.resume(context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    resuming?.cancel()
    context.fireChannelInactive()
  }

  private func resume(_ context: ChannelHandlerContext) {
    resuming = nil
    if reserve < 0 { reserve = Self.makeReserve() }
    do {
      try set(isAccepting: true, context)
    } catch {
      context.fireErrorCaught(error)
    }
  }

  private func set(isAccepting: Bool, _ context: ChannelHandlerContext) throws {
    try context.channel.syncOptions?.setOption(.autoRead, value: isAccepting)
  }

  /// Answers those who wait to be accepted, in the room of the reserve.
  /// - Returns: how many.
  private func refuseWaiting() -> Int {
    var refused = 0
    while reserve >= 0, refused < Self.refusedAtOnce {
      close(reserve)
      let client = accept(listening, nil, nil)
      if client >= 0 {
        RefusalAnswer.noDescriptor.send(to: client)
        close(client)
        refused += 1
      }
      reserve = Self.makeReserve()
      if client < 0 { break }
    }
    return refused
  }

  private static func makeReserve() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
