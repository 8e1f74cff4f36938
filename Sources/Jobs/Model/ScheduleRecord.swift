import Foundation
package import ManagedObjects

/// What the queue's store remembers of a schedule: see ``JobScheduleSlot`` for what the properties mean.
package final class ScheduleRecord: ManagedObject {
  package override class var propertyNames: [String]? { JobScheduleSlot.allCases.map(\.name) }
  package override class var validatesValues: Bool { false }

  var name: String {
    get { self[.name] ?? "" }
    set { self[.name] = newValue }
  }
  var calendar: String? {
    get { self[.calendar] }
    set { self[.calendar] = newValue }
  }
  var handled: Date? {
    get { self[.handled] }
    set { self[.handled] = newValue }
  }
  var lastElapse: Date? {
    get { self[.lastElapse] }
    set { self[.lastElapse] = newValue }
  }
  var lastOutcome: String? {
    get { self[.lastOutcome] }
    set { self[.lastOutcome] = newValue }
  }
  var lastOrigin: String? {
    get { self[.lastOrigin] }
    set { self[.lastOrigin] = newValue }
  }

  private subscript<T: AttributeValue>(slot: JobScheduleSlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}

/// The slots of ``ScheduleRecord``.
enum JobScheduleSlot: Int, CaseIterable {
  /// The schedule's name in the configuration.
  case name
  /// The calendar for which the rest holds; nil while the schedule doesn't run.
  case calendar
  /// All elapses up to this time have been seen to: nothing is made for them any more.
  case handled
  /// The latest elapse that was seen to.
  case lastElapse
  /// What came of it, for people.
  case lastOutcome
  /// The origin of the latest job that was made.
  case lastOrigin

  var name: String { "\(self)" }
}

extension QueueModel {
  package static let schedule = "JobSchedule"

  static var scheduleEntity: EntityDefinition {
    EntityDefinition(
      schedule,
      attributes: [
        AttributeDefinition(JobScheduleSlot.name.name, .string, isOptional: false),
        AttributeDefinition(JobScheduleSlot.calendar.name, .string),
        AttributeDefinition(JobScheduleSlot.handled.name, .date),
        AttributeDefinition(JobScheduleSlot.lastElapse.name, .date),
        AttributeDefinition(JobScheduleSlot.lastOutcome.name, .string),
        AttributeDefinition(JobScheduleSlot.lastOrigin.name, .string),
      ],
      uniquenessConstraints: [[JobScheduleSlot.name.name]])
  }
}
