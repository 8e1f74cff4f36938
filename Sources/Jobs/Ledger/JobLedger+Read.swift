import Foundation
import ManagedObjects

extension JobLedger {
  /// The job of that number, read on the reader's queue.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  func read(_ id: Int64, withTransitions: Bool) async throws -> Job {
    return try await reader.perform { context in
      let objectID = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: id)
      // By fetching, because an object without other references then takes the store's values.
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job,
        predicate: .comparison(.evaluatedObject, .equal, .constant(.object(objectID))), fetchLimit: 1)
      guard let job = try context.fetch(request).first else { throw JobQueueError.noSuchJob(id) }
      var snapshot = try job.snapshot()
      if withTransitions {
        let steps = FetchRequest<TransitionRecord>(
          entityName: QueueModel.transition, predicate: .equal(TransitionRecord.Key.job.name, .object(objectID)),
          sortDescriptors: [FetchSortDescriptor("SELF")])
        snapshot.transitions = try context.fetch(steps).compactMap { $0.snapshot() }
        let followed = FetchRequest<DependencyRecord>(
          entityName: QueueModel.dependency, predicate: .equal(DependencyRecord.Key.job.name, .object(objectID)),
          sortDescriptors: [FetchSortDescriptor("SELF")])
        snapshot.after = try context.fetch(followed).map { JobDependency(job: $0.on, condition: $0.condition) }
      }
      return snapshot
    }
  }

  /// The job of that number, by what is durable; nil if there is none. Blocks.
  func readNow(_ id: Int64) throws -> Job? {
    try reader.performAndWait { context in
      let objectID = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: id)
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job,
        predicate: .comparison(.evaluatedObject, .equal, .constant(.object(objectID))), fetchLimit: 1)
      return try context.fetch(request).first?.snapshot()
    }
  }

  /// Whether a job is that of an operation, by what is durable. Blocks.
  func isOwn(_ job: Job) throws -> Bool {
    try reader.performAndWait { context in
      let objectID = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: job.id)
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job,
        predicate: .comparison(.evaluatedObject, .equal, .constant(.object(objectID))), fetchLimit: 1)
      guard let stored = try context.fetch(request).first else { return false }
      // An operation may have begun ahead of its claim.
      return stored.claim == job.claim
        ? stored.jobState == .running : stored.claim == job.claim - 1 && stored.jobState == .available
    }
  }

  /// The jobs that pass a filter, read on the reader's queue.
  func read(_ filter: JobFilter) async throws -> [Job] {
    try await reader.perform { context in try Self.records(filter, in: context).map { try $0.snapshot() } }
  }

  /// The numbers of the jobs that pass a filter, also of those that can't be read.
  func numbers(_ filter: JobFilter) async throws -> [Int64] {
    try await reader.perform { context in try Self.records(filter, in: context).map(\.objectID.number) }
  }

  private static func records(_ filter: JobFilter, in context: ManagedObjectContext) throws -> [JobRecord] {
    let parts = filter.parts
    guard parts.count > 1 else {
      return try parts.flatMap { try context.fetch($0.request(context.persistentStoreCoordinator)) }
    }
    // All of one state of the queue: a job that moves between two fetches would be in neither part, or in both.
    try context.setQueryGenerationFrom(.current)
    let fetched = Result { try parts.flatMap { try context.fetch($0.request(context.persistentStoreCoordinator)) } }
    try context.setQueryGenerationFrom(nil)
    let jobs = try fetched.get().sorted { ($0.objectID.number < $1.objectID.number) != filter.newestFirst }
    return Array(jobs.dropFirst(max(0, filter.offset)).prefix(max(1, filter.limit)))
  }

  /// How many jobs pass a filter, without its limit and offset; `most` if there are more.
  func count(_ filter: JobFilter, upTo most: Int) async throws -> Int {
    try await reader.perform { context in
      var all = filter
      (all.limit, all.offset) = (most, 0)
      return try context.count(for: all.request(context.persistentStoreCoordinator))
    }
  }

  /// Counts what is in the store.
  func count(lanes: some Sequence<String>, in context: ManagedObjectContext) throws -> JobCounts {
    var request = FetchRequest<JobRecord>(entityName: QueueModel.job)
    request.propertiesToGroupBy = [JobRecord.Key.lane.name, JobRecord.Key.state.name]
    request.propertiesToFetch =
      request.propertiesToGroupBy.map { .property($0) } + [.expression(ExpressionDescription("lade.count", .count()))]
    var counts = JobCounts(lanes: lanes)
    for row in try context.fetchDictionaries(request) {
      guard let lane: String = row[JobRecord.Key.lane.name], let number: Int = row["lade.count"],
        let name: String = row[JobRecord.Key.state.name], let state = JobState(rawValue: name)
      else { continue }
      counts.add(number, to: state, in: lane)
    }
    return counts
  }
}

extension JobLedger {
  /// What was set of lanes, on the ledger's queue, where the caller is.
  func laneSettings() throws -> [String: LaneSetting] {
    let rows = try context.fetch(FetchRequest<LaneRecord>(entityName: QueueModel.lane))
    return Dictionary(rows.map { ($0.lane, $0.setting) }) { first, _ in first }
  }

  /// Sets something of a lane, durably.
  func set(_ lane: String, _ change: @escaping @Sendable (LaneRecord, Date) -> Void) async throws
    -> LaneSetting
  {
    try await write { turn in
      let request = FetchRequest<LaneRecord>(
        entityName: QueueModel.lane, predicate: .equal(LaneRecord.Key.lane.name, .string(lane)), fetchLimit: 1)
      let row: LaneRecord
      if let known = try turn.context.fetch(request).first {
        row = known
      } else {
        row = try turn.context.insert(LaneRecord.self)
        row.lane = lane
      }
      change(row, turn.now)
      return { row.setting }
    }
  }

  /// When the latest jobs of a lane began, oldest first, on the ledger's queue, where the caller is.
  func latestStarts(lane: String, after first: Date, until last: Date, limit: Int) throws -> [Date] {
    let start = FetchPredicate.Expression.path(JobRecord.Key.startedAt.name)
    let isWithin =
      FetchPredicate.comparison(start, .greater, .constant(.date(first)))
      && .comparison(start, .lessOrEqual, .constant(.date(last)))
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.lane.name, .string(lane)) && isWithin,
      sortDescriptors: [FetchSortDescriptor(JobRecord.Key.startedAt.name, ascending: false)], fetchLimit: limit)
    return try context.fetch(request).compactMap(\.startedAt).reversed()
  }
}

extension LaneRecord {
  fileprivate var setting: LaneSetting {
    LaneSetting(isPaused: isPaused, pausedBy: pausedBy, pausedAt: pausedAt, concurrency: concurrency)
  }
}
