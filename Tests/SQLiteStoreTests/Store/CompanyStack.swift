import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// The stores that the conformance suite runs over.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case inMemory = "in memory"
  case sqlite = "SQLite"

  var testDescription: String { rawValue }
}

/// A coordinator with one store of the test's model, and the contexts that a test makes on it.
final class CompanyStack: Sendable {
  let coordinator: PersistentStoreCoordinator
  /// The store's file; nil in memory.
  let file: URL?
  private let directory: ScratchDirectory?

  init(_ kind: StoreKind) throws {
    coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    switch kind {
    case .inMemory:
      directory = nil
      file = nil
      try coordinator.addPersistentStore(.inMemory())
    case .sqlite:
      let directory = try ScratchDirectory()
      let file = directory.file("company.sqlite")
      self.directory = directory
      self.file = file
      try coordinator.addPersistentStore(.sqlite(at: file))
    }
  }

  /// A context of the calling thread.
  func context(_ name: String? = nil) -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator, name: name)
  }

  /// Another coordinator on the same file, as another process would have.
  func secondCoordinator() throws -> PersistentStoreCoordinator {
    let second = PersistentStoreCoordinator(model: CompanyModel.model)
    try second.addPersistentStore(.sqlite(at: existingFile()))
    return second
  }

  /// A plain connection to the file, as another program would have.
  func connection() throws -> DatabaseQueue { try DatabaseQueue(path: existingFile().path) }

  /// The first column of a query's rows, as text, read by another program.
  func column(_ sql: String) throws -> [String] {
    let connection = try connection()
    return try connection.read { db in try Row.fetchAll(db, sql: sql).map { $0[0] as String? ?? "NULL" } }
  }

  private func existingFile() throws -> URL {
    guard let file else { throw CocoaError(.fileNoSuchFile) }
    return file
  }
}
