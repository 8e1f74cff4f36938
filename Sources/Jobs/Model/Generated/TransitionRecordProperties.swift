// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension TransitionRecord {
  /// A request for all objects of the entity JobTransition.
  package static func fetchRequest() -> FetchRequest<TransitionRecord> {
    FetchRequest(entityName: "JobTransition")
  }

  package var at: Foundation.Date? {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// Nil for the submission.
  package var fromState: JobState? {
    get { self[1] }
    set { self[1] = newValue }
  }

  package var toState: JobState? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var reason: String {
    get { self[3] ?? "" }
    set { self[3] = newValue }
  }

  /// Nil for the queue itself.
  package var requestedBy: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  package var job: JobRecord? {
    get { object(5) }
    set { setObject(newValue, 5) }
  }
}
