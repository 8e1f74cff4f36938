import ControlAPI
import Hummingbird
import NIOCore
import ServiceLifecycle

/// One client's event stream: `text/event-stream`, one `job` event for each change.
///
/// It ends when the job has ended (for a stream of one job), when the client goes away, when the client lags too far
/// behind (a `lagged` event says so), and at once when the daemon shuts down. A client that doesn't read can't hold up
/// the shutdown: its connection is closed some seconds later, whatever is still unsent.
struct EventStream: Sendable {
  let changes: AsyncStream<Job>
  /// The one job that the stream is about, as it was after `changes` began; nil for all jobs.
  let job: Job?

  /// A stream of all jobs' changes, or of one job's.
  init(changes: AsyncStream<Job>, of job: Job? = nil) {
    self.changes = changes
    self.job = job
  }

  func response(to request: Request, _ context: ControlContext) -> Response {
    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        let mailbox = JobMailbox()
        try await withGracefulShutdownHandler {
          try await request.body.consumeWithCancellationOnInboundClose { _ in
            try await withThrowingDiscardingTaskGroup { group in
              group.addTask { await collect(into: mailbox) }
              try await write(from: mailbox, to: &writer)
              group.cancelAll()
            }
          }
        } onGracefulShutdown: {
          mailbox.finish()
          context.channel.eventLoop.scheduleTask(in: .seconds(5)) { context.channel.close(promise: nil) }
        }
        try await writer.finish(nil)
      })
  }

  private func collect(into mailbox: JobMailbox) async {
    if let job { mailbox.put(job) }
    for await change in changes where job == nil || change.id == job?.id { mailbox.put(change) }
    if !Task.isCancelled { mailbox.finish() }
  }

  private func write(from mailbox: JobMailbox, to writer: inout any ResponseBodyWriter) async throws {
    // A comment, so that the head is sent now and not with the first event.
    try await writer.write(ByteBuffer(string: ": laded\n\n"))
    while let changed = await mailbox.take() {
      for job in changed { try await writer.write(.job(job)) }
      if let job, changed.contains(where: { $0.id == job.id && $0.state.isEnded }) { return }
    }
    if mailbox.isOverfull { try await writer.write(.lagged) }
  }
}

extension ResponseBodyWriter {
  fileprivate mutating func write(_ event: ControlEvent) async throws {
    try await write(ByteBuffer(string: event.serverSentEvent().encoded))
  }
}
