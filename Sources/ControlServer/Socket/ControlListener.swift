import HummingbirdCore
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// Accepts connections on a listening socket, and speaks HTTP on each until it has to stop: then requests in
/// progress are answered, and whatever else holds a connection has `grace` to end. Hummingbird's own server only listens on
/// what it has bound itself, and wakes up every second for the date.
struct ControlListener: Sendable {
  private let connections: HTTP1Channel
  private let executor: LoopExecutor
  private let submissions: DirectSubmissions?
  private let mayHalfClose: Bool
  private let meter: RequestMeter
  private let logger: Logger

  /// - Parameters:
  ///   - executor: the thread that all connections have.
  ///   - submissions: what takes single submissions past the responder.
  ///   - mayHalfClose: whether a client may end its side and read the answer (`nc -N`). Over TCP such a client can't be told from
  ///     one that has gone.
  init(
    on executor: LoopExecutor, grace: TimeAmount, meter: RequestMeter, logger: Logger,
    submissions: DirectSubmissions? = nil, mayHalfClose: Bool = true, responder: @escaping HTTPChannelHandler.Responder
  ) {
    self.submissions = submissions
    self.mayHalfClose = mayHalfClose
    self.executor = executor
    self.meter = meter
    connections = HTTP1Channel(
      responder: responder,
      configuration: .init(
        additionalChannelHandlers: [ShutdownGrace(grace), BrokenRequestHandler()],
        idleTimeout: TimeAmount(meter.connections.limits.idle)))
    self.logger = logger
  }

  /// Serves until graceful shutdown or cancellation.
  /// - Parameters:
  ///   - descriptor: a stream socket that listens. It is closed at the end, whatever that is.
  ///   - onListening: called once, when connections are taken; what it throws ends the server, and is thrown.
  func run(on descriptor: Int32, onListening: @Sendable () async throws -> Void) async throws {
    let quiescing = ServerQuiescingHelper(group: executor.loop)
    let server = try await ServerBootstrap(group: executor.loop)
      .serverChannelInitializer { [meter, logger] channel in
        channel.eventLoop.makeCompletedFuture {
          // What it refuses, the others don't see.
          try channel.pipeline.syncOperations.addHandler(ConnectionGate(meter.connections, logger: logger))
          try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
          try channel.pipeline.syncOperations.addHandler(
            DescriptorShortage(of: descriptor, meter.connections, logger: logger))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: mayHalfClose)
      .bind(descriptor) { [connections, submissions, logger] channel in
        let connection = connections.setup(channel: channel, logger: logger)
        guard let submissions else { return connection }
        return connection.flatMapThrowing { connection in
          // Behind what knows whether the connection has requests in progress.
          let pipeline = channel.pipeline.syncOperations
          let state = try pipeline.handler(type: HTTPConnectionStateHandler.self)
          try pipeline.addHandler(SubmissionHandler(submissions), position: .after(state))
          return connection
        }
      }
    do {
      try await onListening()
    } catch {
      try await server.channel.close()
      throw error
    }
    try await withGracefulShutdownHandler {
      try await withTaskExecutorPreference(executor) {
        try await withThrowingDiscardingTaskGroup { group in
          try await server.executeThenClose { [connections, logger] accepted in
            for try await connection in accepted {
              group.addTask { await connections.handle(value: connection, logger: logger) }
            }
          }
        }
      }
    } onGracefulShutdown: {
      quiescing.initiateShutdown(promise: nil)
    }
  }
}

/// Runs tasks on an event loop's own thread: a request that is read, answered and written there goes from thread to thread
/// only where it waits for the disk. Nothing that takes long may run there, for it is every connection's thread.
final class LoopExecutor: TaskExecutor {
  let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Closes a connection some time after the server was told to stop, whatever its client does or leaves undone, so that no client
/// delays a shutdown.
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
