// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension DaemonRecord {
  /// A request for all objects of the entity QueueDaemon.
  package static func fetchRequest() -> FetchRequest<DaemonRecord> {
    FetchRequest(entityName: "QueueDaemon")
  }

  /// A random number that a start of the daemon has made, and no other start ever makes.
  package var incarnation: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  package var host: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  package var startedAt: Foundation.Date {
    get { self[2] ?? .distantPast }
    set { self[2] = newValue }
  }

  package var process: Int64 {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }

  package var version: String {
    get { self[4] ?? "" }
    set { self[4] = newValue }
  }

  /// Whether its lease was found over. Nothing else ever changes: the row is the fence of what the daemon writes.
  package var isGone: Bool {
    get { self[5] ?? false }
    set { self[5] = newValue }
  }
}
