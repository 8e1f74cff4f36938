package import ControlAPI
package import Hummingbird
package import NIOCore
import ServiceLifecycle
import Synchronization

/// An answer of server-sent events: what every stream has in common.
///
/// It ends when its writer returns, when the client goes away, and at once when the daemon shuts down. A client that
/// doesn't read can't keep anything but its connection, and that for a while only, whatever is still unsent.
package struct EventStream: Sendable {
  let meter: RequestMeter
  /// How long a client that lags may keep its connection.
  let grace: TimeAmount

  /// - Parameters:
  ///   - meter: counts the client as one that listens.
  package init(meter: RequestMeter, grace: TimeAmount) {
    self.meter = meter
    self.grace = grace
  }

  /// - Parameters:
  ///   - collect: puts events where `write` takes them from, and runs beside it until it returns or is cancelled. What it
  ///     returns is whether the client still kept up.
  ///   - write: sends them; the stream ends when it returns.
  ///   - stop: makes `write` return. Called when the daemon stops; from any thread.
  package func response(
    to request: Request, _ context: ControlContext, collect: @escaping @Sendable () async -> Bool,
    write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void,
    stop: @escaping @Sendable () -> Void
  ) -> Response {
    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    let (meter, grace) = (meter, grace)
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        meter.clientCame()
        defer { meter.clientLeft() }
        try await withGracefulShutdownHandler {
          try await request.body.consumeWithCancellationOnInboundClose { _ in
            try await withThrowingDiscardingTaskGroup { group in
              group.addTask {
                if await !collect() { context.close(in: grace) }
              }
              // A comment, so that the head is sent now and not with the first event.
              try await writer.write(ByteBuffer(string: ": laded\n\n"))
              try await write(&writer)
              group.cancelAll()
            }
          }
        } onGracefulShutdown: {
          stop()
        }
        try await writer.finish(nil)
      })
  }
}

extension ResponseBodyWriter {
  package mutating func send(_ event: ServerSentEvent) async throws {
    try await write(ByteBuffer(string: event.encoded))
  }
}

extension ControlContext {
  /// Closes the connection that much later, whatever is still unsent then.
  fileprivate func close(in time: TimeAmount) {
    channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}

/// A value that is handed to the first who takes it, and kept no longer: a stream ends for its source when its reader
/// releases it, whatever still holds the reader.
package final class Handed<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  package init(_ value: Value) { self.value = Mutex(value) }

  package func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
