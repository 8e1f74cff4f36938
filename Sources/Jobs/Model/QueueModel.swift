// The queue's own model. What its operations cost (rule 9, ARCHITECTURE.md): a claim is one descent of the index
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
}
