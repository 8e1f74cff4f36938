import Foundation
import ManagedObjects

/// What a look at a copy came to.
struct CopyLook {
  /// The first of what is wrong with the file.
  let damage: [String]
  /// How many rows refer to ones that aren't there.
  let references: Int
  /// What the copy says of itself; nil only of a damaged one.
  let metadata: PersistentStoreMetadata?

  /// Looks at it.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when it is no store's.
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
      // What is damaged may not even say what it is.
      guard case .incompatibleStore = error, !damage.isEmpty else { throw error }
    }
    (self.damage, self.references, self.metadata) = (damage, references, metadata)
  }
}
