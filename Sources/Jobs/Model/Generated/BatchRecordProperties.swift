// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension BatchRecord {
  /// A request for all objects of the entity JobBatch.
  package static func fetchRequest() -> FetchRequest<BatchRecord> {
    FetchRequest(entityName: "JobBatch")
  }

  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }

  package var submittedBy: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  package var submittedAt: Foundation.Date {
    get { self[2] ?? .distantPast }
    set { self[2] = newValue }
  }

  package var endedAt: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  package var total: Int {
    get { self[4] ?? 0 }
    set { self[4] = newValue }
  }

  /// Jobs that haven't ended.
  package var pending: Int {
    get { self[5] ?? 0 }
    set { self[5] = newValue }
  }

  /// Jobs that ended without having succeeded.
  package var failed: Int {
    get { self[6] ?? 0 }
    set { self[6] = newValue }
  }

  /// Jobs that are still in the queue's store: with the last of them the batch is removed.
  package var kept: Int {
    get { self[7] ?? 0 }
    set { self[7] = newValue }
  }

  /// The number of the job that follows them all.
  package var callback: Int64? {
    get { self[8] }
    set { self[8] = newValue }
  }

  /// How they must have ended for the callback to run.
  package var condition: JobDependency.Condition {
    get { self[9] ?? .succeeded }
    set { self[9] = newValue }
  }
}
