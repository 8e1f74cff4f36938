// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension LeaseRecord {
  /// A request for all objects of the entity QueueLease.
  package static func fetchRequest() -> FetchRequest<LeaseRecord> {
    FetchRequest(entityName: "QueueLease")
  }

  package var incarnation: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  /// By the store's clock.
  package var until: Foundation.Date {
    get { self[1] ?? .distantPast }
    set { self[1] = newValue }
  }
}
