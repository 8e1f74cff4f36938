import ManagedObjects

/// Which jobs somebody wants to see, in the order of their numbers. What isn't given doesn't matter.
package struct JobFilter: Sendable, Equatable {
  /// Any of these; all when empty.
  package var states: Set<JobState>
  package var kind: String?
  package var lane: String?
  package var store: String?
  package var entity: String?
  package var recipe: String?
  package var submittedBy: String?
  package var uniqueKey: String?
  package var tag: String?
  package var isHeld: Bool?
  package var isAwaitingFile: Bool?
  /// Only jobs of smaller numbers than this.
  package var before: Int64?
  /// The latest first, or the oldest.
  package var newestFirst: Bool
  /// How many at most, and how many to leave out before them.
  package var limit: Int
  package var offset: Int

  /// A filter; the hundred newest when nothing is given.
  package init(
    states: Set<JobState> = [], kind: String? = nil, lane: String? = nil, store: String? = nil, entity: String? = nil,
    recipe: String? = nil, submittedBy: String? = nil, uniqueKey: String? = nil, tag: String? = nil,
    isHeld: Bool? = nil, isAwaitingFile: Bool? = nil, before: Int64? = nil, newestFirst: Bool = true, limit: Int = 100,
    offset: Int = 0
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
    self.before = before
    self.newestFirst = newestFirst
    self.limit = limit
    self.offset = offset
  }

  /// - Parameter coordinator: knows the ID of a number.
  func request(_ coordinator: PersistentStoreCoordinator) throws -> FetchRequest<Job> {
    var conditions: [FetchPredicate] = []
    if !states.isEmpty {
      conditions.append(
        states.count == 1
          ? .equal(JobSlot.state.name, .string(states.first?.rawValue ?? ""))
          : .isIn(JobSlot.state.name, states.map { .string($0.rawValue) }.sorted { $0.plainText < $1.plainText }))
    }
    let texts: [(JobSlot, String?)] = [
      (.kind, kind), (.lane, lane), (.store, store), (.entityName, entity), (.recipe, recipe),
      (.submittedBy, submittedBy), (.uniqueKey, uniqueKey),
    ]
    for (slot, text) in texts {
      if let text { conditions.append(.equal(slot.name, .string(text))) }
    }
    for (slot, flag) in [(JobSlot.isHeld, isHeld), (.isAwaitingFile, isAwaitingFile)] {
      if let flag { conditions.append(.equal(slot.name, .bool(flag))) }
    }
    if let before {
      let id = try coordinator.managedObjectID(entity: QueueModel.job, number: before)
      conditions.append(.comparison(.path("SELF"), .less, .constant(.object(id))))
    }
    if let tag {
      conditions.append(.comparison(.path(JobSlot.tags.name), .contains, .constant(.string("|\(tag)|"))))
    }
    return FetchRequest(
      entityName: QueueModel.job, predicate: conditions.isEmpty ? nil : .and(conditions),
      sortDescriptors: [FetchSortDescriptor("SELF", ascending: !newestFirst)], fetchLimit: max(1, limit),
      fetchOffset: max(0, offset))
  }
}
