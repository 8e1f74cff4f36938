import Foundation
import ManagedObjects

@testable import Jobs

/// Somebody with a context of their own on the queue's store.
struct JobLedgerVandal {
  private let context: ContextQueue

  init(_ house: TestHouse) throws { context = ContextQueue(.privateQueue, coordinator: house.coordinator) }

  func delete(_ id: Int64) async throws {
    let context = context
    try await context.perform { context in
      let objectID = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: id)
      context.delete(try context.existingObject(with: objectID))
      try context.save()
    }
  }
}
