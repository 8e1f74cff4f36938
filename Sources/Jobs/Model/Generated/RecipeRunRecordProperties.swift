// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension RecipeRunRecord {
  /// A request for all objects of the entity RecipeRun.
  package static func fetchRequest() -> FetchRequest<RecipeRunRecord> {
    FetchRequest(entityName: "RecipeRun")
  }

  /// The recipe's name in the configuration.
  package var recipe: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  /// When the import completed; without a job, since when the recipe is watched.
  package var endedAt: Foundation.Date {
    get { self[1] ?? .distantPast }
    set { self[1] = newValue }
  }

  /// The job's number, which may be removed by now; nil in the row that says since when the recipe is watched.
  package var job: Int64? {
    get { self[2] }
    set { self[2] = newValue }
  }

  /// Records that were imported, changed or not.
  package var records: Int64 {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }
}
