import ControlAPI

extension ControlClient {
  func jobs(_ query: JobQuery) async throws -> JobList { try await send(.GET, .jobs, query.queryString) }

  /// All jobs that a query finds, page after page; its limit doesn't count.
  func allJobs(_ query: JobQuery) async throws -> JobList {
    var query = query
    query.limit = JobQuery.maximumLimit
    var list = JobList(jobs: [])
    while true {
      let page = try await jobs(query)
      list.jobs += page.jobs
      guard let next = page.next else { return list }
      if query.order == .newest { query.before = next } else { query.after = next }
    }
  }

  func job(_ id: Int64) async throws -> Job { try await send(.GET, .job(id)) }

  func rejects(_ id: Int64) async throws -> RejectReport { try await send(.GET, .rejects(id)) }

  func submit(_ submission: JobSubmission) async throws -> Job {
    try await send(.POST, .jobs, body: try WireFormat.encode(submission))
  }

  /// Submits up to ``JobsSubmission/maximumJobs`` jobs, each independently.
  /// - Returns: the result for each, in order.
  func submit(_ submissions: [JobSubmission]) async throws -> [JobReceipt] {
    let answer: JobReceiptList = try await send(
      .POST, .manyJobs, body: try WireFormat.encode(JobsSubmission(jobs: submissions)))
    return answer.jobs
  }

  func cancel(_ id: Int64) async throws -> Job { try await send(.POST, .cancelJob(id)) }

  func retry(_ id: Int64) async throws -> Job { try await send(.POST, .retryJob(id)) }

  func hold(_ id: Int64) async throws -> Job { try await send(.POST, .holdJob(id)) }

  func release(_ id: Int64) async throws -> Job { try await send(.POST, .releaseJob(id)) }

  /// Removes a job that has ended; returns its last state.
  func remove(_ id: Int64) async throws -> Job { try await send(.DELETE, .job(id)) }

  func setPriority(_ id: Int64, to priority: Int) async throws -> Job {
    try await send(.PUT, .jobPriority(id), body: try WireFormat.encode(PriorityChange(priority: priority)))
  }

  /// Applies one change to many jobs.
  func change(_ change: JobChange) async throws -> JobChangeResult {
    try await send(.POST, .changeJobs, body: try WireFormat.encode(change))
  }

  func submit(_ batch: BatchSubmission) async throws -> Batch {
    try await send(.POST, .batches, body: try WireFormat.encode(batch))
  }

  func batches(_ query: BatchQuery) async throws -> BatchList { try await send(.GET, .batches, query.queryString) }

  func batch(_ id: Int64) async throws -> Batch { try await send(.GET, .batch(id)) }

  /// Listens to jobs' changes until the stream ends or a closure returns `false`.
  /// - Parameters:
  ///   - endpoint: ``Endpoint/allJobEvents`` or ``Endpoint/jobEvents(_:)``.
  ///   - opened: see ``events(_:_:opened:read:each:)``.
  func listen(
    to endpoint: Endpoint, opened: @Sendable () async throws -> Bool,
    each: @Sendable (ControlEvent) async throws -> Bool
  ) async throws {
    try await events(endpoint, opened: opened, read: { try ControlEvent($0) }, each: each)
  }
}
