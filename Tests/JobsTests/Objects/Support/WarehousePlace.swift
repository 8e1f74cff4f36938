import ManagedObjects
import PostgresStore
import SQLiteStore
import TestSupport

/// A data store and a queue that several daemons work on, each as a ``Warehouse`` with connections of its own.
struct WarehousePlace: Sendable {
  /// Where the data is.
  enum Kind: String, CaseIterable, Sendable {
    case sqlite, postgres

    /// Those that can be had here.
    static var present: [Self] { PostgresCluster.programs == nil ? [.sqlite] : allCases }
  }

  let folder: ScratchDirectory
  let data: PersistentStoreDescription
  let queue: PersistentStoreDescription

  init(_ kind: Kind) throws {
    folder = try ScratchDirectory()
    queue = .sqlite(at: folder.file("queue.sqlite"))
    var data: PersistentStoreDescription =
      switch kind {
      case .sqlite: .sqlite(at: folder.file("data.sqlite"))
      case .postgres: .postgres(try PostgresCluster.shared().address(), schema: PostgresCluster.newSchema())
      }
    // A lock isn't given up because the tests have little time.
    data.timeout = 600
    self.data = data
  }
}
