import Foundation
import Jobs
import ManagedObjects
import SQLiteStore

/// A queue that is there before it is measured, so its jobs needn't be safe one by one.
struct Seed {
  private let queue: EmbeddedQueue

  init(file: String, operations: OperationCatalogue) throws {
    let store = URL(filePath: file)
    queue = try EmbeddedQueue(
      store: .sqlite(at: store, options: SQLiteStoreOptions(pageSize: 4096)), dataStores: [:], operations: operations,
      lanes: ["import": 1], directory: store.deletingLastPathComponent().appending(path: "seed"))
  }

  /// Submits that many jobs, as many at a time as share a transaction.
  func submit(_ jobs: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for job in 0..<jobs {
        if job >= 512 { try await group.next() }
        group.addTask { _ = try await queue.submit("noop", lane: "import") }
      }
      try await group.waitForAll()
    }
    _ = try await queue.stop()
  }
}
