package import Hummingbird
package import Logging
package import NIOCore
import NIOPosix

/// Answers requests on TCP by routes, until graceful shutdown or cancellation.
package struct LoopbackAnswering: Sendable {
  private let answering: Answering
  private let meter: RequestMeter
  private let logger: Logger
  private let grace: TimeAmount
  private let isForBrowsers: Bool

  /// - Parameters:
  ///   - router: answers every error itself.
  ///   - meter: the control socket's, which limits connections.
  ///   - grace: how long a client has to read unsent data after a shutdown.
  ///   - isForBrowsers: whether work for a client ends when that ends its side, as it does when it goes away.
  package init(
    _ router: Router<ControlContext>, meter: RequestMeter, logger: Logger, grace: TimeAmount,
    isForBrowsers: Bool = false
  ) {
    self.isForBrowsers = isForBrowsers
    answering = Answering(router, logger: logger.quietened)
    self.meter = meter
    self.logger = logger.quietened
    self.grace = grace
  }

  /// Serves each listener, and closes it at the end.
  /// - Parameter onListening: called once for each, when connections are taken.
  package func run(
    on listeners: [LoopbackListener], onListening: @escaping @Sendable (LoopbackListener) -> Void
  ) async throws {
    let executor = LoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
    let listener = ControlListener(
      on: executor, grace: grace, meter: meter, logger: logger, mayHalfClose: !isForBrowsers
    ) { [answering] request, writer, channel in
      try await answering.answerAnywhere(request, writer, channel)
    }
    try await withThrowingDiscardingTaskGroup { group in
      for place in listeners {
        group.addTask {
          defer { place.withdraw() }
          try await listener.run(on: place.descriptor) { onListening(place) }
        }
      }
    }
  }
}
