package import Foundation
package import GRDB
package import ManagedObjects
import PostgresStore
import SQLiteStore
import Synchronization
package import TestSupport

/// The stores that the conformance suite runs over.
package enum StoreKind: String, CaseIterable, CustomStringConvertible {
  case inMemory = "in memory"
  case sqlite = "SQLite"
  case postgres = "PostgreSQL"

  /// All that there are here: PostgreSQL may not be installed.
  package static let allCases: [StoreKind] =
    [.inMemory, .sqlite] + (PostgresCluster.programs == nil ? [] : [.postgres])

  package var description: String { rawValue }

  /// A store of the kind: a file's, or a new schema of the tests' server.
  package func store(at file: URL, configuration: String? = nil) throws -> PersistentStoreDescription {
    switch self {
    case .inMemory: .inMemory(configuration: configuration)
    case .sqlite: .sqlite(at: file, configuration: configuration)
    case .postgres:
      .postgres(
        try PostgresCluster.shared().address(), schema: PostgresCluster.newSchema(), configuration: configuration)
    }
  }
}

/// A coordinator with one store of the test's model, or of another, and the contexts that a test makes on it.
package final class CompanyStack: Sendable {
  package let coordinator: PersistentStoreCoordinator
  /// The store's file; nil for one of another kind.
  package let file: URL?
  /// What has been read from the store.
  package let reads = Recorder<String>()
  /// Makes the store fail.
  package let breaker = Breaker()
  /// Objects live no longer than their context, and tests write `stack.context().all(…)`.
  private let contexts = Mutex<[ContextQueue]>([])

  package init(_ kind: StoreKind, model: ManagedObjectModel = CompanyModel.model) throws {
    let directory = try ScratchDirectory()
    let path = directory.file("company.sqlite")
    file = kind == .sqlite ? path : nil
    let description = try kind.store(at: path)
    coordinator = PersistentStoreCoordinator(model: model)
    let (reads, breaker) = (reads, breaker)
    try coordinator.addPersistentStore(
      PersistentStoreDescription { model, entities in
        WatchedStore(try description.open(model, entities), noting: reads, breaker: breaker, in: directory)
      })
  }

  /// A context of the calling thread.
  package func context(_ name: String? = nil) -> ManagedObjectContext {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: name)
    contexts.withLock { $0.append(context.queue) }
    return context
  }

  /// Another coordinator on the same file, as another process would have.
  package func secondCoordinator() throws -> PersistentStoreCoordinator {
    let second = PersistentStoreCoordinator(model: coordinator.model)
    try second.addPersistentStore(.sqlite(at: existingFile()))
    return second
  }

  /// A plain connection to the file, as another program would have.
  package func connection() throws -> DatabaseQueue { try DatabaseQueue(path: existingFile().path) }

  /// Runs statements in one transaction, as another program would.
  package func execute(_ statements: String...) throws {
    try connection().write { db in
      for statement in statements { try db.execute(sql: statement) }
    }
  }

  /// The first column of a query's rows, as text, read by another program.
  package func column(_ sql: String) throws -> [String] {
    let connection = try connection()
    return try connection.read { db in
      try DatabaseValue.fetchAll(db, sql: sql).map { $0.storage.value.map { "\($0)" } ?? "NULL" }
    }
  }

  private func existingFile() throws -> URL {
    guard let file else { throw CocoaError(.fileNoSuchFile) }
    return file
  }
}
