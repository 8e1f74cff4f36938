package import Foundation
import GRDB
package import ManagedObjects

extension SQLiteStore {
  /// Reads on a connection of its own, one state of the file.
  package func check(_ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void)
    throws
  {
    try translating {
      let missing = postponements.withLock { Set($0.filter { $0.value > 0 }.keys) }
      try ContentCheck.reporting(found) {
        let queue = try DatabaseQueue(path: pool.path, configuration: Self.reading(options))
        try queue.read { db in
          try ContentCheck.run(db, watch, found) { check in
            try check.file(depth)
            try check.references()
            try check.metadata(of: self, withoutIndexesOf: missing)
          }
        }
        try queue.close()
      }
    }
  }

  package func checkCopy(
    at url: URL, _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws -> PersistentStoreMetadata {
    try Self.translating(url) {
      var metadata: PersistentStoreMetadata?
      try ContentCheck.reporting(found) {
        let queue = try DatabaseQueue(path: url.path, configuration: Self.reading(options))
        metadata = try queue.read { db in
          try ContentCheck.run(db, watch, found) { check in
            try check.file(depth)
            guard try db.tableExists("lade_metadata") else { return nil }
            try check.references()
            return try StoredMetadata.read(db, path: url.path)
          }
        }
        try queue.close()
      }
      guard let metadata else {
        throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it has no table lade_metadata")
      }
      return metadata
    }
  }
}
