package import Foundation
import ManagedObjects

/// Which jobs to list, in the order of their numbers. Nil matches everything.
package struct JobFilter: Sendable, Equatable {
  /// Only jobs of these numbers; all when nil.
  package var ids: [Int64]?
  /// Any of these; all when empty.
  package var states: Set<JobState>
  package var kind: String?
  package var lane: String?
  package var store: String?
  package var entity: String?
  package var recipe: String?
  package var submittedBy: String?
  /// Handed in by any of these; by anybody when nil.
  package var submitters: [String]?
  package var uniqueKey: String?
  /// Only the job that was made from this.
  package var origin: JobOrigin?
  package var tag: String?
  package var batch: Int64?
  package var isHeld: Bool?
  package var isAwaitingFile: Bool?
  /// What the failure's code is like, by the signs of `LIKE`.
  package var failureCode: String?
  /// What the source is like, by the same signs.
  package var source: String?
  /// Only jobs of entries of the spool that haven't arrived.
  package var isUnarrived: Bool
  /// Submitted at this time or later.
  package var submittedSince: Date?
  /// Submitted before this time.
  package var submittedUntil: Date?
  /// Only jobs of smaller numbers than this.
  package var before: Int64?
  /// Only jobs of greater numbers than this.
  package var after: Int64?
  /// The latest first, or the oldest.
  package var newestFirst: Bool
  /// How many at most, and how many to leave out before them.
  package var limit: Int
  package var offset: Int

  /// A filter; the hundred newest when nothing is given.
  package init(
    states: Set<JobState> = [], kind: String? = nil, lane: String? = nil, store: String? = nil, entity: String? = nil,
    recipe: String? = nil, submittedBy: String? = nil, uniqueKey: String? = nil, tag: String? = nil,
    isHeld: Bool? = nil, isAwaitingFile: Bool? = nil, isUnarrived: Bool = false, before: Int64? = nil,
    after: Int64? = nil,
    newestFirst: Bool = true, limit: Int = 100, offset: Int = 0
  ) {
    self.states = states
    self.kind = kind
    self.lane = lane
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.submittedBy = submittedBy
    self.uniqueKey = uniqueKey
    self.tag = tag
    self.isHeld = isHeld
    self.isAwaitingFile = isAwaitingFile
    self.isUnarrived = isUnarrived
    self.before = before
    self.after = after
    self.newestFirst = newestFirst
    self.limit = limit
    self.offset = offset
  }

  /// - Parameter coordinator: knows the ID of a number.
  func request(_ coordinator: PersistentStoreCoordinator) throws -> FetchRequest<JobRecord> {
    var conditions: [FetchPredicate] = []
    if let ids {
      let objects = try ids.map { Value.object(try coordinator.managedObjectID(entity: QueueModel.job, number: $0)) }
      conditions.append(.comparison(.evaluatedObject, .isIn, .constants(objects)))
    }
    if !states.isEmpty {
      conditions.append(
        states.count == 1
          ? .equal(JobRecord.Key.state.name, .string(states.first?.rawValue ?? ""))
          : .isIn(JobRecord.Key.state.name, states.map { .string($0.rawValue) }.sorted { $0.plainText < $1.plainText }))
    }
    let texts: [(JobRecord.Key, String?)] = [
      (.kind, kind), (.lane, lane), (.store, store), (.entityName, entity), (.recipe, recipe),
      (.submittedBy, submittedBy), (.uniqueKey, uniqueKey), (.origin, origin?.rawValue),
    ]
    for (slot, text) in texts {
      if let text { conditions.append(.equal(slot.name, .string(text))) }
    }
    for (slot, flag) in [(JobRecord.Key.isHeld, isHeld), (.isAwaitingFile, isAwaitingFile)] {
      if let flag { conditions.append(.equal(slot.name, .bool(flag))) }
    }
    for (slot, pattern) in [(JobRecord.Key.failureCode, failureCode), (.source, source)] {
      if let pattern {
        conditions.append(.comparison(.path(slot.name), .like, .constant(.string(pattern))))
      }
    }
    if isUnarrived {
      // Two ends of the index of origins: whatever begins with `spool:`.
      for (end, comparison) in [("spool:", FetchPredicate.Operator.greaterOrEqual), ("spool;", .less)] {
        conditions.append(.comparison(.path(JobRecord.Key.origin.name), comparison, .constant(.string(end))))
      }
    }
    if let submitters {
      conditions.append(.isIn(JobRecord.Key.submittedBy.name, submitters.map { .string($0) }))
    }
    if let batch { conditions.append(.equal(JobRecord.Key.batch.name, .int(batch))) }
    for (bound, comparison) in [(before, FetchPredicate.Operator.less), (after, .greater)] {
      guard let bound else { continue }
      let id = try coordinator.managedObjectID(entity: QueueModel.job, number: bound)
      conditions.append(.comparison(.path("SELF"), comparison, .constant(.object(id))))
    }
    let submittedAt = FetchPredicate.Expression.path(JobRecord.Key.submittedAt.name)
    for (time, comparison) in [(submittedSince, FetchPredicate.Operator.greaterOrEqual), (submittedUntil, .less)] {
      if let time { conditions.append(.comparison(submittedAt, comparison, .constant(.date(time)))) }
    }
    if let tag { conditions.append(JobRecord.isFound(by: tag)) }
    return FetchRequest(
      entityName: QueueModel.job, predicate: conditions.isEmpty ? nil : .and(conditions),
      sortDescriptors: [FetchSortDescriptor("SELF", ascending: !newestFirst)], fetchLimit: max(1, limit),
      fetchOffset: max(0, offset))
  }
}

extension JobFilter {
  /// The filters whose jobs together are those of this one, merged by their numbers. The indexes `state` and `laneState` have the
  /// jobs of one state in the order of their numbers, so that a page is read without looking at the others; those of several
  /// states would have to be sorted, all of them.
  var parts: [JobFilter] {
    // Few jobs have the same of these.
    let isNarrow = ids != nil || uniqueKey != nil || batch != nil || isUnarrived
    guard !isNarrow, states.count > 1 || (states.isEmpty && lane != nil) else { return [self] }
    return (states.isEmpty ? Set(JobState.allCases) : states).map { state in
      var part = self
      part.states = [state]
      part.limit = max(1, limit) + max(0, offset)
      part.offset = 0
      return part
    }
  }
}
