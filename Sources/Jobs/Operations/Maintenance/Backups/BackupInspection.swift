import Foundation
import ManagedObjects

/// What an inspection of a backup has found.
struct BackupInspection {
  /// The first few damages of the file.
  let damage: [String]
  /// How many rows refer to rows that don't exist.
  let references: Int
  /// What the copy says about itself; nil only for a damaged one.
  let metadata: PersistentStoreMetadata?

  /// Inspects a copy of a store.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when the file isn't a store.
  init(_ copy: URL, _ maintenance: any StoreMaintenance, _ depth: CheckDepth, _ watch: MaintenanceWatch) throws {
    var damage: [String] = []
    var references = 0
    var metadata: PersistentStoreMetadata?
    do {
      metadata = try maintenance.checkCopy(at: copy, depth, watch) { problem in
        if problem.kind == .reference {
          references += 1
        } else if damage.count < 5 {
          damage.append(problem.description)
        }
      }
    } catch let error as ManagedObjectError {
      // A damaged file may not even be recognised as a store.
      guard case .incompatibleStore = error, !damage.isEmpty else { throw error }
    }
    (self.damage, self.references, self.metadata) = (damage, references, metadata)
  }
}
