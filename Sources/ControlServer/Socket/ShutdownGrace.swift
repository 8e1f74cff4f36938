import NIOCore

/// Closes a connection some time after the server was told to stop, whatever its client does or leaves undone: so nobody
/// holds up a shutdown.
final class ShutdownGrace: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let time: TimeAmount
  private var closing: Scheduled<Void>?

  init(_ time: TimeAmount) { self.time = time }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent, closing == nil {
      let channel = context.channel
      closing = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    context.fireChannelInactive()
  }
}
