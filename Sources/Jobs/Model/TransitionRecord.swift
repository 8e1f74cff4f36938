package import Foundation
package import ManagedObjects

/// One step of a job's life: when, from where to where, why, and who wanted it.
package final class TransitionRecord: ManagedObject {
  package override class var propertyNames: [String]? { JobTransitionSlot.allCases.map(\.name) }
  package override class var validatesValues: Bool { false }

  package var at: Date? {
    get { self[.at] }
    set { self[.at] = newValue }
  }
  /// nil for the submission.
  package var fromState: JobState? {
    get { self[.fromState] }
    set { self[.fromState] = newValue }
  }
  package var toState: JobState? {
    get { self[.toState] }
    set { self[.toState] = newValue }
  }
  package var reason: String {
    get { self[.reason] ?? "" }
    set { self[.reason] = newValue }
  }
  /// nil for the queue itself.
  package var requestedBy: String? {
    get { self[.requestedBy] }
    set { self[.requestedBy] = newValue }
  }
  package var job: JobRecord? {
    get { object(JobTransitionSlot.job.rawValue) }
    set { setObject(newValue, JobTransitionSlot.job.rawValue) }
  }

  private subscript<T: AttributeValue>(slot: JobTransitionSlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}

extension TransitionRecord {
  /// The step, or nil when the store holds what this version can't have written.
  func snapshot() -> JobTransition? {
    guard let at, let toState else { return nil }
    return JobTransition(at: at, from: fromState, to: toState, reason: reason, by: requestedBy)
  }
}

/// The slots of ``TransitionRecord``.
enum JobTransitionSlot: Int, CaseIterable {
  case at, fromState, toState, reason, requestedBy, job

  var name: String { "\(self)" }
}

extension QueueModel {
  static var transitionEntity: EntityDefinition {
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
