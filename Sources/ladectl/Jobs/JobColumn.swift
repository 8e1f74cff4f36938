import ControlAPI
import FoundationEssentials

/// A column of a list of jobs.
enum JobColumn: String, Sendable, Hashable, CaseIterable {
  case id, state, lane, priority, kind, store, entity, mode, recipe, source, done, records, inserted, updated, deleted
  case rejected, submitted, available, started, ended, took, attempt, by, tags, batch, reason

  /// The default columns of a list.
  static let standard: [JobColumn] = [
    .id, .state, .lane, .kind, .entity, .source, .done, .records, .rejected, .submitted,
  ]

  var heading: TextTable.Column {
    let name = rawValue.uppercased()
    return switch self {
    case .id, .priority, .inserted, .updated, .deleted, .took, .batch: .init(name, .right)
    case .lane: .init(name, cut: .nothing, rank: 1)
    case .kind: .init(name, cut: .nothing, rank: 2)
    case .entity: .init(name, cut: .middle, rank: 3)
    case .done: .init(name, .right, rank: 4)
    case .submitted: .init(name, cut: .nothing, rank: 5)
    case .records: .init(name, .right, rank: 6)
    case .rejected: .init(name, .right, rank: 7)
    case .state, .mode, .available, .started, .ended, .attempt: .init(name, cut: .nothing)
    case .source: .init(name, cut: .middle)
    case .store, .recipe, .by, .tags, .reason: .init(name)
    }
  }

  /// - Parameter time: how a time is written.
  func cell(_ job: Job, time: (Date) -> String = Quantity.time) -> TextTable.Cell {
    switch self {
    case .id: "\(job.id)"
    case .state:
      .init(
        [job.state.rawValue, standing(job)].compactMap(\.self).joined(separator: ", "), Style.ink(of: job))
    case .lane: .init(job.lane)
    case .priority: "\(job.priority)"
    case .kind: .init(job.kind)
    case .store: .init(job.store ?? "")
    case .entity: .init(job.entity ?? "")
    case .mode: .init(job.mode?.rawValue ?? "")
    case .recipe: .init(job.recipe ?? "")
    case .source: .init(job.source ?? "")
    case .done: .init(job.progress.percent.map { "\($0) %" } ?? "")
    case .records: .init(Quantity.count(job.progress.records))
    case .inserted: .init(Quantity.count(job.progress.inserted))
    case .updated: .init(Quantity.count(job.progress.updated))
    case .deleted: .init(Quantity.count(job.progress.deleted))
    case .rejected: .init(Quantity.count(job.progress.rejected), job.progress.rejected > 0 ? .yellow : nil)
    case .submitted: .init(time(job.submittedAt))
    case .available: .init(job.availableAt.map(time) ?? "")
    case .started: .init(job.startedAt.map(time) ?? "")
    case .ended: .init(job.endedAt.map(time) ?? "")
    case .took: .init(took(job).map(Quantity.span) ?? "")
    case .attempt: "\(job.attempt) of \(job.maxAttempts)"
    case .by: .init(job.submittedBy.namingUsers)
    case .tags: .init(job.tags.joined(separator: ", "))
    case .batch: .init(job.batch.map { String($0) } ?? "")
    case .reason: .init(job.waitsFor.map { "waits for \($0.namingUsers)" } ?? (job.reason ?? "").namingUsers)
    }
  }

  /// Whether a job sorts before another in either direction; unknown values always sort last. nil if they tie.
  func isBefore(_ a: Job, _ b: Job, isReversed: Bool) -> Bool? {
    func order<Value: Comparable>(_ a: Value?, _ b: Value?) -> Bool? {
      switch (a, b) {
      case (nil, nil): nil
      case (nil, _): false
      case (_, nil): true
      case (let a?, let b?): a == b ? nil : (a < b) != isReversed
      }
    }
    return switch self {
    case .id: order(a.id, b.id)
    case .priority: order(a.priority, b.priority)
    case .done: order(a.progress.fraction, b.progress.fraction)
    case .records: order(a.progress.records, b.progress.records)
    case .inserted: order(a.progress.inserted, b.progress.inserted)
    case .updated: order(a.progress.updated, b.progress.updated)
    case .deleted: order(a.progress.deleted, b.progress.deleted)
    case .rejected: order(a.progress.rejected, b.progress.rejected)
    case .submitted: order(a.submittedAt, b.submittedAt)
    case .available: order(a.availableAt, b.availableAt)
    case .started: order(a.startedAt, b.startedAt)
    case .ended: order(a.endedAt, b.endedAt)
    case .took: order(took(a), took(b))
    case .attempt: order(a.attempt, b.attempt)
    case .batch: order(a.batch, b.batch)
    case .state, .lane, .kind, .store, .entity, .mode, .recipe, .source, .by, .tags, .reason:
      order(cell(a).text, cell(b).text)
    }
  }

  /// What keeps a job from starting, in a word or two.
  private func standing(_ job: Job) -> String? {
    if job.isHeld { return "held" }
    return switch job.obstacle {
    case nil, .release: nil
    case .file: "no file yet"
    case .jobs: "after jobs"
    case .lane: "no lane"
    case .paused: "paused"
    case .store: "store in use"
    case .rate: "rate limit"
    }
  }

  private func took(_ job: Job) -> Double? {
    guard let start = job.startedAt, let end = job.endedAt else { return nil }
    return end.timeIntervalSince(start)
  }
}
