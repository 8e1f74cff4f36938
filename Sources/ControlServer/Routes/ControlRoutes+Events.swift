import ControlAPI
import Hummingbird

extension ControlRoutes {
  /// Every job's changes, from before the client has the answer's head; so it can list the jobs then and miss nothing.
  func allEvents(_ request: Request, _ context: ControlContext) throws -> Response {
    try request.refuseQuery()
    return stream(backend.jobEvents(), of: nil, to: request, context)
  }

  /// One job as it is, and then its changes, until it has ended.
  func events(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    // First the changes, then the job: the other way round, what happens between them would be lost.
    let changes = backend.jobEvents()
    return stream(changes, of: try await backend.job(context.number()), to: request, context)
  }

  private func stream(
    _ changes: AsyncStream<Job>, of job: Job?, to request: Request, _ context: ControlContext
  ) -> Response {
    let queue = EventQueue<Job>(capacity: 4096)
    let changes = Handed(changes)
    return EventStream(meter: meter, grace: grace).response(to: request, context) {
      if let job { queue.put(job, replacing: job.id) }
      guard let changes = changes.take() else { return true }
      for await change in changes where job == nil || change.id == job?.id {
        if !queue.put(change, replacing: change.id) { return false }
      }
      if !Task.isCancelled { queue.finish() }
      return true
    } write: { writer in
      while let changed = await queue.take() {
        for job in changed { try await writer.send(ControlEvent.job(job).serverSentEvent()) }
        if let job, changed.contains(where: { $0.id == job.id && $0.state.isEnded }) { return }
      }
      if queue.isOverfull { try await writer.send(ControlEvent.lagged.serverSentEvent()) }
    } stop: {
      queue.close()
    }
  }

  /// The standing query's result, and then what becomes of it.
  func watch(_ request: Request, _ context: ControlContext) async throws -> Response {
    let events = try await Handed(backend.watch(WatchQuery(request.query())))
    // As many differences as a few whole results have.
    let queue = EventQueue<WatchEvent>(capacity: 8 * WatchQuery.maximumLimit)
    return EventStream(meter: meter, grace: grace).response(to: request, context) {
      guard let events = events.take() else { return true }
      for await event in events where !queue.put(event, size: event.size) { return false }
      queue.finish()
      return true
    } write: { writer in
      while let events = await queue.take() {
        for event in events { try await writer.send(event.serverSentEvent()) }
      }
      if queue.isOverfull { try await writer.send(WatchEvent.lagged.serverSentEvent()) }
    } stop: {
      queue.close()
    }
  }
}

extension WatchEvent {
  /// What it takes of the room that there is for a client's events: one for each object.
  fileprivate var size: Int {
    switch self {
    case .result(let result): max(1, result.rows.count)
    case .changes(let changes): max(1, changes.changes.count)
    case .lagged, .problem: 1
    }
  }
}
