import Foundation

extension JobQueue {
  /// Jobs that are changed together, at most: they share transactions.
  private static let together = 200

  /// Changes all jobs that pass a filter, whatever its `limit` and `offset` say, from the newest on. A job that can't be
  /// changed where it stands is left, and told.
  /// - Throws: the store's error; what was changed before stays.
  package func change(_ filter: JobFilter, _ change: JobChange, by who: String) async throws -> BulkResult {
    var page = filter
    page.limit = Self.together
    page.offset = 0
    page.newestFirst = true
    var result = BulkResult()
    while true {
      let jobs = try await jobs(page)
      guard let last = jobs.last else { return result }
      page.before = last.id
      try await withThrowingTaskGroup(of: BulkResult.Refusal?.self) { group in
        for job in jobs {
          group.addTask {
            do {
              try await self.change(job.id, change, by: who)
              return nil
            } catch let error as JobQueueError {
              return BulkResult.Refusal(job: job.id, why: error.description)
            }
          }
        }
        for try await refusal in group {
          guard let refusal else {
            result.changed += 1
            continue
          }
          result.refused += 1
          if result.refusals.count < BulkResult.refusalsTold { result.refusals.append(refusal) }
        }
      }
    }
  }

  private func change(_ id: Int64, _ change: JobChange, by who: String) async throws {
    switch change {
    case .cancel: _ = try await cancel(id, by: who)
    case .retry: _ = try await retry(id, by: who)
    case .hold: _ = try await hold(id, by: who)
    case .release: _ = try await release(id, by: who)
    case .priority(let priority): _ = try await setPriority(id, to: priority, by: who)
    case .remove: _ = try await remove(id, by: who)
    }
  }
}
