// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension FilePartRecord {
  /// A request for all objects of the entity JobFilePart.
  package static func fetchRequest() -> FetchRequest<FilePartRecord> {
    FetchRequest(entityName: "JobFilePart")
  }

  /// The number of the job.
  package var job: Int64 {
    get { self[0] ?? 0 }
    set { self[0] = newValue }
  }

  /// Empty for the job's file, else the name of a reject file.
  package var name: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  /// Where in the file the bytes are.
  package var start: Int64 {
    get { self[2] ?? 0 }
    set { self[2] = newValue }
  }

  package var bytes: Foundation.Data {
    get { self[3] ?? .init() }
    set { self[3] = newValue }
  }

  /// What a reject file ends with that has no record after these.
  package var closing: Foundation.Data? {
    get { self[4] }
    set { self[4] = newValue }
  }
}
