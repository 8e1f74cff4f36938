import ControlAPI
import Synchronization

/// The requests of the interface, each by the name of its route.
extension ControlClient {
  // MARK: Jobs

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

  /// A job; one that has ended, once its file is put away.
  func settledJob(_ id: Int64) async throws -> Job {
    let known = try await job(id)
    guard known.state.isEnded else { return known }
    let settled = Mutex<Job?>(nil)
    try await listen(to: .jobEvents(id), opened: { true }) { event in
      if case .job(let job) = event { settled.withLock { $0 = job } }
      return false
    }
    return settled.withLock { $0 } ?? known
  }

  /// A job, once it has ended. If the client stops waiting, the job goes on.
  func endedJob(_ id: Int64) async throws -> Job {
    try await listen(to: .jobEvents(id), opened: { !(try await self.job(id).state.isEnded) }) { event in
      if case .job(let job) = event { return !job.state.isEnded }
      return true
    }
    return try await settledJob(id)
  }

  func rejects(_ id: Int64) async throws -> RejectReport { try await send(.GET, .rejects(id)) }

  func reject(_ number: Int64, of job: Int64) async throws -> Reject {
    try await send(.GET, .reject(job, number: number))
  }

  func openRejects(_ job: Int64, _ query: RejectQuery) async throws -> RejectPage {
    try await send(.GET, .openRejects(job), query.queryString)
  }

  func checkRejects(_ job: Int64, _ request: RejectRetryRequest) async throws -> RejectCheck {
    try await send(.POST, .checkRejects(job), body: try WireFormat.encode(request))
  }

  func retryRejects(_ job: Int64, _ request: RejectRetryRequest) async throws -> Job {
    try await send(.POST, .retryRejects(job), body: try WireFormat.encode(request))
  }

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

  /// Makes a job that changes many.
  func change(_ change: JobChange) async throws -> Job {
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

  // MARK: Lanes

  func lanes() async throws -> LaneList { try await send(.GET, .lanes) }

  func pause(_ lane: String) async throws -> Lane { try await send(.POST, .pauseLane(lane)) }

  func resume(_ lane: String) async throws -> Lane { try await send(.POST, .resumeLane(lane)) }

  func pauseAllLanes() async throws -> LaneList { try await send(.POST, .pauseLanes) }

  func resumeAllLanes() async throws -> LaneList { try await send(.POST, .resumeLanes) }

  /// - Parameter concurrency: nil for the configured one.
  func setConcurrency(of lane: String, to concurrency: Int?) async throws -> Lane {
    try await send(
      .PUT, .laneConcurrency(lane), body: try WireFormat.encode(ConcurrencyChange(concurrency: concurrency)))
  }

  // MARK: Stores and objects

  func objects(_ query: ObjectQuery) async throws -> ObjectPage {
    try await send(.GET, .objects(entity: query.entity), query.queryString)
  }

  func count(_ query: ObjectQuery) async throws -> ObjectCount {
    try await send(.GET, .count(entity: query.entity), query.queryString)
  }

  func groups(_ query: GroupQuery) async throws -> ObjectGroups {
    try await send(.GET, .groups(entity: query.entity), query.queryString)
  }

  /// - Parameter number: nil for the defaults of a new object.
  func editable(_ number: Int64?, of entity: String, in store: String?) async throws -> EditableObject {
    var query = QueryString()
    query["store"] = store
    return try await send(.GET, .object(entity: entity, number: number.map(String.init) ?? "new"), query)
  }

  func check(_ edit: ObjectEdit, of entity: String) async throws -> EditCheck {
    try await send(.POST, .checkEdit(entity: entity), body: try WireFormat.encode(edit))
  }

  func origins(_ query: OriginQuery) async throws -> RowOrigins {
    try await send(.GET, .origin(entity: query.entity), query.queryString)
  }

  func stores(_ query: StoreCountQuery = StoreCountQuery()) async throws -> StoreList {
    try await send(.GET, .stores, query.queryString)
  }

  func store(_ name: String, _ query: StoreCountQuery = StoreCountQuery()) async throws -> Store {
    try await send(.GET, .store(name), query.queryString)
  }

  func modelVersions(of store: String, _ query: ModelVersionQuery) async throws -> ModelVersions {
    try await send(.GET, .modelVersions(store: store), query.queryString)
  }

  func backups(of store: String) async throws -> BackupList { try await send(.GET, .backups(store: store)) }

  /// Follows a standing query until the stream ends or `each` returns `false`.
  func watch(_ query: WatchQuery, each: @Sendable (WatchEvent) async throws -> Bool) async throws {
    try await events(.watch, query.queryString, read: { try WatchEvent($0) }, each: each)
  }

  // MARK: The daemon

  func status() async throws -> Status { try await send(.GET, .status) }

  func stats() async throws -> Stats { try await send(.GET, .stats) }

  func daemons() async throws -> DaemonList { try await send(.GET, .daemons) }

  func checkConfiguration() async throws -> ConfigurationCheck { try await send(.GET, .checkConfiguration) }

  func configurationSettings() async throws -> ConfigurationSettings { try await send(.GET, .configuration) }

  func pause(schedule: String) async throws -> Schedule { try await send(.POST, .pauseSchedule(schedule)) }

  func resume(schedule: String) async throws -> Schedule { try await send(.POST, .resumeSchedule(schedule)) }

  func run(schedule: String) async throws -> Job { try await send(.POST, .runSchedule(schedule)) }

  func webLink() async throws -> WebLink { try await send(.POST, .webSession) }

  func reload() async throws -> Reload { try await send(.POST, .reload) }

  func recipes() async throws -> RecipeList { try await send(.GET, .recipes) }

  func schedules() async throws -> ScheduleList { try await send(.GET, .schedules) }

  func diff(_ diff: ModelDiffRequest) async throws -> ModelDiff {
    try await send(.POST, .diffModel, body: try WireFormat.encode(diff))
  }

  func test(_ test: RecipeTest) async throws -> RecipeTestResult {
    try await send(.POST, .testRecipe, body: try WireFormat.encode(test))
  }

  func replay(_ request: ReplayRequest, of recipe: String) async throws -> ReplayResult {
    try await send(.POST, .replay(recipe: recipe), body: try WireFormat.encode(request))
  }

  func removeRecipe(_ name: String) async throws -> Reload { try await send(.DELETE, .recipe(name)) }

  func cursor(of recipe: String) async throws -> CursorStatus { try await send(.GET, .cursor(recipe: recipe)) }

  func setCursor(of recipe: String, to change: CursorChange) async throws -> CursorStatus {
    try await send(.PUT, .cursor(recipe: recipe), body: try WireFormat.encode(change))
  }

  func log(_ query: LogQuery) async throws -> LogPage { try await send(.GET, .log, query.queryString) }

  /// Follows the log until the stream ends or `each` returns `false`.
  func followLog(_ query: LogQuery, each: @Sendable (LogEvent) async throws -> Bool) async throws {
    var query = query
    query.follows = true
    try await events(.log, query.queryString, read: { try LogEvent($0) }, each: each)
  }
}
