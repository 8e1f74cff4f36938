package import Foundation
package import ManagedObjects

/// Removes former values that aren't kept any more. What was recorded of a row's origin stays.
package enum BeforeImageRetention {
  /// Objects that are removed by one transaction.
  private static let batch = 100

  /// Removes those that were saved before a time. Blocks.
  /// - Returns: how many objects were removed; 0 without any write where there was nothing to remove.
  @discardableResult
  package static func prune(
    before time: Date, in coordinator: PersistentStoreCoordinator, shouldStop: () -> Bool = { false }
  ) throws -> Int {
    guard coordinator.model.entitiesByName[ImportModel.beforeEntity] != nil else { return 0 }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "keep.undo")
    var count = 0
    while !shouldStop() {
      let old = try context.fetchIDs(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.beforeEntity,
          predicate: .comparison(.path("saved"), .less, .constant(.date(time))), fetchLimit: batch))
      if old.isEmpty { return count }
      // Without objects: each has some megabytes.
      try context.execute(BatchDeleteRequest(objectIDs: old))
      count += old.count
    }
    return count
  }
}
