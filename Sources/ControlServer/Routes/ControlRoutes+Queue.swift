import ControlAPI
import Hummingbird

// MARK: Jobs

extension ControlRoutes {
  func list(_ request: Request) async throws -> Response {
    try .json(await backend.jobs(JobQuery(request.query())))
  }

  func show(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.job(context.number()))
  }

  func submit(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let submission = try await request.decoded(as: JobSubmission.self, on: context.executor)
    if let source = submission.source { try Self.checkIsAbsolute(source) }
    let job = try await backend.submit(submission, by: context.peer())
    var response = try Response.json(job, status: .created)
    response.headers[.location] = Endpoint.job(job.id).path
    return response
  }

  func submitMany(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let submissions = try await request.decoded(as: JobsSubmission.self).jobs
    try Self.check(
      submissions, atMost: JobsSubmission.maximumJobs, hint: "Hand the others in with another request.")
    return try .json(JobReceiptList(jobs: await backend.submit(submissions, by: context.peer())))
  }

  /// Does to the job in the path what needs no saying.
  func change(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (Int64, Peer) async throws -> Job
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await body(context.number(), context.peer()))
  }

  func setPriority(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let change = try await request.decoded(as: PriorityChange.self)
    return try .json(await backend.setPriority(context.number(), to: change.priority, by: context.peer()))
  }

  func changeMany(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let change = try await request.decoded(as: JobChange.self)
    if change.filter.isEverything, !change.isForAll {
      throw ControlError.invalid(
        field: "filter", reason: "it says nothing, and so would mean every job",
        hint: #"If that is meant, say "all": true."#)
    }
    if let jobs = change.filter.jobs, jobs.count > JobQuery.maximumLimit {
      throw ControlError.invalid(field: "jobs", reason: "there can be \(JobQuery.maximumLimit) numbers at once")
    }
    if (change.action == .priority) != (change.priority != nil) {
      throw ControlError.invalid(
        field: "priority", reason: "it goes with the action priority, and that with it")
    }
    let job = try await backend.change(change, by: context.peer())
    var response = try Response.json(job, status: .created)
    response.headers[.location] = Endpoint.job(job.id).path
    return response
  }

  func listBatches(_ request: Request) async throws -> Response {
    try .json(await backend.batches(BatchQuery(request.query())))
  }

  func submitBatch(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let submission = try await request.decoded(as: BatchSubmission.self)
    try Self.check(
      submission.jobs.map(\.job), atMost: BatchSubmission.maximumJobs,
      hint: "More can be put into the batch later, each by its batch.")
    let batch = try await backend.submit(submission, by: context.peer())
    var response = try Response.json(batch, status: .created)
    response.headers[.location] = Endpoint.batch(batch.id).path
    return response
  }

  func showBatch(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.batch(context.number(of: "batch")))
  }

  /// Checks the jobs of one request: their number, and their sources.
  private static func check(_ jobs: [JobSubmission], atMost most: Int, hint: String) throws {
    guard (1...most).contains(jobs.count) else {
      throw ControlError.invalid(
        field: "jobs", reason: "there must be from 1 to \(most), and are \(jobs.count)", hint: hint)
    }
    for job in jobs { if let source = job.source { try checkIsAbsolute(source) } }
  }

  static func checkIsAbsolute(_ source: String) throws {
    guard !source.hasPrefix("/") else { return }
    throw ControlError.invalid(
      field: "source", reason: "'\(source)' isn't an absolute path",
      hint: "The daemon has a working directory of its own, so a relative path would mean another file.")
  }
}

// MARK: Lanes and schedules

extension ControlRoutes {
  func lanes(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(LaneList(lanes: await backend.lanes()))
  }

  func schedules(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(ScheduleList(schedules: await backend.schedules()))
  }

  func runSchedule(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await backend.run(schedule: context.name("schedule"), by: context.peer()), status: .created)
  }

  /// Does to the schedule in the path what needs no saying.
  func changeSchedule(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (String, Peer) async throws -> Schedule
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await body(context.name("schedule"), context.peer()))
  }

  /// Does to the lane in the path what needs no saying.
  func changeLane(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (String, Peer) async throws -> Lane
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await body(context.name("lane"), context.peer()))
  }

  /// The same for every lane.
  func changeAll(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (String, Peer) async throws -> Lane
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    let peer = try await context.peer()
    for lane in try await backend.lanes() { _ = try await body(lane.name, peer) }
    return try .json(LaneList(lanes: await backend.lanes()))
  }

  func setConcurrency(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let change = try await request.decoded(as: ConcurrencyChange.self)
    if let number = change.concurrency, !LaneConfiguration.concurrencyRange.contains(number) {
      throw ControlError.invalid(field: "concurrency", reason: "it must be from 1 to 64, or null")
    }
    return try .json(
      await backend.setConcurrency(of: context.name("lane"), to: change.concurrency, by: context.peer()))
  }
}

// MARK: Events

extension ControlRoutes {
  /// Every job's changes, from before the client has the answer's head; so it can list the jobs then and miss nothing.
  func allEvents(_ request: Request, _ context: ControlContext) throws -> Response {
    try request.refuseQuery()
    return stream(backend.jobEvents(), of: nil, to: request, context)
  }

  /// One job as it is, and then its changes, until it has ended and its file is put away.
  func events(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    // First the changes, then the job: the other way round, what happens between them would be lost.
    let changes = backend.jobEvents()
    return stream(changes, of: try await backend.settledJob(context.number()), to: request, context)
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
}
