// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension ScheduleRecord {
  /// A request for all objects of the entity JobSchedule.
  package static func fetchRequest() -> FetchRequest<ScheduleRecord> {
    FetchRequest(entityName: "JobSchedule")
  }

  /// The schedule's name in the configuration.
  package var name: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  /// The calendar for which the rest holds; nil while the schedule doesn't run.
  package var calendar: String? {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// All elapses up to this time have been handled: no jobs are made for them any more.
  package var handled: Foundation.Date? {
    get { self[2] }
    set { self[2] = newValue }
  }

  /// The latest elapse that was handled.
  package var lastElapse: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  /// What came of it, for people.
  package var lastOutcome: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  /// The origin of the latest job that was made.
  package var lastOrigin: String? {
    get { self[5] }
    set { self[5] = newValue }
  }

  package var isPaused: Bool {
    get { self[6] ?? false }
    set { self[6] = newValue }
  }

  package var pausedBy: String? {
    get { self[7] }
    set { self[7] = newValue }
  }

  package var pausedAt: Foundation.Date? {
    get { self[8] }
    set { self[8] = newValue }
  }
}
