// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import ManagedObjects

extension HostRecord {
  /// A request for all objects of the entity QueueHost.
  package static func fetchRequest() -> FetchRequest<HostRecord> {
    FetchRequest(entityName: "QueueHost")
  }

  package var name: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  /// Names the folder with the daemon's state, as no other one.
  package var folder: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }
}
