// The queue's own model. What it promises to whoever counts the cost (rule 9): a claim is one descent of the index
// `claim`, whose last column is the row number, so that equal priorities come in the order of their submission; what is
// due is the beginning of the index `due`, for `availableAt` is nil except while a job waits for a time, and so with
// `expiry`. What to prune is the beginning of a state in the index `state`. All cost the same with ten jobs and with a
// million. Indexes of what few jobs have hold only these.
//
// To change it: add attributes at the end, optional or with a default, and never give an old name a new meaning.

package import ManagedObjects

/// The model of the queue's store: jobs and what happened to them.
package enum QueueModel {
  /// The names of its entities.
  package static let job = "Job"
  package static let transition = "JobTransition"
  package static let dependency = "JobDependency"
  package static let batch = "JobBatch"
  package static let lane = "LaneSetting"

  /// A new model. A process makes one for each queue; models are never freed.
  package static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [jobEntity, transitionEntity, dependencyEntity, batchEntity, laneEntity, scheduleEntity],
      classes: [
        job: JobRecord.self, transition: TransitionRecord.self, dependency: DependencyRecord.self,
        batch: BatchRecord.self,
        lane: LaneRecord.self, schedule: ScheduleRecord.self,
      ])
  }

  private static func text(_ slot: JobSlot, isOptional: Bool = true) -> AttributeDefinition {
    AttributeDefinition(slot.name, .string, isOptional: isOptional)
  }

  private static func date(_ slot: JobSlot) -> AttributeDefinition { AttributeDefinition(slot.name, .date) }

  private static func flag(_ slot: JobSlot) -> AttributeDefinition {
    AttributeDefinition(slot.name, .boolean, isOptional: false, defaultValue: .bool(false))
  }

  private static func number(_ slot: JobSlot, _ type: AttributeType = .integer64) -> AttributeDefinition {
    AttributeDefinition(slot.name, type, isOptional: false, defaultValue: .int(0))
  }

  private static func index(
    _ name: String, _ elements: [(slot: JobSlot, isAscending: Bool)], where condition: String? = nil
  ) -> FetchIndexDefinition {
    FetchIndexDefinition(
      name, elements: elements.map { .init(property: $0.slot.name, isAscending: $0.isAscending) },
      partialPredicateFormat: condition)
  }

  /// An index of the jobs alone that have something.
  private static func sparse(_ name: String, _ slots: JobSlot...) -> FetchIndexDefinition {
    index(name, slots.map { ($0, true) }, where: "\(slots[0].name) != nil")
  }

  private static var jobEntity: EntityDefinition {
    EntityDefinition(
      job,
      attributes: [
        text(.kind, isOptional: false), text(.lane, isOptional: false), text(.state, isOptional: false),
        number(.priority, .integer32), text(.store), text(.entityName), text(.mode), text(.recipe), text(.source),
        text(.activeName), text(.format), text(.options, isOptional: false), text(.tags),
        text(.submittedBy, isOptional: false), text(.uniqueKey), text(.origin),
        AttributeDefinition(JobSlot.submittedAt.name, .date, isOptional: false), date(.notBefore), date(.availableAt),
        date(.startedAt), date(.endedAt), number(.attempt, .integer32), number(.maxAttempts, .integer32),
        number(.rescues, .integer32), flag(.isHeld), flag(.isAwaitingFile), flag(.isCancelRequested), text(.reason),
        text(.failureCode), text(.note), text(.rejectsFile), number(.bytesDone), number(.bytesTotal), number(.records),
        number(.inserted), number(.updated), number(.unchanged), number(.deleted), number(.rejected),
        number(.skipped), AttributeDefinition(JobSlot.timeout.name, .double), date(.deadline), date(.expiresAt),
        flag(.isAwaitingJobs), flag(.isFollowed), AttributeDefinition(JobSlot.batch.name, .integer64),
      ],
      relationships: [
        RelationshipDefinition(
          JobSlot.transitions.name, to: transition, inverse: JobTransitionSlot.job.name, isToMany: true,
          deleteRule: .cascade),
        RelationshipDefinition(
          JobSlot.dependencies.name, to: dependency, inverse: JobDependencySlot.job.name, isToMany: true,
          deleteRule: .cascade),
      ],
      uniquenessConstraints: [[JobSlot.origin.name]],
      indexes: [
        index("claim", [(.lane, true), (.state, true), (.priority, false)]),
        sparse("due", .availableAt),
        sparse("expiry", .expiresAt),
        index("state", [(.state, true), (.endedAt, true)]),
        sparse("unique", .uniqueKey, .state),
        sparse("batch", .batch),
      ])
  }

  private static var transitionEntity: EntityDefinition {
    EntityDefinition(
      transition,
      attributes: [
        AttributeDefinition(JobTransitionSlot.at.name, .date, isOptional: false),
        AttributeDefinition(JobTransitionSlot.fromState.name, .string),
        AttributeDefinition(JobTransitionSlot.toState.name, .string, isOptional: false),
        AttributeDefinition(JobTransitionSlot.reason.name, .string, isOptional: false),
        AttributeDefinition(JobTransitionSlot.requestedBy.name, .string),
      ],
      relationships: [
        RelationshipDefinition(
          JobTransitionSlot.job.name, to: job, inverse: JobSlot.transitions.name, isOptional: false)
      ])
  }
}
