import ManagedObjects
import TestSupport

extension ManagedObjectContext {
  /// The people for whom a predicate holds, in the order of their names.
  func people(_ format: String) throws -> [Person] {
    try fetch(
      FetchRequest(
        entityName: "Person", predicate: FetchPredicate(format: format), sortDescriptors: [FetchSortDescriptor("name")])
    )
  }
}
