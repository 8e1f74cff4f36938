// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension LaneRecord {
  /// A request for all objects of the entity LaneSetting.
  package static func fetchRequest() -> FetchRequest<LaneRecord> {
    FetchRequest(entityName: "LaneSetting")
  }

  /// The lane's name.
  package var lane: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  package var isPaused: Bool {
    get { self[1] ?? false }
    set { self[1] = newValue }
  }

  package var pausedBy: String? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var pausedAt: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  /// Nil for the configuration's.
  package var concurrency: Int? {
    get { self[4] }
    set { self[4] = newValue }
  }
}
